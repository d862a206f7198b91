package load

import (
	"context"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// catchUpLook is the least interval between checks of the progress of consumers that came back;
	// catchUpLookPerClient bounds the cost of the checks.
	catchUpLook          = 20 * time.Millisecond
	catchUpLookPerClient = 20 * time.Microsecond
	// UnderWay is the age up to which an acknowledged message may be missing at readers that have
	// caught up: some messages are always on the way.
	UnderWay = 100 * time.Millisecond
)

// Acked is the number of messages acknowledged by a time of the clock.
type Acked struct{ AtNs, Messages int64 }

// Recent holds the acknowledged messages of the last UnderWay, the oldest first.
type Recent []Acked

// Add notes the messages acknowledged by now. It returns those acknowledged UnderWay ago; known is
// false if that is not on record.
func (r *Recent) Add(nowNs, messages int64) (was int64, known bool) {
	*r = append(*r, Acked{nowNs, messages})
	for len(*r) > 1 && (*r)[1].AtNs <= nowNs-int64(UnderWay) {
		*r = (*r)[1:]
	}
	oldest := (*r)[0]
	return oldest.Messages, oldest.AtNs <= nowNs-int64(UnderWay)
}

// catchUp follows consumers that came back, until they have read what was acknowledged UnderWay
// ago.
type catchUp struct {
	group  []int // subscriptions, from 0
	fromNs int64 // time of the change
	acked  Recent

	mu      sync.Mutex
	found   result.Return
	freshAt int64 // first arrivals at the group when it came back
	firstNs int64 // time of the last look before the first arrival; 0: none yet
}

// soFar returns what was found so far; nil: no consumers came back.
func (c *catchUp) soFar() *result.Return {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.found
	return &found
}

// leaves notes which subscriptions have no consumers now. Their next messages wait for consumers.
func (e *Engine) leaves(to workload.GroupSize) {
	for k := range e.scaler.away {
		if !to.Of(k + 1) {
			continue
		}
		e.scaler.away[k] = to.Consumers == 0
		if to.Consumers == 0 {
			e.setBehind([]int{k}, true)
		}
	}
}

func (e *Engine) setBehind(group []int, behind bool) {
	for at, s := range e.shared {
		for _, k := range group {
			if at.subscription == k {
				s.behind.Store(behind)
			}
		}
	}
}

// comesBack begins to follow the subscriptions of a group that had no consumers and get some now;
// nil: there are none.
func (e *Engine) comesBack(ctx context.Context, to workload.GroupSize, nowNs int64) *catchUp {
	c := &catchUp{fromNs: nowNs}
	for k, away := range e.scaler.away {
		if away && to.Consumers > 0 && to.Of(k+1) {
			c.group = append(c.group, k)
		}
	}
	if len(c.group) == 0 {
		return nil
	}
	e.looks(c)
	clients := len(e.producers) + len(e.consumers)
	look := max(catchUpLook, time.Duration(clients)*catchUpLookPerClient)
	e.scaler.running.Go(func() {
		for clock.Sleep(ctx, look) {
			if e.looks(c) {
				clock.Sleep(ctx, UnderWay) // they may be late by this much yet
				e.setBehind(c.group, false)
				return
			}
		}
	})
	return c
}

// looks reads how far a group has come, and reports whether it has caught up.
func (e *Engine) looks(c *catchUp) bool {
	now, counters := e.clock.Now(), e.counters()
	acked, fresh := counters.Acked[0]+counters.Acked[1], int64(0)
	for _, k := range c.group {
		fresh += counters.FreshAt[k]
	}
	of := int64(len(c.group))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.acked) == 0 {
		c.freshAt, c.found.UnreadMessages = fresh, max(0, acked-fresh/of)
	}
	if fresh == c.freshAt {
		c.firstNs = now
	}
	was, known := c.acked.Add(now, acked)
	c.found.ReadMessages, c.found.ReadNs = (fresh-c.freshAt)/of, now-c.firstNs
	c.found.LeftMessages = max(0, acked-fresh/of)
	if known && fresh > c.freshAt && fresh >= was*of {
		c.found.CaughtUpNs = now - c.fromNs
		return true
	}
	return false
}
