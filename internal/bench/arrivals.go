package bench

import (
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// arrivals follows the first arrivals at each subscription through a drain. A drain that ends by
// its limit while messages arrive cannot tell a lost message from one that is still to come.
type arrivals struct {
	fresh   []int64 // first arrivals so far, by subscription
	movedNs []int64 // when growth was last seen; 0: not in this drain
	cut     []bool  // the drain ended by its limit while they grew
}

// look records the arrivals up to a time of the clock.
func (a *arrivals) look(nowNs int64, fresh []int64) {
	if a.fresh == nil {
		a.movedNs, a.cut = make([]int64, len(fresh)), make([]bool, len(fresh))
	}
	for i, n := range a.fresh {
		if fresh[i] > n {
			a.movedNs[i] = nowNs
		}
	}
	a.fresh = slices.Clone(fresh)
}

// limit records that the drain ended by its limit. Messages count as still arriving if one came
// within the last quarter of the drain; this time is at least quiet and at most a second.
func (a *arrivals) limit(beginNs, lookedNs int64) {
	recent := max(int64(quiet), min((lookedNs-beginNs)/4, int64(time.Second)))
	for i, at := range a.movedNs {
		a.cut[i] = at != 0 && lookedNs-at < recent
	}
}

// cutAt reports whether messages were still arriving at a subscription.
func (a *arrivals) cutAt(subscription int) bool {
	return subscription < len(a.cut) && a.cut[subscription]
}

// cutSome reports whether messages were still arriving at some subscription.
func (a *arrivals) cutSome() bool { return slices.Contains(a.cut, true) }

// account notes for how long the run waited for unread messages: not at all for those of
// subscriptions at which messages were still arriving.
func (a *arrivals) account(of []result.SubscriptionLedger, stillNs int64) {
	for i := range of {
		if of[i].Unread > 0 && !a.cutAt(i) {
			of[i].AwaitedNs = stillNs
		}
	}
}
