package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
)

// group is the consumers of one subscription that this connection has opened,
// and how the partitions are shared among them.
type group struct {
	name    string
	topic   system.Topic
	records recordPool

	mu      sync.Mutex
	members map[*consumer]int // partitions of each
}

// join returns the group of a subscription with one more member.
func (c *cluster) join(t system.Topic, subscription string, r *consumer) *group {
	name := t.Name + "." + subscription
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[name]
	if g == nil {
		g = &group{name: name, topic: t, members: make(map[*consumer]int)}
		c.groups[name] = g
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members[r] = 0
	return g
}

func (g *group) leave(r *consumer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.members, r)
}

func (g *group) gain(r *consumer, partitions map[string][]int32) {
	g.change(r, len(partitions[g.topic.Name]))
}

func (g *group) lose(r *consumer, partitions map[string][]int32) {
	g.change(r, -len(partitions[g.topic.Name]))
}

func (g *group) change(r *consumer, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, in := g.members[r]; in {
		g.members[r] += by
	}
}

// unsettled says what is missing until the partitions are shared out evenly.
func (g *group) unsettled() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	total, least, most := 0, g.topic.Partitions, 0
	for _, n := range g.members {
		total, least, most = total+n, min(least, n), max(most, n)
	}
	if total != g.topic.Partitions || most > least+1 {
		return fmt.Errorf("of %d partitions %d are with the %d consumers of the group, %d to %d each", g.topic.Partitions, total, len(g.members), least, most)
	}
	return nil
}

// Settle waits until the partitions are shared out evenly among the consumers
// of the subscription that this connection has opened.
func (r *consumer) AwaitAssignment(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime([]system.Topic{r.group.topic}))
	defer cancel()
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	for {
		err := r.group.unsettled()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the consumer group did not settle: %w", err)
		}
	}
}

// recordPool keeps what fetched records are decoded into, for the consumers of
// a group. Its methods may be called from any goroutine.
type recordPool struct {
	pool sync.Pool
}

// GetRecords returns an empty slice with room for n records.
func (p *recordPool) GetRecords(n int) []kgo.Record {
	if kept, ok := p.pool.Get().(*[]kgo.Record); ok && cap(*kept) >= n {
		return (*kept)[:0]
	}
	return make([]kgo.Record, 0, n)
}

// PutRecords takes a slice back.
func (p *recordPool) PutRecords(records []kgo.Record) { p.pool.Put(&records) }
