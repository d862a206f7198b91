package document

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// tick is a mark of an axis.
type tick struct {
	at    float64 // along the axis, from 0 to 1
	words string
}

const (
	fontSize   = 12.0 // of all words in a chart, in pixels
	upwardGap  = 27.0 // between marks of an upright axis
	besideGap  = 24.0 // between the words below a chart
	mostMarks  = 14
	tryAtMost  = 48 // steps that are tried for one axis
	hoursInDay = 24
)

// ticks are round marks whose words do not overlap on an axis of that length in pixels.
func (s scale) ticks(length float64, upright bool) []tick {
	var best []tick
	for _, values := range s.candidates() {
		ticks := s.ticksAt(values)
		if len(ticks) > mostMarks || !apart(ticks, length, upright) {
			continue
		}
		if len(ticks) >= 2 {
			return ticks
		}
		if len(best) == 0 {
			best = ticks
		}
	}
	return best
}

// ticksAt are the marks at the values that lie on the axis.
func (s scale) ticksAt(values []float64) []tick {
	var out []tick
	for _, v := range values {
		const rim = 1e-9
		if at := s.at(v); at >= -rim && at <= 1+rim {
			out = append(out, tick{min(max(at, 0), 1), s.words(v)})
		}
	}
	return out
}

// apart reports whether no two marks are equal or overlap.
func apart(ticks []tick, length float64, upright bool) bool {
	end := math.Inf(-1)
	for i, t := range ticks {
		if i > 0 && ticks[i-1].words == t.words {
			return false
		}
		from, to := t.at*length, t.at*length+upwardGap
		if !upright {
			half := textWidth(t.words) / 2
			from, to = from-half, from+half+besideGap
		}
		if from < end {
			return false
		}
		end = to
	}
	return true
}

// words print a value of the axis.
func (s scale) words(v float64) string {
	if len(s.names) == 0 {
		return s.unit.words(v)
	}
	const width = 84.0
	if i := int(math.Round(v)); i >= 0 && i < len(s.names) {
		return shorten(s.names[i], width)
	}
	return ""
}

// candidates are lists of round values, the densest first.
func (s scale) candidates() [][]float64 {
	switch {
	case len(s.names) > 0:
		return s.everyName()
	case s.form == Log:
		var out [][]float64
		if s.most/s.least < 4 {
			out = s.linearCandidates()
		}
		return append(out, s.powers()...)
	case s.form == Tail:
		return s.nines()
	case s.form == Signed:
		return s.bothSides()
	}
	return s.linearCandidates()
}

// everyName are all names, every second, and so on.
func (s scale) everyName() [][]float64 {
	var out [][]float64
	for every := 1; every <= len(s.names); every++ {
		var values []float64
		for i := 0; i < len(s.names); i += every {
			values = append(values, float64(i))
		}
		out = append(out, values)
	}
	return out
}

func (s scale) linearCandidates() [][]float64 {
	var out [][]float64
	step := s.unit.step((s.most - s.least) / mostMarks)
	for range tryAtMost {
		if !(step > 0) || step > 4*(s.most-s.least) {
			break
		}
		var values []float64
		first := math.Ceil(s.least/step - 1e-9)
		for i := range mostMarks + 2 {
			if v := (first + float64(i)) * step; v <= s.most+1e-9*step {
				values = append(values, v+0) // without the sign of a negative zero
			}
		}
		out = append(out, values)
		step = s.unit.step(step * 1.01)
	}
	return out
}

// powers are the marks of a logarithmic axis.
func (s scale) powers() [][]float64 {
	first, last := math.Floor(math.Log10(s.least)), math.Ceil(math.Log10(s.most))
	var out [][]float64
	add := func(every int, factors []float64) {
		var values []float64
		for e := first; e <= last; e++ {
			if int(e)%every != 0 {
				continue
			}
			for _, f := range factors {
				values = append(values, f*math.Pow(10, e))
			}
		}
		out = append(out, values)
	}
	for _, factors := range [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 5, 7},
		{1, 2, 5}, {1, 3}, {1}} {
		add(1, factors)
	}
	for every := 2; every <= 9; every++ {
		add(every, []float64{1})
	}
	return out
}

