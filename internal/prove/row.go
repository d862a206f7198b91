package prove

import (
	"fmt"
	"math"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Outcome is the outcome of a truth or of one of its figures.
type Outcome string

// The outcomes, best first.
const (
	Holds   Outcome = "holds"
	Unknown Outcome = "unknown" // the run said that it was limited, so it claims nothing
	Misses  Outcome = "misses"  // wrong by more than allowed in a run that was not limited
)

// The units of figures.
const (
	Nanoseconds = "ns"
	Messages    = "messages"
	PerSecond   = "per_s"
)

// Row compares one printed figure with the planted value.
type Row struct {
	Figure  string  `json:"figure"`
	Planted string  `json:"planted"`
	Printed string  `json:"printed"`
	Verdict Outcome `json:"verdict"`
	Why     string  `json:"why,omitempty"`

	// For numbers: the printed value less the planted one, and how far it may be below
	// and above.
	Unit         string  `json:"unit,omitempty"`
	PlantedValue float64 `json:"planted_value,omitempty"`
	Error        float64 `json:"signed_error,omitempty"`
	Below        float64 `json:"allowed_below,omitempty"`
	Above        float64 `json:"allowed_above,omitempty"`

	within bool
	exact  bool // an error counts also in a limited run
	// most is the greatest allowed error with which the row proves anything; 0: any.
	most float64
	// explained is the error above that the run's own error may explain beyond the allowed one.
	explained float64
}

// measured returns the row with a printed number.
func (r Row) measured(value float64, printed string) Row {
	r.Error, r.Printed = value-r.PlantedValue, printed
	r.within = r.Error >= -r.Below && r.Error <= r.Above
	return r
}

// broken returns the row with a text in place of the required number.
func (r Row) broken(printed string) Row {
	r.Unit, r.Printed = "", printed
	return r
}

// Allowed returns the allowed error on the side of the row's error.
func (r Row) Allowed() float64 {
	if r.Error < 0 {
		return r.Below
	}
	return r.Above
}

// used returns the share of the allowed error that the figure used. 1 is all of it.
func (r Row) used() float64 {
	switch {
	case r.Unit == "" || r.Error == 0:
		return 0
	case r.Allowed() == 0:
		return math.Inf(1)
	}
	return math.Abs(r.Error) / r.Allowed()
}

// vague reports whether the allowed error is so large that the figure proves nothing.
func (r Row) vague() bool { return r.most > 0 && max(r.Below, r.Above) > r.most }

// judged returns the row with its verdict. limited is the reason why the run's figures are
// not valid, or "" when they are.
func (r Row) judged(limited string) Row {
	switch {
	case r.within && r.vague():
		r.Verdict = Unknown
		r.Why = fmt.Sprintf("the run is too inexact for a proof: it allows an error of %s, more "+
			"than the %s that a proof allows", r.signed(max(r.Below, r.Above), ""),
			r.signed(r.most, ""))
	case r.within:
		r.Verdict = Holds
	case limited != "" && !r.exact:
		r.Verdict, r.Why = Unknown, limited
	case r.Error > 0 && r.Error <= r.explained && !r.exact:
		r.Verdict = Unknown
		r.Why = "the run's own error may be as large: the twin's latency explains up to " +
			r.signed(r.explained, "")
	default:
		r.Verdict = Misses
	}
	return r
}

// errorText and allowedText format the row's error and its allowed error in its unit.
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
