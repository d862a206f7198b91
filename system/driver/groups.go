package driver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Groups holds a connection's state of each subscription whose consumers it has opened.
// The zero value is empty. It is safe for concurrent use.
type Groups[G any] struct {
	mu  sync.Mutex
	all map[subscription]*G
}

type subscription struct{ topic, name string }

// Of returns the group of a subscription. It calls create when there is none.
func (g *Groups[G]) Of(t system.Topic, name string, create func() *G) *G {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := subscription{t.Name, name}
	if g.all[key] == nil {
		if g.all == nil {
			g.all = make(map[subscription]*G)
		}
		g.all[key] = create()
	}
	return g.all[key]
}

// On returns the groups of a topic.
func (g *Groups[G]) On(t system.Topic) []*G {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []*G
	for key, one := range g.all {
		if key.topic == t.Name {
			all = append(all, one)
		}
	}
	return all
}

// Drop removes the groups of topics before their deletion, and returns the groups.
func (g *Groups[G]) Drop(topics ...system.Topic) []*G {
	names := make(map[string]bool, len(topics))
	for _, t := range topics {
		names[t.Name] = true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var dropped []*G
	for key, one := range g.all {
		if names[key.topic] {
			dropped = append(dropped, one)
			delete(g.all, key)
		}
	}
	return dropped
}

// Made records that something was made which must be made only once, such as a subscription's
// groups. The zero value: not yet.
type Made struct {
	mu   sync.Mutex
	done bool
}

// Once calls make until a call succeeds, and then never again. Other calls wait meanwhile.
func (m *Made) Once(make func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done {
		return nil
	}
	err := make()
	m.done = err == nil
	return err
}

// Shares holds the partitions that the servers have assigned to each consumer of a
// subscription, as their notices say. Consumers get notices on connections of their own, so two of
// them may have the same partition for a while, or for longer when a notice is lost: then it
// counts as the share of the one that got it last. Shares is safe for concurrent use.
type Shares[C comparable] struct {
	partitions int
	all        int // consumers of all connections; 0: there are no others
	mu         sync.Mutex
	notices    int                 // so far
	members    map[C]map[int32]int // the number of the notice, by partition
}

// NewShares returns the shares of a consumer's subscription, without consumers.
func NewShares[C comparable](o system.ConsumerOptions) *Shares[C] {
	return &Shares[C]{partitions: o.Topic.Partitions, all: o.Members,
		members: make(map[C]map[int32]int)}
}

// Join adds a consumer without partitions.
func (s *Shares[C]) Join(c C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members[c] = make(map[int32]int)
}

// Leave removes a consumer and its share.
func (s *Shares[C]) Leave(c C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, c)
}

// Change adds partitions to a consumer or removes them. It has no effect on a consumer
// that has left.
func (s *Shares[C]) Change(c C, has bool, partitions ...int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.members[c]
	s.notices++
	for _, p := range partitions {
		if has && mine != nil {
			mine[p] = s.notices
		} else {
			delete(mine, p)
		}
	}
}

// Of returns the number of a consumer's partitions.
func (s *Shares[C]) Of(c C) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts()[c]
}

// counts returns the number of each consumer's partitions. The caller holds the lock.
func (s *Shares[C]) counts() map[C]int {
	counts, last := make(map[C]int, len(s.members)), make(map[int32]C)
	for c, mine := range s.members {
		counts[c] = 0
		for p, notice := range mine {
			if of, given := last[p]; !given || s.members[of][p] < notice {
				last[p] = c
			}
		}
	}
	for _, c := range last {
		counts[c]++
	}
	return counts
}

// AwaitEven waits until all partitions are assigned evenly. It checks at each interval.
func (s *Shares[C]) AwaitEven(ctx context.Context, every time.Duration) error {
	return Retry(ctx, every, s.uneven)
}

// uneven returns why the partitions are not assigned evenly, or nil.
func (s *Shares[C]) uneven() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	total, least, most := 0, s.partitions, 0
	for _, n := range s.counts() {
		total, least, most = total+n, min(least, n), max(most, n)
	}
	if s.all > len(s.members) {
		if least < s.partitions/s.all || most > (s.partitions+s.all-1)/s.all {
			return fmt.Errorf("the partitions are not assigned evenly: %d of the %d consumers of "+
				"the subscription are on this connection, with %d to %d of %d partitions each",
				len(s.members), s.all, least, most, s.partitions)
		}
		return nil
	}
	if total != s.partitions || most > least+1 {
		return fmt.Errorf("the partitions are not assigned evenly: of %d partitions %d are with "+
			"the %d consumers of the subscription, %d to %d each",
			s.partitions, total, len(s.members), least, most)
	}
	return nil
}
