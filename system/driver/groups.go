package driver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Groups are what a connection knows of each subscription whose consumers it has
// opened. The zero value has none. Its methods may be called from any goroutine.
type Groups[G any] struct {
	mu  sync.Mutex
	all map[subscription]*G
}

type subscription struct{ topic, name string }

// Of returns the group of a subscription, which create makes when there is none.
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

// Drop forgets the groups of topics that are to be deleted, and returns them.
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

// Shares are the partitions that each consumer of a subscription has, as the servers
// share them out. Its methods may be called from any goroutine.
type Shares[C comparable] struct {
	partitions int
	mu         sync.Mutex
	members    map[C]map[int32]bool
}

// NewShares returns the shares of a subscription without consumers.
func NewShares[C comparable](t system.Topic) *Shares[C] {
	return &Shares[C]{partitions: t.Partitions, members: make(map[C]map[int32]bool)}
}

// Join adds a consumer that has no partition yet.
func (s *Shares[C]) Join(c C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members[c] = make(map[int32]bool)
}

// Leave removes a consumer and its share.
func (s *Shares[C]) Leave(c C) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, c)
}

// Change notes partitions that a consumer has from now on, or no longer has. A consumer
// that has left gets none.
func (s *Shares[C]) Change(c C, has bool, partitions ...int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.members[c]
	for _, p := range partitions {
		if has && mine != nil {
			mine[p] = true
		} else {
			delete(mine, p)
		}
	}
}

// Of is how many partitions a consumer has.
func (s *Shares[C]) Of(c C) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.members[c])
}

// AwaitEven waits until all partitions are shared out evenly, and looks every so often.
func (s *Shares[C]) AwaitEven(ctx context.Context, every time.Duration) error {
	return Until(ctx, every, func() (bool, error) {
		err := s.uneven()
		return err != nil, err
	})
}

// uneven says what is missing until the partitions are shared out evenly.
func (s *Shares[C]) uneven() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	total, least, most := 0, s.partitions, 0
	for _, mine := range s.members {
		n := len(mine)
		total, least, most = total+n, min(least, n), max(most, n)
	}
	if total != s.partitions || most > least+1 {
		return fmt.Errorf("the partitions are not shared out evenly: of %d partitions %d are with "+
			"the %d consumers of the subscription, %d to %d each",
			s.partitions, total, len(s.members), least, most)
	}
	return nil
}
