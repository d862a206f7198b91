package bench

import (
	"context"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	gaugeEvery = time.Second
	// gaugedTopics bounds the cost of a question.
	gaugedTopics = 100
)

// gauges asks a system's servers for figures of their own, in a goroutine of its own, so that
// servers that do not answer delay nothing.
type gauges struct {
	reader system.GaugeReader
	topics []system.Topic
	stop   context.CancelFunc
	ended  chan struct{}

	mu     sync.Mutex
	latest []result.Gauge
	failed error // the first
}

// newGauges begins to ask. It returns nil for a system without such figures.
func newGauges(c system.Cluster, topics []system.Topic) *gauges {
	reader, able := c.(system.GaugeReader)
	if !able || len(topics) == 0 {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &gauges{reader: reader, topics: topics[:min(len(topics), gaugedTopics)], stop: stop,
		ended: make(chan struct{})}
	go g.run(ctx)
	return g
}

func (g *gauges) run(ctx context.Context) {
	defer close(g.ended)
	for again := true; again; again = clock.Sleep(ctx, gaugeEvery) {
		within, cancel := context.WithTimeout(ctx, gaugeEvery)
		read, err := g.reader.ReadGauges(within, g.topics)
		cancel()
		if ctx.Err() == nil {
			g.keep(read, err)
		}
	}
}

func (g *gauges) keep(read []system.Gauge, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		if g.failed == nil {
			g.failed = err
		}
		return
	}
	g.latest = nil
	for _, one := range read {
		g.latest = append(g.latest,
			result.Gauge{Name: one.Name, Unit: one.Unit, Value: one.Value})
	}
}

// take returns what was read since the last call.
func (g *gauges) take() []result.Gauge {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	taken := g.latest
	g.latest = nil
	return taken
}

// gaps returns the first error, after which figures are missing.
func (g *gauges) gaps() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// close ends the questions.
func (g *gauges) close() {
	if g != nil {
		g.stop()
		<-g.ended
	}
}
