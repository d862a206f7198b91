package runs

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// runAnswer answers what a run was made to find out: how much the system carried, what was lost,
// and how fast it was; or why that cannot be said, and what to do next. It is empty while the run
// is under way.
func runAnswer(s *result.Saved, sure latency.Within) string {
	r, who := &s.Run, fact.Name(&s.Run)
	switch {
	case fact.Running(r):
		return ""
	case r.Summary.WindowNs <= 0:
		return fmt.Sprintf("%s: nothing was measured; the run is %s.", who, fact.State(r))
	}
	parts := []string{who + " carried " + carried(r)}
	if words := missedWords(r); words != "" {
		parts = append(parts, words)
	}
	for _, series := range []result.Series{fact.PublishSeries(r), result.EndToEnd} {
		if l := r.Summary.Series(series); latency.Counted(l) {
			parts = append(parts, phrase.SeriesTitle(series)+" p99 "+
				known.Bracketed(latency.At(l, 99), sure.Words(series, 99)))
			break
		}
	}
	out := strings.Join(parts, "; ") + "."
	if state := fact.State(r); state != string(result.Complete) {
		out += " The run is " + state + "."
	}
	if refused := fact.Refusal(r); refused != "" {
		out += " Not to be ranked: " + refused + "."
	}
	return out
}

// carried is the acknowledged rate, beside the offered rate if that was not reached.
func carried(r *result.Run) string {
	s := r.Summary
	if r.Load.Closed != nil || s.AchievedRate >= verdict.AchievedBound*s.OfferedRate {
		return phrase.Rate(s.AchievedRate)
	}
	return phrase.Rate(s.AchievedRate) + " of " + phrase.Rate(s.OfferedRate) + " offered"
}

// missedWords count lost messages, and duplicate and unanswered ones if there are any; empty: the
// tool that measured the run keeps no account.
func missedWords(r *result.Run) string {
	switch {
	case fact.Imported(r):
		return ""
	case !r.Ledger.Accounted:
		return "its messages were not counted"
	case r.Unread():
		return "nothing read the messages"
	}
	t := r.Ledger.Total()
	out := fmt.Sprintf("lost %s of %s", fact.Lost(t), quantity.Count(t.Acked))
	if r.Warmup.Acked > 0 {
		out += " (warm-up included)"
	}
	if t.Duplicate > 0 {
		out += fmt.Sprintf(", %s duplicate", quantity.Count(t.Duplicate))
	}
	if n := r.Counters.Unknown; n > 0 {
		out += fmt.Sprintf(", %s unanswered", quantity.Count(n))
	}
	return out
}
