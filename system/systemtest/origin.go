package systemtest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// origin is the key and the partition of a delivered message.
type origin struct {
	key       []byte
	partition int32
}

// origins sends messages with and without a key to every partition. Each must arrive with its key
// and from its partition. A system may carry no keys or not report partitions, but then for every
// message.
func (s *suite) origins(t *testing.T) {
	for _, parts := range []int{1, partitions} {
		t.Run(fmt.Sprintf("partitions_%d", parts), func(t *testing.T) { s.originsOf(t, parts) })
	}
}

func (s *suite) originsOf(t *testing.T, parts int) {
	c := s.connect(t)
	topic := s.topic(t, c, parts)
	b := newArrivals()
	var mu sync.Mutex
	came := make(map[id]origin)
	s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: "origins", Delivery: workload.AtLeastOnce,
		Receive: func(m system.Received) {
			mu.Lock()
			came[idOf(m.Payload)] = origin{key: bytes.Clone(m.Key), partition: m.Partition}
			mu.Unlock()
			b.receive(m)
		},
		Failed: b.fail,
	})
	p := s.sender(t, c, topic, 0)
	ctx := s.context(t)
	for i := range s.Messages {
		must(t, "sending", p.send(ctx, int32(i%parts), keyOf(i), 64))
	}
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	must(t, "receiving", b.await(ctx, s.Messages))
	mu.Lock()
	defer mu.Unlock()
	checkOrigins(t, came, parts)
}

// keyOf returns the key of a message: some have none, and several share one.
func keyOf(i int) []byte {
	if i%3 == 0 {
		return nil
	}
	return fmt.Appendf(nil, "key-%d", i%7)
}

func checkOrigins(t *testing.T, came map[id]origin, parts int) {
	t.Helper()
	keyed, bare, placed, silent := 0, 0, 0, 0
	for one, o := range came {
		want := keyOf(one.sequence)
		switch {
		case o.key == nil && want != nil:
			bare++
		case want == nil && o.key != nil:
			t.Fatalf("message %v arrived with key %q; it was sent with none", one, o.key)
		case !bytes.Equal(o.key, want):
			t.Fatalf("message %v arrived with key %q; it was sent with %q", one, o.key, want)
		case want != nil:
			keyed++
		}
		switch {
		case o.partition < 0:
			silent++
		case int(o.partition) != one.sequence%parts:
			t.Fatalf("message %v arrived from partition %d; it was sent to %d",
				one, o.partition, one.sequence%parts)
		default:
			placed++
		}
	}
	if keyed > 0 && bare > 0 {
		t.Errorf("%d messages arrived with their key, and %d without", keyed, bare)
	}
	if placed > 0 && silent > 0 {
		t.Errorf("%d messages arrived with their partition, and %d without", placed, silent)
	}
	t.Logf("the system carries keys: %t; it says the partition: %t", keyed > 0, placed > 0)
}
