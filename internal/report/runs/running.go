package runs

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// progressSentence says how far a run has come; empty for a run that has ended.
func progressSentence(s *result.Saved) string {
	r := &s.Run
	if !fact.Running(r) {
		return ""
	}
	if len(r.Phases) == 0 {
		return "The run is starting."
	}
	phase := r.Phases[len(r.Phases)-1]
	now := phase.StartNs
	if n := len(s.Intervals); n > 0 {
		now = max(now, s.Intervals[n-1].EndNs)
	}
	in, planned := float64(now-phase.StartNs)/1e9, 0.0
	words := map[result.PhaseName]string{
		result.PhaseConnect: "The run is starting", result.PhaseWarmup: "Warming up",
		result.PhaseMeasure: "Measuring",
		result.PhaseDrain:   "The load has ended; waiting for outstanding messages",
		result.PhaseAccount: "Comparing acknowledged with received messages"}[phase.Name]
	if words == "" {
		words = "The run is in the phase " + document.Clean(string(phase.Name))
	}
	switch phase.Name {
	case result.PhaseWarmup:
		planned = r.Load.WarmupSeconds
	case result.PhaseMeasure:
		planned = r.Load.WindowSeconds
	}
	switch {
	case planned > 0 && phrase.Finite(planned) && in <= planned:
		words += fmt.Sprintf(": %s of %s", phrase.WholeSeconds(int64(in*1e9)),
			phrase.Seconds(planned))
	case in > 0:
		words += " for " + phrase.WholeSeconds(int64(in*1e9))
	}
	return words + "."
}

// soFar leaves out what a run under way does not tell yet: cards without a figure, unknown
// verdicts, and tables, charts and paragraphs without content.
func soFar(all []document.Block) []document.Block {
	var out []document.Block
	for _, b := range all {
		b.Cards = slices.DeleteFunc(slices.Clone(b.Cards),
			func(c document.Card) bool { return c.Number == document.None })
		b.Verdicts = slices.DeleteFunc(slices.Clone(b.Verdicts),
			func(v document.Verdict) bool { return v.Outcome == result.Unknown })
		b.Section, b.Row = soFar(b.Section), soFar(b.Row)
		if b.Table != nil && len(b.Table.Rows) == 0 {
			b.Table = nil
		}
		if b.Chart != nil && !chart.Drawn(b.Chart) {
			b.Chart = nil
		}
		if !b.Empty() {
			out = append(out, b)
		}
	}
	return out
}
