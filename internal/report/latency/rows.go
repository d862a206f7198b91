package latency

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

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
			phrase.Percentile(p), quantity.Duration(handed))
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
