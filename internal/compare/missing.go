package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// shareThatMatters is the difference of the sides' shares of messages without a latency that is an
// objection: a tenth of the share beyond p99.9, the highest percentile of every comparison.
const shareThatMatters = 0.0001

// without counts the messages of a side that have no latency of a series.
type without struct {
	result.Missing
	of int64 // all messages
}

func (w without) share() float64 {
	if w.of == 0 {
		return 0
	}
	return float64(w.Total()) / float64(w.of)
}

// withoutLatency counts the messages of a side that have no latency of a series.
func withoutLatency(s Side, series result.Series) (w without) {
	for _, r := range s.Runs {
		l := r.Run.Latency(series)
		m := l.Missing
		if c := r.Run.Counters; r.Run.Lacks() && series == result.Publish {
			// Its percentiles leave these out, so they matter even more.
			m = result.Missing{Unanswered: c.Unknown, Refused: c.Failed, Unsent: c.Unsent}
		}
		w.Unanswered += m.Unanswered
		w.Refused += m.Refused
		w.Unsent += m.Unsent
		w.NotReceived += m.NotReceived
		w.of += l.Count + m.Total()
	}
	return w
}

// String prints the number of messages and their fate.
func (w without) String() string {
	out := fmt.Sprintf("%s of %s", quantity.Count(w.Total()), quantity.Count(w.of))
	if w.Total() == 0 {
		return out
	}
	var kinds []string
	for _, k := range []struct {
		n    int64
		word string
	}{{w.Refused, "refused"}, {w.Unanswered, "never answered"}, {w.Unsent, "never sent"},
		{w.NotReceived, "never received"}} {
		if k.n > 0 {
			kinds = append(kinds, quantity.Count(k.n)+" "+k.word)
		}
	}
	return fmt.Sprintf("%s, %.3g%% (%s)", out, w.share()*100, strings.Join(kinds, ", "))
}

// shares reports how many messages of each side have no publish and no end-to-end latency, as
// objections if the shares differ too much for a comparison, and otherwise as remarks.
func shares(a, b Side) (objections Objections, hints []string) {
	for _, series := range figure.SeriesNames[:2] {
		ofA, ofB := withoutLatency(a, series.Series), withoutLatency(b, series.Series)
		if ofA.Total() == 0 && ofB.Total() == 0 {
			continue
		}
		counts := fmt.Sprintf("messages without %s latency: %v in A, %v in B", series.Article, ofA,
			ofB)
		if math.Abs(ofA.share()-ofB.share()) >= shareThatMatters {
			objections = append(objections, Objection{LatencyOnly: true,
				ByB:      ofB.share() > ofA.share(),
				Sentence: "the sides differ in their shares of " + counts})
			continue
		}
		hints = append(hints,
			counts+": percentiles count each as longer than all measured latencies, or than the "+
				"time that plimsoll waited for it")
	}
	return objections, hints
}
