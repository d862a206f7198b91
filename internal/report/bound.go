package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// notReached is a percentile that falls among messages without any latency.
const notReached = "not reached"

// ownMark follows a latency that plimsoll's own error determines.
const ownMark = "†"

// ownNote explains ownMark.
const ownNote = ownMark + ": plimsoll's own error at this percentile exceeds its bound, so the " +
	"latency is not the system's"

// at prints the latency at a percentile with its bound and its mark, or none.
func at(l result.Latency, percentile float64) string {
	p, ok := l.Point(percentile)
	switch {
	case !ok:
		return none
	case p.Bound == result.NotReached:
		return notReached
	case p.OwnError:
		return boundedTime(p.LatencyNs, p.Bound) + ownMark
	}
	return boundedTime(p.LatencyNs, p.Bound)
}

// boundedTime prints a length of time that may be a lower bound.
func boundedTime(ns int64, bound result.Bound) string {
	if bound == result.AtLeast {
		return "≥ " + quantity.Duration(ns)
	}
	return quantity.Duration(ns)
}

// marked reports whether a latency of the summary has the mark.
func marked(s result.Summary) bool {
	return slices.ContainsFunc(s.Latency, func(l result.Latency) bool {
		return slices.ContainsFunc(l.Percentiles,
			func(p result.Percentile) bool { return p.OwnError })
	})
}

// exactAt is the latency at a percentile; ok is false when only a bound is known. Only exact
// latencies may be drawn as points, or divided.
func exactAt(l result.Latency, percentile float64) (ns int64, ok bool) {
	p, ok := l.Point(percentile)
	return p.LatencyNs, ok && p.Bound == result.Exact
}

// greatest prints the greatest latency with its bound, or none.
func greatest(l result.Latency) string {
	ns, bound := l.Worst()
	switch {
	case !counted(l):
		return none
	case ns == 0 && bound != result.Exact:
		return notReached
	case bound == result.NotReached:
		return "> " + quantity.Duration(ns)
	}
	return boundedTime(ns, bound)
}

// exactMax is the greatest latency where each message has one.
func exactMax(l result.Latency) (ns int64, ok bool) {
	ns, bound := l.Worst()
	return ns, l.Count > 0 && bound == result.Exact
}

// counted reports whether a series has messages, with a latency or without.
func counted(l result.Latency) bool { return l.Count > 0 || l.Missing.Total() > 0 }

// answeredWords name the messages of a series that have a latency.
func answeredWords(series result.Series) string {
	if series == result.EndToEnd || series == result.Copies {
		return "of the messages received"
	}
	return "of the messages answered"
}

// answered is a series without the messages that have no latency.
func answered(l result.Latency) result.Latency {
	l.Percentiles, l.Answered, l.Missing = l.Answered, nil, result.Missing{}
	return l
}

// missingWords count the messages of a series that have no latency, by reason.
func missingWords(m result.Missing) string {
	var parts []string
	for _, why := range []struct {
		n     int64
		words string
	}{
		{m.Unanswered, "never answered"}, {m.Refused, "refused"},
		{m.Unsent, "never sent"}, {m.NotReceived, "never received"},
	} {
		if why.n == 0 {
			continue
		}
		count := quantity.Count(why.n)
		if len(parts) == 0 {
			count = plural(why.n, "message", "messages")
		}
		parts = append(parts, count+" "+why.words)
	}
	return strings.Join(parts, ", ")
}

// missingSentences count the messages without a latency, a sentence for each series.
func missingSentences(s result.Summary) []string {
	out := missingOf(s)
	for i := range out {
		out[i] += ": the percentiles count them as longer than the printed figures"
	}
	return out
}

// missingOf counts the messages without a latency of each series of a table, the
// same messages once.
func missingOf(s result.Summary) []string {
	var titles grouped[result.Missing, string]
	for _, w := range seriesWords {
		if m := s.Series(w.series).Missing; m.Total() > 0 {
			titles.add(m, w.title)
		}
	}
	var out []string
	for _, m := range titles.keys {
		out = append(out, strings.Join(titles.of[m], " and ")+": "+missingWords(m))
	}
	return out
}

// arrivals names the arrival process, or is empty if that is unknown: percentiles of two kinds of
// arrivals cannot be compared.
func arrivals(l result.Load) string {
	switch {
	case l.Closed != nil:
		return "closed loop"
	case l.Burst > 1:
		return fmt.Sprintf("%s bursts of %d", clean(l.Arrivals), l.Burst)
	}
	return clean(l.Arrivals)
}

// arrivalWords names the arrivals in a heading.
func arrivalWords(l result.Load) string {
	words := arrivals(l)
	if l.Closed != nil || l.Burst > 1 || words == "" {
		return words
	}
	return words + " arrivals"
}

