package load

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
)

// CheckSample refuses a sample from another process that does not fit the plan. Merging relies on
// its lengths.
func (p *Plan) CheckSample(s *Sample) error {
	w := &p.Workload
	if len(s.Counters.ReceivedWithin) != w.Subscriptions ||
		len(s.Counters.FreshAt) != w.AllSubscriptions() {
		return fmt.Errorf("a sample has counts of %d and %d subscriptions, and the plan has %d",
			len(s.Counters.ReceivedWithin), len(s.Counters.FreshAt), w.Subscriptions)
	}
	return nil
}

// CheckAccount refuses an account from another process that does not fit the plan: its lanes,
// producers and consumers are used as indexes.
func (p *Plan) CheckAccount(a *Account) error {
	w := &p.Workload
	lanes := w.Producers * w.Partitions
	for i := range a.Sent {
		s := &a.Sent[i]
		if !within(s.Topic, w.Topics) || !within(s.Producer, w.Producers) ||
			len(s.Lanes) != w.Partitions {
			return fmt.Errorf("an account has producer %d of topic %d with %d lanes, which the "+
				"plan does not have", s.Producer, s.Topic, len(s.Lanes))
		}
	}
	for i := range a.Arrived {
		c := &a.Arrived[i]
		if !within(c.Topic, w.Topics) || !within(c.Subscription, w.AllSubscriptions()) ||
			!within(c.Consumer, w.Consumers) || len(c.Transactions) > w.Producers {
			return fmt.Errorf("an account has consumer %d of subscription %d of topic %d, which "+
				"the plan does not have", c.Consumer, c.Subscription, c.Topic)
		}
		before := -1
		for _, l := range c.Lanes {
			if l.Lane <= before || l.Lane >= lanes {
				return fmt.Errorf("an account has lane %d after %d, and the plan has %d", l.Lane,
					before, lanes)
			}
			before = l.Lane
		}
		for _, some := range [][]measure.Sighting{c.Copies, c.Late} {
			for _, seen := range some {
				if !within(seen.Lane, lanes) || seen.Seq < 0 {
					return fmt.Errorf("an account has message %d of lane %d, and the plan has %d "+
						"lanes", seen.Seq, seen.Lane, lanes)
				}
			}
		}
	}
	return nil
}

func within(i, n int) bool { return i >= 0 && i < n }
