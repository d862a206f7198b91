package latency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// NotReached is a percentile that falls among messages without any latency.
const NotReached = "not reached"

// OwnMark follows a latency that plimsoll's own error determines.
const OwnMark = "†"

// OwnNote explains OwnMark.
const OwnNote = OwnMark + ": plimsoll's own error at this percentile exceeds its bound, so the " +
	"latency is not the system's"

// At prints the latency at a percentile with its bound and its mark, or none.
func At(l result.Latency, percentile float64) string {
	p, ok := l.Point(percentile)
	switch {
	case !ok:
		return document.None
	case p.Bound == result.NotReached:
		return NotReached
	case p.OwnError:
		return phrase.BoundedTime(p.LatencyNs, p.Bound) + OwnMark
	}
	return phrase.BoundedTime(p.LatencyNs, p.Bound)
}

// Marked reports whether a latency of the summary has the mark.
func Marked(s result.Summary) bool {
	return slices.ContainsFunc(s.Latency, func(l result.Latency) bool {
		return slices.ContainsFunc(l.Percentiles,
			func(p result.Percentile) bool { return p.OwnError })
	})
}

// ExactAt is the latency at a percentile; ok is false when only a bound is known. Only exact
// latencies may be drawn as points, or divided.
func ExactAt(l result.Latency, percentile float64) (ns int64, ok bool) {
	p, ok := l.Point(percentile)
	return p.LatencyNs, ok && p.Bound == result.Exact
}

// Greatest prints the greatest latency with its bound, or none.
func Greatest(l result.Latency) string {
	ns, bound := l.Worst()
	switch {
	case !Counted(l):
		return document.None
	case ns == 0 && bound != result.Exact:
		return NotReached
	case bound == result.NotReached:
		return "> " + quantity.Duration(ns)
	}
	return phrase.BoundedTime(ns, bound)
}

// ExactMax is the greatest latency where each message has one.
func ExactMax(l result.Latency) (ns int64, ok bool) {
	ns, bound := l.Worst()
	return ns, l.Count > 0 && bound == result.Exact
}

// Counted reports whether a series has messages, with a latency or without.
func Counted(l result.Latency) bool { return l.Count > 0 || l.Missing.Total() > 0 }

// AnsweredWords name the messages of a series that have a latency.
func AnsweredWords(series result.Series) string {
	switch series {
	case result.EndToEnd, result.Copies, result.CatchUp:
		return "of the messages received"
	case result.Redelivered:
		return "of the messages delivered again"
	case result.Lag:
		return "of the messages handed over"
	}
	return "of the messages answered"
}

// Answered is a series without the messages that have no latency.
func Answered(l result.Latency) result.Latency {
	l.Percentiles, l.Answered, l.Missing = l.Answered, nil, result.Missing{}
	return l
}

// Missing count the messages without a latency, a sentence for each series.
func Missing(s result.Summary) []string {
	out := MissingOf(s)
	for i := range out {
		out[i] += ": the percentiles count them as longer than the printed figures"
	}
	return out
}

// MissingOf counts the messages without a latency of each series of a table, the
// same messages once.
func MissingOf(s result.Summary) []string {
	var titles phrase.Grouped[result.Missing, string]
	for _, w := range phrase.SeriesWords {
		if m := s.Series(w.Series).Missing; m.Total() > 0 {
			titles.Add(m, w.Title)
		}
	}
	var out []string
	for _, m := range titles.Keys {
		out = append(out, strings.Join(titles.Of[m], " and ")+": "+m.Words())
	}
	return out
}

