package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
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
	if workload.Delivery(r.Load.Delivery) != workload.ExactlyOnce {
		t.RefusedReceived, t.PartialTransactions = 0, 0 // nothing promises that there are none
	}
	for _, more := range []struct {
		n    int64
		name string
	}{{t.Corrupt, "corrupt"}, {t.Duplicate, "duplicate"},
		{t.RefusedReceived, "refused and received"},
		{t.PartialTransactions, "transactions received in part"}} {
		if more.n > 0 {
			out += fmt.Sprintf(", %s %s", quantity.Count(more.n), more.name)
		}
	}
	if n := r.Counters.Unknown; n > 0 {
		out += fmt.Sprintf(", %s unanswered", quantity.Count(n))
	}
	return out
}

// runBrief is the answer of a run, and what it rests on, for one screen of a terminal.
func runBrief(s *result.Saved, sure latency.Within, answer string) []document.Block {
	r := &s.Run
	own := ""
	if i := r.Summary.Instrument; i != nil && latency.Counted(i.Publish) {
		own = "p99 " + latency.At(i.Publish, 99)
	}
	if latency.Marked(r.Summary) {
		own = strings.TrimPrefix(own+"; "+latency.OwnMark+" marks latencies that it determines",
			"; ")
	}
	limit := fact.Limiting(r)
	if limit == document.None {
		limit = ""
	}
	verdicts, broken := briefVerdicts(r)
	more := slices.DeleteFunc(fact.Warnings(s), func(w result.Warning) bool {
		return w.Sentence == broken || w.Code == verdict.CodeIdle // said above
	})
	facts := slices.Concat(part.Facts("own error", "", own), part.Facts("limit", "", limit),
		briefClients(r), verdicts, part.BriefWarnings(fact.Sentences(more)))
	return []document.Block{
		part.Title("", fact.Name(r), fact.BriefLoad(r)),
		part.Paragraph(document.Answer, cmp.Or(answer, fact.State(r))),
		part.Table(briefTable(r, sure)),
		{Facts: facts},
	}
}

// briefVerdicts are the outcomes of a run's verdicts, with the sentence of the first broken one,
// which is returned too.
func briefVerdicts(r *result.Run) (out []document.Fact, broken string) {
	names := map[string][]string{}
	for _, v := range r.Verdicts {
		word := fact.OutcomeWord(v)
		if word == result.Broken && broken == "" {
			broken = document.Clean(v.Sentence)
			out = part.Facts("broken", document.Bad,
				document.CutWords(fact.VerdictName(v)+": "+broken, part.BriefWords))
			continue
		}
		names[word] = append(names[word], fact.VerdictName(v))
	}
	words := []string{fmt.Sprintf("%d hold", len(names[result.Holds]))}
	if more := names[result.Broken]; len(more) > 0 {
		words = append(words, "broken too: "+strings.Join(more, ", "))
	}
	if unknown := names[result.Unknown]; len(unknown) > 0 {
		words = append(words, "unknown: "+strings.Join(unknown, ", "))
	}
	if len(words) > 1 || len(names[result.Holds]) > 0 {
		out = append(out, part.Facts("verdicts", "", strings.Join(words, "; "))...)
	}
	return out, broken
}

// briefClients says what a reader of "8 consumers" would not expect: that some received nothing, or
// that clients share connections.
func briefClients(r *result.Run) []document.Fact {
	var words []string
	tone := document.Tone("")
	for _, l := range r.Ledger.Subscriptions {
		if s := l.Sharing; s != nil && s.Idle > 0 {
			tone = document.Unsure
			words = append(words, fmt.Sprintf("%d of %d consumers of %s received nothing", s.Idle,
				s.Consumers, document.Clean(l.Subscription)))
		}
	}
	l := r.Load
	producers, consumers := l.Topics*l.Producers, l.Topics*l.Subscriptions*l.Consumers
	if r.Connections > 0 && r.Connections < int64(producers+consumers) {
		words = append(words, fmt.Sprintf("%s and %s share %s",
			phrase.Plural(producers, "producer", "producers"),
			phrase.Plural(consumers, "consumer", "consumers"),
			phrase.Plural(r.Connections, "connection", "connections")))
	}
	return part.Facts("clients", tone, document.CutWords(strings.Join(words, "; "),
		part.BriefWords))
}

// briefTable has the latencies that matter most; p99 has its interval.
func briefTable(r *result.Run, sure latency.Within) document.Table {
	t := document.Table{ID: "brief", Head: document.Heads("p50", "p99", "95% of p99", "p99.9",
		"max")}
	for _, series := range []result.Series{result.SendCall, fact.PublishSeries(r),
		result.EndToEnd} {
		l := r.Summary.Series(series)
		if !latency.Counted(l) {
			continue
		}
		t.Add(phrase.SeriesTitle(series), latency.At(l, 50), latency.At(l, 99),
			cmp.Or(sure.Words(series, 99), document.None), latency.At(l, 99.9), latency.Greatest(l))
	}
	return t
}
