package verdict

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// throttling names the worker that a limit of CPU throttled most in the window, and for how long;
// empty: none.
func throttling(r *result.Run) (sentence string, ns int64) {
	g := r.Summary.Generator
	whose, cores, ns := "plimsoll", g.CPULimitCores, g.ThrottledNs
	if len(r.Workers) > 0 {
		ns = 0
	}
	for _, w := range r.Workers {
		if w.ThrottledNs > ns {
			whose = fmt.Sprintf("worker %s on %s", w.Name, w.Host)
			cores, ns = w.CPULimitCores, w.ThrottledNs
		}
	}
	if ns == 0 {
		return "", 0
	}
	return fmt.Sprintf("the limit of %.3g cores of CPU delayed threads of %s for %s in a window "+
		"of %s", cores, whose, quantity.Duration(ns), quantity.Duration(r.Summary.WindowNs)), ns
}

// throttlingLimits judges whether a limit of CPU, such as a container's, throttled plimsoll.
func throttlingLimits(r *result.Run) (v result.Verdict, is bool) {
	sentence, ns := throttling(r)
	if ns <= r.Summary.WindowNs/throttledDivisor {
		return v, false
	}
	return say(Generator, result.Broken,
		"the load generator was the limit: %s: raise its limit, or take more workers",
		sentence), true
}
