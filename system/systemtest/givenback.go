package systemtest

import (
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// givenBack lets a consumer give back the first delivery of every fifth message. Each of these
// messages must be delivered once more, and no other.
func (s *suite) givenBack(t *testing.T) {
	if why := s.System.Describe().WhyNoReturns(s.options[s.level].Settings); why != "" {
		t.Skip(why)
	}
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	var mu sync.Mutex
	times := make(map[string]int)
	var last string           // the last message received
	asked := true             // GiveBack was called for it
	returned, unasked := 0, 0 // messages given back, and received before that call
	together := newArrivals()
	s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: "back", Delivery: workload.AtLeastOnce, Failed: together.fail,
		Receive: func(m system.Received) {
			mu.Lock()
			if !asked {
				unasked++
			}
			last, asked = string(m.Payload), false
			times[last]++
			mu.Unlock()
			together.receive(m)
		},
		GiveBack: func() bool {
			mu.Lock()
			defer mu.Unlock()
			asked = true
			back := times[last] == 1 && len(times)%5 == 0
			if back {
				returned++
			}
			return back
		},
	})
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", together.await(s.context(t), s.Messages))
	twice := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, came := range times {
			if came > 1 {
				n++
			}
		}
		return n
	}
	for end := time.Now().Add(awaitWithin); twice() < s.Messages/5 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	mu.Lock()
	defer mu.Unlock()
	if unasked > 0 {
		t.Errorf("%d messages came before the consumer had asked for the one before", unasked)
	}
	if n := len(together.order) - s.Messages; returned != s.Messages/5 || n != returned {
		t.Errorf("%d messages given back, %d deliveries more; "+
			"Description.RefuseReturns: a message given back is delivered again", returned, n)
	}
}
