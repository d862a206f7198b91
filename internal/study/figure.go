package study

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Unit is the unit of a figure. Figures that internal/compare has keep their unit.
type Unit string

// The units of figures.
const (
	Nanoseconds    = Unit(compare.Nanoseconds)
	PerSecond      = Unit(compare.PerSecond)
	BytesPerSecond = Unit("bytes_per_s")
	Bytes          = Unit("bytes")
	Messages       = Unit(compare.Messages)
	PerMessage     = Unit("per_msg")
)

// parse reads a value like 5.4ms, 200k/s or 605MB/s.
func (u Unit) parse(text string) (float64, error) {
	switch u {
	case Nanoseconds:
		d, err := quantity.ParseDuration(text)
		return float64(d), err
	case BytesPerSecond:
		// 305.69MB is valid although it is not a whole number of bytes.
		unit := strings.TrimLeft(text, "0123456789.")
		size, per := strings.CutSuffix(unit, "/s")
		number, err := strconv.ParseFloat(strings.TrimSuffix(text, unit), 64)
		one, unitErr := quantity.ParseBytes("1" + size)
		if !per || err != nil || unitErr != nil {
			return 0, fmt.Errorf("%q is not a byte rate: write one like 605MB/s", text)
		}
		return number * float64(one), nil
	}
	return quantity.ParseRate(text)
}

// String prints a value for people.
func (u Unit) String(value float64) string {
	switch u {
	case Nanoseconds:
		return quantity.Duration(int64(value))
	case BytesPerSecond:
		return quantity.Bytes(int64(value)) + "/s"
	case Bytes:
		return quantity.Bytes(int64(value))
	case Messages:
		return quantity.Count(int64(value))
	case PerMessage:
		return strconv.FormatFloat(value, 'g', 3, 64)
	}
	return quantity.Rate(value)
}

// Figure is one number of a cell.
type Figure struct {
	Name, Title string
	Unit        Unit
	of          func(m Measured) (float64, bool)
	// compared is set if internal/compare knows the figure's uncertainty.
	compared string
	// zero is set if 0 is a valid value.
	zero bool
}

// Measured is the result of a cell: a run, a search, or neither.
type Measured struct {
	Run    *result.Saved
	Search *peak.Saved
	Trials []*result.Run // of the search, at the rates of its bracket
}

// Value returns the figure of a cell. known is false when the cell does not have it.
func (f Figure) Value(m Measured) (value float64, known bool) {
	v, known := f.of(m)
	return v, known && (v > 0 || f.zero && v == 0)
}

// better reports whether the value a is better than b: a rate if it is greater, any other figure
// if it is less.
func (f Figure) better(a, b float64) bool {
	if f.Unit == PerSecond || f.Unit == BytesPerSecond {
		return a > b
	}
	return a < b
}

// latency reports whether the figure is a latency of messages, whose name begins with a series.
func (f Figure) latency() bool {
	return f.Unit == Nanoseconds && strings.Contains(f.Name, ".")
}

// searched reports whether the figure is of a search.
func (f Figure) searched() bool { return strings.HasPrefix(f.Name, "peak") }

// ofRate returns what a search's rate of one message a second is in the figure's unit.
func (f Figure) ofRate(s *peak.Saved) float64 {
	if f.Unit == BytesPerSecond {
		return float64(s.Load.MessageBytes)
	}
	return 1
}

// own returns the figures that internal/compare does not have.
func own() []Figure {
	return []Figure{
		searchedFor(Figure{Name: "peak", Title: "peak stable throughput", Unit: PerSecond}),
		searchedFor(Figure{Name: "peak_bytes", Title: "peak stable throughput in bytes",
			Unit: BytesPerSecond}),
		{Name: "sent", Title: "sent and acknowledged", Unit: PerSecond, compared: "rate",
			of: ofRun(func(r *result.Run) (float64, bool) {
				return r.Summary.AchievedRate, r.Summary.WindowNs > 0
			})},
		{Name: "received", Title: "received, each subscription", Unit: PerSecond,
			of: ofRun(func(r *result.Run) (float64, bool) {
				return r.Summary.ReceivedRate, r.Summary.WindowNs > 0
			})},
		{Name: "e2e.max", Title: "greatest end-to-end latency", Unit: Nanoseconds,
			of: greatest(result.EndToEnd)},
		{Name: "publish.max", Title: "greatest publish latency", Unit: Nanoseconds,
			of: greatest(result.Publish)},
		{Name: "e2e.p95_minutes", Title: "end-to-end p95 of one-minute windows", Unit: Nanoseconds,
			of: ofRun(func(r *result.Run) (float64, bool) {
				return medianMinute(r, func(m result.Minute) int64 { return m.EndToEndP95Ns })
			})},
		{Name: "send.p95_minutes", Title: "p95 of a send, of one-minute windows", Unit: Nanoseconds,
			of: ofRun(func(r *result.Run) (float64, bool) {
				return medianMinute(r, func(m result.Minute) int64 { return m.SendCallP95Ns })
			})},
		{Name: "catch_up", Title: "read while catching up", Unit: BytesPerSecond,
			of: ofRun(catchUpBytes)},
		{Name: "catch_up.publish.p99", Title: "publish p99 while a second reader catches up",
			Unit: Nanoseconds, of: ofRun(catchUpPublish)},
	}
}

// ofRun turns a figure of a run into a figure of a cell.
func ofRun(of func(*result.Run) (float64, bool)) func(Measured) (float64, bool) {
	return func(m Measured) (float64, bool) {
		if m.Run == nil {
			return 0, false
		}
		return of(&m.Run.Run)
	}
}

// searchedFor makes a figure the highest stable rate of a search.
func searchedFor(f Figure) Figure {
	f.of = func(m Measured) (float64, bool) {
		if m.Search == nil || m.Search.Bracket.StableRate == 0 {
			return 0, false
		}
		return m.Search.Bracket.StableRate * f.ofRate(m.Search), true
	}
	return f
}

func greatest(series result.Series) func(Measured) (float64, bool) {
	return ofRun(func(r *result.Run) (float64, bool) {
		l := r.Summary.Series(series)
		return float64(l.MaxNs), l.Count > 0
	})
}

// medianMinute returns the median over a closed loop's minutes.
func medianMinute(r *result.Run, of func(result.Minute) int64) (float64, bool) {
	var all []int64
	for _, m := range r.Summary.Minutes {
		if ns := of(m); ns > 0 {
			all = append(all, ns)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return float64(all[len(all)/2]), true
}

// FindFigure returns a figure by its name: a figure of a search, a closed loop or a backlog, or
// a figure of internal/compare such as e2e.p99.
func FindFigure(name string) (Figure, error) {
	var known []string
	for _, f := range slices.Concat(own(), spent()) {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	of, err := compare.Find(name)
	if err != nil {
		if near := strict.Nearest(name, known); near != "" {
			return Figure{}, fmt.Errorf("there is no figure %q: did you mean %q?", name, near)
		}
		return Figure{}, err
	}
	if of.Unit == compare.Messages {
		return Figure{}, errors.New("a study has no counts: choose a rate or a latency")
	}
	return Figure{Name: name, Title: titleOf(name), Unit: Unit(of.Unit), compared: name,
		of: ofRun(of.Value)}, nil
}

func titleOf(name string) string {
	series, percentile, _ := strings.Cut(name, ".")
	switch series {
	case "e2e":
		return "end-to-end " + percentile
	case "publish":
		return "publish " + percentile
	}
	return name
}
