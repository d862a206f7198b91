package export

import (
	"io"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The other fields of the cost of a message. With servers inside plimsoll, their figures include
// the load generator.
const (
	costInside   = "servers_inside_plimsoll"
	costLimiting = "limiting_resource" // see internal/verdict
	costShare    = "limiting_share"    // of its limit
)

// newMessageCost is the cost of a message, for programs, by field. Unknown figures are left out. It
// is nil when nothing was observed.
func newMessageCost(r *result.Run) map[string]any {
	c := figure.NewCost(r)
	if !c.Observed() {
		return nil
	}
	l := verdict.Limiting(r)
	out := map[string]any{costInside: c.Embedded, costLimiting: l.Resource}
	for _, f := range row.CostFigures {
		if v, known := f.Value(r); known && phrase.Finite(v) && f.Field != "" {
			out[f.Field] = v
		}
	}
	if l.Resource != verdict.NoneSeen && l.Share > 0 {
		out[costShare] = l.Share
	}
	return out
}

// maybe is a figure for programs; nil when it is not known.
func maybe(v float64, ok bool) *float64 {
	if !ok || !phrase.Finite(v) {
		return nil
	}
	return &v
}

// JSON writes each run's run.json, in one array. It adds the cost of a message where it was
// observed, the confidence intervals, the figures that a run of an earlier format lacks, and how
// well a set of runs is known.
func JSON(w io.Writer, runs []*result.Saved) error {
	type costed struct {
		*result.Run
		Cost  map[string]any `json:"cost,omitempty"`
		Price *result.Price  `json:"price,omitempty"`
		Sure  *confidence    `json:"confidence_95,omitempty"`
		Lacks string         `json:"lacks,omitempty"`
		// Known is of the whole set that the runs are; its last run has it.
		Known *known.JSON `json:"known,omitempty"`
	}
	out := make([]costed, len(runs))
	for i, s := range runs {
		out[i] = costed{warned(s), newMessageCost(&s.Run), s.Price, newConfidence(s),
			latency.Lacks(&s.Run), nil}
	}
	if len(runs) > 0 {
		out[len(runs)-1].Known = known.NewJSON(known.Of(runs))
	}
	return document.JSON(w, out)
}

// warned returns the run with a warning for each part of it that could not be read.
func warned(s *result.Saved) *result.Run {
	r := s.Run
	r.Warnings = slices.Concat(r.Warnings, fact.Damage(s))
	return &r
}

// confidence holds the intervals and bounds of a run's figures, at 95%.
type confidence struct {
	// Intervals cover the variation within the run, by the names of figures in gates.
	Intervals latency.Within `json:"intervals,omitempty"`
	// The upper bounds of the probabilities of loss and of duplicates.
	LostAtMost      *float64 `json:"lost_at_most,omitempty"`
	DuplicateAtMost *float64 `json:"duplicate_at_most,omitempty"`
}

// newConfidence is nil where no interval and no bound is known.
func newConfidence(s *result.Saved) *confidence {
	c := confidence{Intervals: latency.NewWithin(s), LostAtMost: maybe(fact.LostAtMost(&s.Run)),
		DuplicateAtMost: maybe(fact.TwiceAtMost(&s.Run))}
	if len(c.Intervals) == 0 && c.LostAtMost == nil && c.DuplicateAtMost == nil {
		return nil
	}
	return &c
}

// Forms are the formats of runs for machines.
func Forms(runs []*result.Saved) []form.Form {
	var out []form.Form
	for _, f := range []struct {
		name  string
		write func(io.Writer, []*result.Saved) error
	}{{"csv", CSV}, {"intervals", IntervalsCSV}, {"resources", ResourcesCSV}, {"json", JSON},
		{"benchfmt", Benchfmt}, {"omb", omb.Write}} {
		out = append(out, form.Form{Name: f.name,
			Write: func(w io.Writer) error { return f.write(w, runs) }})
	}
	return out
}

// AllForms are the formats of runs for machines, and those to share.
func AllForms(runs []*result.Saved, poster func() *document.Poster) []form.Form {
	return append(Forms(runs), form.Poster(poster)...)
}

// Formats are the formats that runs are written in.
func Formats() []string { return form.Report{Forms: AllForms(nil, nil)}.Formats() }
