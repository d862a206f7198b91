package latency

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

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
