package document

import "math"

// The numbers that can be drawn. A file may hold any number, and beyond these bounds it is no
// measurement: such a value counts as missing.
const (
	mostDrawn  = 1e18
	leastDrawn = 1e-9 // on a logarithmic axis
	mostNames  = 60   // in place of numbers
)

// scale is an axis as it is drawn: its range and its form.
type scale struct {
	unit        Unit
	form        Scale
	least, most float64
	names       []string
}

// extent is the range of numbers, without those that an axis cannot show.
type extent struct {
	form        Scale
	least, most float64 // least is above most if the extent is empty
}

func newExtent(form Scale) extent { return extent{form, math.Inf(1), math.Inf(-1)} }

func (e *extent) see(v float64) {
	if placed(e.form, v) {
		e.least, e.most = min(e.least, v), max(e.most, v)
	}
}

func (e *extent) empty() bool { return e.least > e.most }

// placed reports whether a value has a place on an axis of that form.
func placed(form Scale, v float64) bool {
	switch {
	case math.IsNaN(v) || math.Abs(v) > mostDrawn:
		return false
	case form == Log:
		return v >= leastDrawn
	case form == Tail:
		return v >= 0 && v <= 100
	}
	return true
}

// newScale returns the scale of an axis for an extent. An upright axis has room above its values,
// and begins at zero if it is linear; padded asks for room at both ends.
func newScale(a Axis, e extent, upright, padded bool) scale {
	s := scale{unit: a.Unit, form: a.Scale, least: e.least, most: e.most}
	if n := min(len(a.Names), mostNames); n > 0 {
		return scale{least: -0.5, most: float64(n) - 0.5, names: a.Names[:n]}
	}
	if e.empty() {
		s.least, s.most = 1, 10
	}
	switch s.form {
	case Log:
		s.roomLog(upright)
	case Tail:
		s.least, s.most = min(s.least, 90), max(min(s.most, 99.9999999), 99)
	default:
		s.roomLinear(upright, padded)
	}
	if a.From != nil && placed(s.form, *a.From) {
		s.least = *a.From
	}
	if a.To != nil && placed(s.form, *a.To) {
		s.most = *a.To
	}
	if !(s.place(s.most)-s.place(s.least) > 1e-12*math.Abs(s.place(s.most))) {
		s.most = s.least + max(math.Abs(s.least), 1)
		if s.form == Tail {
			s.least, s.most = 0, 99
		}
	}
	return s
}

// roomLog gives a logarithmic axis room at its ends. An upright axis shows at least a factor of
// four, so that noise does not look like a mountain.
func (s *scale) roomLog(upright bool) {
	const room, least = 1.25, 4
	if !upright {
		s.least, s.most = s.least/1.12, s.most*1.12
		return
	}
	s.least, s.most = s.least/room, s.most*room
	if ratio := s.most / s.least; ratio < least {
		more := math.Sqrt(least / ratio)
		s.least, s.most = s.least/more, s.most*more
	}
}

func (s *scale) roomLinear(upright, padded bool) {
	const above, beside = 0.09, 0.05
	whole := s.most - s.least
	switch {
	case upright && s.form == Linear:
		if s.least >= 0 {
			s.least = 0
		} else {
			s.least -= beside * whole
		}
		s.most = max(s.most, 0)
		if s.most += above * (s.most - s.least); s.most == s.least {
			s.most = s.least + 1
		}
	case s.form == Signed:
		const room = 1.7
		s.least, s.most = min(s.least*room, 0), max(s.most*room, 0)
	case upright || padded:
		if whole == 0 {
			whole = max(math.Abs(s.most), 1)
		}
		s.least, s.most = s.least-beside*whole, s.most+beside*whole
	}
}

// place maps a value to the units of the scale, linear or logarithmic. It rises with the value.
func (s scale) place(v float64) float64 {
	switch s.form {
	case Log:
		return math.Log10(v)
	case Tail:
		return -math.Log10(max(1-v/100, (1-s.most/100)/2, 1e-12))
	case Signed:
		return math.Asinh(v / s.near())
	}
	return v
}

// near is the value about which a Signed axis turns from linear to logarithmic.
func (s scale) near() float64 {
	if n := max(math.Abs(s.least), math.Abs(s.most)) / 50; n > 0 {
		return n
	}
	return 1
}

// at returns the position of a value on the axis, from 0 to 1 and beyond, or NaN.
func (s scale) at(v float64) float64 {
	if !placed(s.form, v) {
		return math.NaN()
	}
	low := s.place(s.least)
	return (s.place(v) - low) / (s.place(s.most) - low)
}
