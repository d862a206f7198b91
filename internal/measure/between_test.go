package measure

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Of lanes that came to several workers, what was surely late is told from what may be a copy, and
// the rest is left open. Of others, everything is known.
func TestOrderBetweenWorkers(t *testing.T) {
	type arrival struct {
		lane int
		seq  int64
	}
	received := [][]arrival{ // by worker, of one consumer each
		{{0, 0}, {0, 2}, {0, 1}, {1, 0}, {1, 1}, {1, 2}},
		{{1, 5}, {1, 4}, {1, 1}, {2, 0}},
	}
	var all []ArrivedAccount
	for worker, messages := range received {
		order, consumer := NewOrder(3), NewArrived(3)
		for _, m := range messages {
			consumer.Received(m.lane, m.seq, Arrival{Late: order.Late(m.lane, m.seq)})
		}
		account := consumer.Account()
		account.Worker = worker
		all = append(all, account)
	}
	name := func(lane int) LaneName { return LaneName{Partition: lane} }
	var l result.SubscriptionLedger
	Judge(&l, []SentAccount{{Lanes: NewSent(3).Lanes(false)}}, all, Evidence{}, name)
	want := result.SubscriptionLedger{
		Received: 9, Unacked: 9, Duplicate: 1, Reordered: 2, ReorderedOrCopies: 1,
		BetweenWorkers:  5,
		DuplicateRanges: []result.Range{{Partition: 1, First: 1, Last: 1}},
		ReorderedRanges: []result.Range{{First: 1, Last: 1}, {Partition: 1, First: 4, Last: 4}},
	}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("got %+v, want %+v", l, want)
	}
}

// Where more messages were late than are known by number, as many may be copies as came to both.
func TestOrderWithoutNumbers(t *testing.T) {
	order, one, other := NewOrder(1), NewArrived(1), NewArrived(1)
	const late = 3 * maxRanges
	one.Received(0, late, Arrival{Late: order.Late(0, late)})
	for seq := range int64(late) {
		one.Received(0, seq, Arrival{Late: order.Late(0, seq)})
	}
	for seq := int64(late - 2); seq < late+5; seq++ {
		other.Received(0, seq, Arrival{})
	}
	accounts := []ArrivedAccount{one.Account(), other.Account()}
	accounts[1].Worker = 1
	var l result.SubscriptionLedger
	judgeOrder(&l, accounts, func(int) LaneName { return LaneName{} })
	if l.Reordered != late-3 || l.ReorderedOrCopies != 3 || l.BetweenWorkers != late+5 {
		t.Errorf("%+v", l)
	}
}

// Whatever comes to whom and when: all that is counted was late, and all that was late is counted
// or on a lane that came to several workers. Lateness is found here from all arrivals in their
// order, which no worker knows.
func TestNoOrderIsInvented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const lanes, most = 2, 12
		workers := rapid.SliceOfN(rapid.IntRange(0, 2), 1, 4).Draw(t, "workers of consumers")
		var consumers []*Arrived
		for range workers {
			consumers = append(consumers, NewArrived(lanes))
		}
		orders := []*Order{NewOrder(lanes), NewOrder(lanes), NewOrder(lanes)}
		var came [lanes][most]bool
		var by [lanes][3]bool
		var late, open int64
		for range rapid.IntRange(0, 40).Draw(t, "arrivals") {
			at := rapid.IntRange(0, len(workers)-1).Draw(t, "consumer")
			lane, seq := rapid.IntRange(0, lanes-1).Draw(t, "lane"),
				rapid.Int64Range(0, most-1).Draw(t, "seq")
			how := Arrival{Late: orders[workers[at]].Late(lane, seq)}
			for other, of := range workers {
				how.Elsewhere = how.Elsewhere || other != at && of == workers[at] &&
					consumers[other].Has(lane, seq)
			}
			consumers[at].Received(lane, seq, how)
			for _, later := range came[lane][seq+1:] {
				if later && !came[lane][seq] {
					late++
					break
				}
			}
			came[lane][seq], by[lane][workers[at]] = true, true
		}
		var all []ArrivedAccount
		for i, c := range consumers {
			all = append(all, c.Account())
			all[i].Worker = workers[i]
		}
		for lane := range lanes {
			if sum := by[lane]; sum[0] && sum[1] || sum[1] && sum[2] || sum[0] && sum[2] {
				for _, has := range came[lane] {
					if has {
						open++
					}
				}
			}
		}
		var l result.SubscriptionLedger
		judgeOrder(&l, all, func(int) LaneName { return LaneName{} })
		counted := l.Reordered + l.Overtaken
		if counted > late || late > counted+open || l.BetweenWorkers != open {
			t.Fatalf("%d were late, %d on lanes of several workers: %+v", late, open, l)
		}
	})
}
