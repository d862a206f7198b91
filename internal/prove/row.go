package prove

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
)

// Outcome is what became of a truth or of one of its figures.
type Outcome string

// The outcomes, best first.
const (
	Holds   Outcome = "holds"
	Unknown Outcome = "unknown" // the run said that it was limited, so it claims nothing
	Misses  Outcome = "misses"  // wrong by more than allowed, and the run did not say so
)

// The units of figures.
const (
	Nanoseconds = "ns"
	Messages    = "messages"
	PerSecond   = "per_s"
)

// Row is one printed figure beside what was planted.
type Row struct {
	Figure  string  `json:"figure"`
	Planted string  `json:"planted"`
	Printed string  `json:"printed"`
	Verdict Outcome `json:"verdict"`
	Why     string  `json:"why,omitempty"`

	// Of figures that are numbers: printed less planted, and how far it may be below
	// and above.
	Unit         string  `json:"unit,omitempty"`
	PlantedValue float64 `json:"planted_value,omitempty"`
	Error        float64 `json:"signed_error,omitempty"`
	Below        float64 `json:"allowed_below,omitempty"`
	Above        float64 `json:"allowed_above,omitempty"`

	within bool
	exact  bool // wrong whoever was the limit
}

// measured is the row with what was printed.
func (r Row) measured(value float64, printed string) Row {
	r.Error, r.Printed = value-r.PlantedValue, printed
	r.within = r.Error >= -r.Below && r.Error <= r.Above
	return r
}

// broken is the row of a figure that has not the form that it must have.
func (r Row) broken(printed string) Row {
	r.Unit, r.Printed = "", printed
	return r
}

// Allowed is the error that the figure may have on the side on which it is off.
func (r Row) Allowed() float64 {
	if r.Error < 0 {
		return r.Below
	}
	return r.Above
}

// used is how much of its allowed error a figure used up; 1 is all of it.
func (r Row) used() float64 {
	switch {
	case r.Unit == "" || r.Error == 0:
		return 0
	case r.Allowed() == 0:
		return math.Inf(1)
	}
	return math.Abs(r.Error) / r.Allowed()
}

// The allowed errors from which on a figure proves nothing: of a latency unless what was
// planted is larger, and of a rate as a share of it.
const (
	mostAllowedNs    = 10e6
	mostAllowedShare = 0.1
)

// vague reports whether so much is allowed that the figure proves nothing.
func (r Row) vague() bool {
	switch r.Unit {
	case Nanoseconds:
		return r.Above > max(mostAllowedNs, r.PlantedValue)
	case PerSecond:
		return r.Above > mostAllowedShare*r.PlantedValue
	}
	return false
}

// judged gives the row its verdict. limited is why the run claims nothing of its
// figures; empty: it does.
func (r Row) judged(limited string) Row {
	switch {
	case r.within && r.vague():
		r.Verdict = Unknown
		r.Why = "the machine is too busy to tell: what plimsoll measured of itself allows an error of " + r.signed(r.Above, "")
	case r.within:
		r.Verdict = Holds
	case limited != "" && !r.exact:
		r.Verdict, r.Why = Unknown, limited
	default:
		r.Verdict = Misses
	}
	return r
}

// errorText and allowedText print the row's error in its unit.
func (r Row) errorText() string { return r.signed(r.Error, "+") }

func (r Row) allowedText() string {
	sign := "±"
	if r.Error != 0 && r.Below != r.Above {
		sign = map[bool]string{true: "-", false: "+"}[r.Error < 0]
	}
	text := r.signed(r.Allowed(), "")
	if r.Unit == "" || r.Allowed() == 0 {
		return text
	}
	return sign + text
}

func (r Row) signed(value float64, plus string) string {
	if value < 0 {
		plus, value = "-", -value
	}
	if value == 0 {
		plus = ""
	}
	switch r.Unit {
	case Nanoseconds:
		return plus + nanoseconds(value)
	case Messages:
		return plus + messages(int64(value))
	case PerSecond:
		return plus + perSecond(value)
	}
	return ""
}

func nanoseconds(ns float64) string { return quantity.Duration(int64(math.Round(ns))) }
func messages(n int64) string       { return quantity.Count(n) }
func perSecond(rate float64) string { return quantity.Rate(rate) }
