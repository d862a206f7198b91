package load

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// What a system changes in a message that it delivers is in the account.
func TestChangedMessagesAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		change                      func(m *system.Received)
		corrupt, misplaced, foreign int64
	}{
		"nothing": {change: func(*system.Received) {}},
		"nothing, and the system tells neither key nor partition": {
			change: func(m *system.Received) { m.Key, m.Partition = nil, -1 }},
		"a random byte": {corrupt: 1,
			change: func(m *system.Received) { m.Payload[workload.StampBytes] ^= 1 }},
		"the last byte, a zero": {corrupt: 1,
			change: func(m *system.Received) { m.Payload[len(m.Payload)-1] = 1 }},
		"a byte is missing": {corrupt: 1,
			change: func(m *system.Received) { m.Payload = m.Payload[:len(m.Payload)-1] }},
		"a byte more": {corrupt: 1,
			change: func(m *system.Received) { m.Payload = append(m.Payload, 0) }},
		"a byte of the stamp": {corrupt: 1,
			change: func(m *system.Received) { m.Payload[20] ^= 1 }},
		"the key of another partition": {misplaced: 1, change: func(m *system.Received) {
			m.Key = keyOfAnother(m.Key)
		}},
		"a key of another form": {misplaced: 1,
			change: func(m *system.Received) { m.Key = []byte("customer-1") }},
		"an empty key": {misplaced: 1,
			change: func(m *system.Received) { m.Key = []byte{} }},
		"the partition": {misplaced: 1,
			change: func(m *system.Received) { m.Partition = (m.Partition + 1) % soundPartitions }},
		"the first partition instead of another": {misplaced: 1,
			change: func(m *system.Received) { m.Partition = 0 }},
		"payload and key": {corrupt: 1, misplaced: 1, change: func(m *system.Received) {
			m.Payload[workload.StampBytes] ^= 1
			m.Key = keyOfAnother(m.Key)
		}},
		"everything": {foreign: 1,
			change: func(m *system.Received) { m.Payload = []byte("from elsewhere") }},
	} {
		t.Run(name, func(t *testing.T) {
			got := deliverChanged(t, c.change)
			if got.Corrupt != c.corrupt || got.Misplaced != c.misplaced ||
				got.Foreign != c.foreign {
				t.Errorf("%d damaged, %d misplaced, %d foreign: want %d, %d, %d", got.Corrupt,
					got.Misplaced, got.Foreign, c.corrupt, c.misplaced, c.foreign)
			}
		})
	}
}

const soundPartitions = 4

// deliverChanged has a consumer receive ten messages, one of them changed, and returns the
// account of its subscription.
func deliverChanged(t *testing.T, change func(*system.Received)) result.SubscriptionLedger {
	t.Helper()
	w := crowdOf(1, soundPartitions, 1, 1, 1)
	w.Keys = workload.Keys{Kind: workload.KeysRoundRobin, Count: 50}
	w.Message = workload.Message{Size: 256, Incompressible: 0.5}
	plan := Plan{Workload: *w, Run: 7, Prefix: "t", Alone: true}
	e := New(plan, clock.Timers(), nil)
	if err := e.Open(t.Context(), null{}); err != nil {
		t.Fatal(err)
	}
	p, to := e.producers[0], e.consumers[0]
	for seq := range int64(10) {
		f := p.fresh()
		p.prepare(f, seq, clock.Now(), measure.Measured)
		p.send(f, clock.Now(), 0)
		m := system.Received{Payload: f.Payload, Key: f.Key, Partition: f.Partition}
		if seq == 5 {
			change(&m)
		}
		to.receive(m)
	}
	ledger, _ := plan.Judge(e.account(true), Evidence{})
	return ledger.Subscriptions[0]
}

// The messages of a class have its own keys.
func TestClassesHaveTheirKeys(t *testing.T) {
	w := crowdOf(1, soundPartitions, 2, 1, 1)
	w.Keys = workload.Keys{Kind: workload.KeysNone}
	w.Message.Sizes = &workload.Sizes{
		Parts: []workload.SizePart{{Share: 1, Least: 100, Most: 100}}}
	w.Classes = []workload.Class{{Name: "event", Share: 0.5, Least: 100, Most: 100},
		{Name: "order", Share: 0.5, Least: 100, Most: 100,
			Keys: workload.Keys{Kind: workload.KeysRoundRobin, Count: 3}}}
	e := New(Plan{Workload: *w, Run: 7, Prefix: "t", Alone: true}, clock.Timers(), nil)
	if err := e.Open(t.Context(), null{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 3} { // the distinct keys of each producer, nil among them
		p, keys := e.producers[i], map[string]bool{}
		for seq := range int64(10) {
			f := p.fresh()
			p.prepare(f, seq, clock.Now(), measure.Measured)
			keys[string(f.Key)] = true
		}
		if len(keys) != want || keys[""] != (want == 1) {
			t.Errorf("producer %d has the keys %v", i, keys)
		}
	}
}

// keyOfAnother returns a key that belongs to another partition than a key's.
func keyOfAnother(key []byte) []byte {
	c := newChooser(&workload.Workload{
		Keys: workload.Keys{Kind: workload.KeysRoundRobin, Count: 50}}, system.Spread{})
	for seq := int64(0); ; seq++ {
		other, partition := c.choose(make([]byte, keyBytes), seq, 0, seq, 0, soundPartitions)
		if int64(partition) != keyPartition(key, soundPartitions) {
			return other
		}
	}
}