// nines are 50, 90, 99, 99.9 and so on.
func (s scale) nines() [][]float64 {
	var whole, half []float64
	for k := 1; k <= 10; k++ {
		p := 100 - math.Pow(10, float64(2-k))
		half = append(half, 100-5*math.Pow(10, float64(2-k)), p)
		whole = append(whole, p)
	}
	out := [][]float64{append([]float64{0, 25, 50, 75}, half[1:]...), append([]float64{0}, half...),
		append([]float64{0, 50}, whole...), append([]float64{0}, whole...), whole}
	for every := 2; every <= 4; every++ {
		var some []float64
		for i := every - 1; i < len(whole); i += every {
			some = append(some, whole[i])
		}
		out = append(out, append([]float64{0}, some...))
	}
	return out
}

// bothSides are zero and powers of ten on both sides of it.
func (s scale) bothSides() [][]float64 {
	var out [][]float64
	top := math.Ceil(math.Log10(max(math.Abs(s.least), math.Abs(s.most), leastDrawn)))
	for _, decades := range []int{4, 3, 2, 1} {
		values := []float64{0}
		for i := range decades {
			v := math.Pow(10, top-float64(i))
			values = append(values, v, -v)
		}
		slices.Sort(values)
		out = append(out, values)
	}
	return append(out, s.linearCandidates()...)
}

// spans of time that divide a clock and a calendar, in seconds.
var clockSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600,
	3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600}

// step is the least round step that is not below one.
func (u Unit) step(least float64) float64 {
	switch u {
	case Bytes, BytesRate:
		return roundBytes(least)
	case Count:
		return decimalStep(max(least, 1))
	case Seconds:
		return clockStep(least)
	case Nanos:
		if least > 30e9 {
			return clockStep(least/1e9) * 1e9
		}
	}
	return decimalStep(least)
}

func decimalStep(least float64) float64 {
	if !(least > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= least*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}

func clockStep(least float64) float64 {
	if least <= 0.5 {
		return decimalStep(least)
	}
	for _, step := range clockSteps {
		if step >= least {
			return step
		}
	}
	const day = hoursInDay * 3600
	return decimalStep(least/day) * day
}

func roundBytes(least float64) float64 {
	unit := 1.0
	for unit*1024 <= least {
		unit *= 1024
	}
	for _, f := range []float64{1, 2, 5, 10, 20, 50, 100, 200, 500} {
		if f*unit >= least {
			return f * unit
		}
	}
	return 1024 * unit
}

// words print a value for people: short enough for an axis.
func (u Unit) words(v float64) string {
	if math.IsNaN(v) || math.Abs(v) > mostDrawn {
		return "–"
	}
	switch u {
	case PerSecond:
		return short(v) + "/s"
	case Bytes:
		return quantity.Bytes(int64(math.Round(v)))
	case BytesRate:
		return quantity.Bytes(int64(math.Round(v))) + "/s"
	case Nanos:
		return strings.ReplaceAll(quantity.Duration(int64(math.Round(v))), "us", "µs")
	case Seconds:
		if math.Abs(v) > 9e9 {
			return short(v) + "s"
		}
		return strings.ReplaceAll(quantity.Duration(int64(math.Round(v*1e9))), "us", "µs")
	case Share:
		return strconv.FormatFloat(fourDigits(v*100), 'f', -1, 64) + "%"
	case Percentile:
		return percentWords(v)
	}
	return short(v)
}

// short is a number with a letter for thousands and millions.
func short(v float64) string {
	if math.Abs(v) >= 1e12 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strings.TrimSuffix(quantity.Rate(fourDigits(v)), "/s")
}

// fourDigits drops the other digits, which are noise, so that a step of 0.1 prints as 0.1.
func fourDigits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil || math.Abs(rounded) < 1e-12 {
		return 0
	}
	return rounded
}

// percentWords print a percentile with as many digits as it has nines.
func percentWords(p float64) string {
	if p < 99 || p >= 100 {
		return strconv.FormatFloat(fourDigits(p), 'f', -1, 64) + "%"
	}
	digits := max(0, int(math.Ceil(-math.Log10(1-p/100)-1e-6))-2)
	return strconv.FormatFloat(p, 'f', min(digits, 10), 64) + "%"
}

// textWidth estimates the width of a text in pixels, on the safe side.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w * fontSize
}

// runeWidth estimates the width of a character as a share of the font's size.
func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("iljtfr.,:;'|!()[] /·", r):
		return 0.34
	case strings.ContainsRune("mwMW%–…@", r):
		return 0.92
	case r >= 0x1100:
		return 1.05
	case r >= 'A' && r <= 'Z':
		return 0.7
	}
	return 0.62
}