// ofArrivals is a heading followed by the arrivals.
func ofArrivals(heading string, l result.Load) string {
	if words := arrivalWords(l); words != "" {
		return heading + " (" + words + ")"
	}
	return heading
}

// instrumentSentence states plimsoll's own error, and explains the mark of percentiles that it
// determines; empty if it was not measured.
func instrumentSentence(s result.Summary) string {
	var parts []string
	note := ""
	if marked(s) {
		note = ownNote
	}
	for _, l := range ownErrors(s) {
		parts = append(parts, fmt.Sprintf("%s p50 %s, p99 %s", l.title, at(l.Latency, 50),
			at(l.Latency, 99)))
	}
	if len(parts) == 0 {
		return note
	}
	out := strings.Join(parts, "; ") +
		": plimsoll's own error, measured in this run on a system that takes no time"
	if note != "" {
		out += "; " + note
	}
	return out
}

// proofSentence states the result of `plimsoll prove` on the machine before the run; empty if
// there was none.
func proofSentence(p *result.Proof) string {
	if p == nil {
		return ""
	}
	all := p.Held + p.Missed + p.Unknown
	out := fmt.Sprintf("%d of %d planted truths held on this machine on %s", p.Held, all,
		p.At.UTC().Format(time.DateOnly))
	if p.Unknown > 0 {
		out += fmt.Sprintf(", %d could not be decided", p.Unknown)
	}
	if p.Missed > 0 {
		out += fmt.Sprintf(", %d missed: %s", p.Missed, strings.Join(p.MissedTruths, ", "))
	}
	return out
}

// instrument is a latency series of the twin; the zero Latency if it was not measured.
func instrument(r *result.Run, series result.Series) result.Latency {
	switch i := r.Summary.Instrument; {
	case i == nil:
		return result.Latency{Series: series}
	case series == result.Twin:
		return i.Publish
	default:
		return i.EndToEnd
	}
}

// lacksSentence says which figures a run of an earlier format lacks; empty for a run that has
// them all.
func lacksSentence(r *result.Run) string {
	if !r.Lacks() {
		return ""
	}
	return fmt.Sprintf("this run is of format %d and lacks figures of format %d: its percentiles "+
		"leave out messages without an answer and include copies, plimsoll's own error was not "+
		"measured on the sending or the receiving side, and the run does not record the number of "+
		"keys, how messages without a key were spread, when the system delivers again, and for "+
		"how long it waited for copies", r.SchemaVersion, result.SchemaVersion)
}

// boundConfidence is the confidence of the bounds of loss and of duplicates.
const boundConfidence = 0.95

// oneIn prints a small probability so that it is never less than the true one.
func oneIn(p float64) string {
	if p > 0.1 {
		return fmt.Sprintf("%.0f in 100", math.Ceil(p*100))
	}
	n := math.Floor(1 / p)
	if digits := math.Floor(math.Log10(n)); digits > 2 {
		unit := math.Pow(10, digits-2)
		n = math.Floor(n/unit) * unit
	}
	return "1 in " + quantity.Count(int64(n))
}

// lostAtMost and twiceAtMost are upper bounds of the probabilities of loss and of duplicates,
// if messages are independent of one another; ok is false where no message was counted, or
// the count is incomplete: messages were not read, or copies may still come.
func lostAtMost(r *result.Run) (p float64, ok bool) {
	t := r.Ledger.Total()
	p = stats.UpperBound(t.Lost, t.Acked, boundConfidence)
	return p, r.Ledger.Accounted && t.Acked > 0 && t.Unread == 0 && r.State == result.Complete
}

func twiceAtMost(r *result.Run) (p float64, ok bool) {
	t := r.Ledger.Total()
	p = stats.UpperBound(t.Duplicate, t.Received, boundConfidence)
	whole, _ := verdict.Watched(r)
	return p, r.Ledger.Accounted && t.Received > 0 && whole
}

// boundSentence gives the bounds of loss and of duplicates; empty where no message was counted.
func boundSentence(r *result.Run) string {
	var parts []string
	t := r.Ledger.Total()
	if p, ok := lostAtMost(r); ok {
		parts = append(parts, fmt.Sprintf("%s of %s lost: at most %s", quantity.Count(t.Lost),
			quantity.Count(t.Acked), oneIn(p)))
	}
	if p, ok := twiceAtMost(r); ok {
		parts = append(parts, fmt.Sprintf("%s of %s duplicate: at most %s",
			quantity.Count(t.Duplicate), quantity.Count(t.Received), oneIn(p)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + " (95%, if messages fail independently)"
}
