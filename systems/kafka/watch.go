package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// lookEvery is how often a watch looks up the topics of consumers that received nothing.
	lookEvery = 5 * time.Second
	// certain is the number of successive answers that prove that a topic does not exist. One
	// could come from a broker that is still reading the cluster's metadata.
	certain = 2
)

// listener is a consumer as a watch knows it.
type listener struct {
	driver.Receiver
	heard atomic.Bool // it has received messages since the watch looked
}

// watch fails the consumers of topics that were deleted. Brokers tell a consumer only that they do
// not know the topic, as they do while it moves, so the client library waits for it.
type watch struct {
	mu      sync.Mutex
	absent  map[*listener]int // successive answers that the consumer's topic does not exist
	running sync.WaitGroup
	end     context.CancelFunc // nil: it has not begun
	closed  bool
}

// add watches a consumer until remove.
func (w *watch) add(c *cluster, r *listener) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.end == nil {
		var ctx context.Context
		ctx, w.end = context.WithCancel(context.Background())
		w.absent = make(map[*listener]int)
		w.running.Go(func() {
			for clock.Sleep(ctx, lookEvery) {
				w.look(ctx, c)
			}
		})
	}
	w.absent[r] = 0
}

func (w *watch) remove(r *listener) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.absent, r)
}

func (w *watch) close() {
	w.mu.Lock()
	end := w.end
	w.closed = true
	w.mu.Unlock()
	if end != nil {
		end()
		w.running.Wait()
	}
}

// look asks once for the topics of all consumers that have received nothing since the last time.
func (w *watch) look(ctx context.Context, c *cluster) {
	silent := make(map[string][]*listener)
	w.mu.Lock()
	for r := range w.absent {
		if r.heard.Swap(false) {
			w.absent[r] = 0
		} else {
			silent[r.Options.Topic.Name] = append(silent[r.Options.Topic.Name], r)
		}
	}
	w.mu.Unlock()
	if len(silent) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	found, err := c.admin.ListTopics(ctx, slices.Collect(maps.Keys(silent))...)
	if err != nil {
		return // no broker answers: it asks again
	}
	for name, consumers := range silent {
		gone := errors.Is(found[name].Err, kerr.UnknownTopicOrPartition)
		for _, r := range consumers {
			if w.count(r, gone) >= certain {
				r.Fail(fmt.Errorf("the topic %s was deleted", name))
			}
		}
	}
}

// count counts an answer about a consumer's topic, and returns the successive ones that it does
// not exist.
func (w *watch) count(r *listener, gone bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, watched := w.absent[r]
	if !watched || !gone {
		before = -1
	}
	if watched {
		w.absent[r] = before + 1
	}
	return before + 1
}