// InstrumentSentence states plimsoll's own error, and explains the mark of percentiles that it
// determines; empty if it was not measured.
func InstrumentSentence(s result.Summary) string {
	var parts []string
	note := ""
	if Marked(s) {
		note = OwnNote
	}
	for _, l := range ownErrors(s) {
		parts = append(parts, fmt.Sprintf("%s p50 %s, p99 %s", l.Title, At(l.Latency, 50),
			At(l.Latency, 99)))
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

// Instrument is a latency series of the twin; the zero Latency if it was not measured.
func Instrument(r *result.Run, series result.Series) result.Latency {
	switch i := r.Summary.Instrument; {
	case i == nil:
		return result.Latency{Series: series}
	case series == result.Twin:
		return i.Publish
	default:
		return i.EndToEnd
	}
}

// Lacks says which figures a run of an earlier format lacks; empty for a run that has
// them all.
func Lacks(r *result.Run) string {
	if !r.Lacks() {
		return ""
	}
	return fmt.Sprintf("this run is of format %d and lacks figures of format %d: its percentiles "+
		"leave out messages without an answer and include copies, plimsoll's own error was not "+
		"measured on the sending or the receiving side, and the run does not record the number of "+
		"keys, how messages without a key were spread, when the system delivers again, and for "+
		"how long it waited for copies", r.SchemaVersion, result.SchemaVersion)
}

// Of is an interval's latency of a series, or the zero Latency.
func Of(i result.Interval, series result.Series) result.Latency {
	return result.Summary{Latency: i.Latency}.Series(series)
}

// Uncorrected says how much coordinated omission would hide.
func Uncorrected(r *result.Run) string {
	if r.Load.Closed != nil {
		return "A closed loop: a message is due when an earlier send has been answered, so " +
			"publish latency is send latency and the time to begin. Messages that a stall kept " +
			"from being sent have no latency (coordinated omission)."
	}
	s := r.Summary
	publish, send := s.Series(result.Publish), s.Series(result.Send)
	for _, p := range []float64{99, 50} {
		due, ok1 := ExactAt(publish, p)
		handed, ok2 := ExactAt(send, p)
		if !ok1 || !ok2 || handed <= 0 {
			continue
		}
		out := fmt.Sprintf("At %s the uncorrected send latency, the figure most tools print, is %s",
			result.PercentileName(p), quantity.Duration(handed))
		if float64(due)/float64(handed) >= 1.1 {
			return out + fmt.Sprintf(". Counted from the moment each message was due it is %s: "+
				"the difference is time that messages waited before they could be handed over, "+
				"which the uncorrected figure leaves out (coordinated omission).",
				quantity.Duration(due))
		}
		return out + fmt.Sprintf(", and counted from the moment each message was due it is %s: "+
			"here the two agree, because producers rarely had to wait.", quantity.Duration(due))
	}
	return ""
}

// Row is a row of a table of latencies.
type Row struct {
	Title string
	result.Latency
}

// Rows are the rows of a table of latencies: each series that has messages, then its
// messages with a latency where others have none, and plimsoll's own error.
func Rows(s result.Summary) []Row {
	var out []Row
	for _, w := range phrase.SeriesWords {
		l := s.Series(w.Series)
		if !Counted(l) {
			continue
		}
		title := w.Title
		if l.ErrorNs > 0 {
			title += " ± " + quantity.Duration(l.ErrorNs)
		}
		out = append(out, Row{title, l})
		if len(l.Answered) > 0 {
			title := w.Title + ", " + AnsweredWords(w.Series)
			out = append(out, Row{title, Answered(l)})
		}
	}
	for _, l := range ownErrors(s) {
		out = append(out, Row{"instrument, " + l.Title, l.Latency})
	}
	return out
}

// ownErrors are plimsoll's own errors that were measured.
func ownErrors(s result.Summary) []Row {
	if s.Instrument == nil {
		return nil
	}
	return slices.DeleteFunc([]Row{{"publish", s.Instrument.Publish},
		{"end-to-end", s.Instrument.EndToEnd}},
		func(l Row) bool { return !Counted(l.Latency) })
}

// Waits say how much of each latency is waiting on purpose.
func Waits(r *result.Run) []string {
	var out []string
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		waits := fact.WaitsIn(r, series)
		if len(waits) == 0 {
			continue
		}
		begin := phrase.SeriesTitle(series) + " latency, of which "
		if ns, ok := ExactAt(r.Summary.Series(series), 50); ok {
			begin = fmt.Sprintf("%s p50 %s, of which ", phrase.SeriesTitle(series),
				quantity.Duration(ns))
		}
		out = append(out, begin+strings.Join(waits, ", and "))
	}
	if ns, ok := ExactAt(r.Summary.Series(result.Request), 50); ok {
		out = append(out, fmt.Sprintf("the servers answer a request after %s (p50, each request "+
			"once): the rest of publish latency is waiting in the client", quantity.Duration(ns)))
	}
	for _, w := range r.System.Waits {
		if w.Series == "" {
			out = append(out, fact.Wait(w))
		}
	}
	return out
}
