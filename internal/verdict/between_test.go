package verdict

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Nothing is claimed of the order between workers of a fleet, which nobody watched.
func TestOrderBetweenWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		owned  bool
		ledger result.SubscriptionLedger
		want   string
		says   string
	}{
		"owned": {true, result.SubscriptionLedger{BetweenWorkers: 40}, result.Unknown,
			"40 are of partitions that several workers received"},
		"shared": {false, result.SubscriptionLedger{BetweenWorkers: 40}, result.Holds,
			"at each consumer"},
		"surely late": {true, result.SubscriptionLedger{BetweenWorkers: 40, Reordered: 1},
			result.Broken, "1 messages came out of order"},
		"surely overtaken": {true, result.SubscriptionLedger{BetweenWorkers: 40, Overtaken: 1},
			result.Broken, "after another consumer"},
		"late or copies": {false, result.SubscriptionLedger{BetweenWorkers: 40,
			ReorderedOrCopies: 2}, result.Unknown, "2 messages came out of order at one worker"},
	} {
		r := good()
		l := &r.Ledger.Subscriptions[0]
		r.System.PartitionsOwned, l.BetweenWorkers = c.owned, c.ledger.BetweenWorkers
		l.Reordered, l.Overtaken = c.ledger.Reordered, c.ledger.Overtaken
		l.ReorderedOrCopies = c.ledger.ReorderedOrCopies
		got := order(r, *l)
		if got.Outcome != c.want || !strings.Contains(got.Sentence, c.says) {
			t.Errorf("%s: %s: %s", name, got.Outcome, got.Sentence)
		}
	}
}
