package bench

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

const (
	gaugeEvery = time.Second
	// gaugedTopics bounds the topics of a reading, and so its cost.
	gaugedTopics = 100
)

// gauges reads the servers' own figures, and the size of their data from the file system, on
// separate goroutines, so that servers that do not answer delay nothing.
type gauges struct {
	reader system.GaugeReader // nil: the system has none
	topics []system.Topic
	dirs   []dataDir
	stop   context.CancelFunc
	asking sync.WaitGroup

	mu     sync.Mutex
	latest []result.Gauge
	sizes  []result.Gauge
	failed error // the first
}

// newGauges starts the readings. It returns nil if there is nothing to read.
func newGauges(c system.Cluster, topics []system.Topic, dirs []dataDir) *gauges {
	reader, able := c.(system.GaugeReader)
	able = able && len(topics) > 0
	if !able && len(dirs) == 0 {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &gauges{reader: reader, topics: topics[:min(len(topics), gaugedTopics)], dirs: dirs,
		stop: stop}
	if able {
		g.asking.Go(func() { g.ask(ctx) })
	}
	if len(dirs) > 0 {
		g.asking.Go(func() { g.sizeUp(ctx) })
	}
	return g
}

func (g *gauges) ask(ctx context.Context) {
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
		g.failed = cmp.Or(g.failed, err)
		return
	}
	g.latest = nil
	for _, one := range read {
		g.latest = append(g.latest, result.Gauge(one))
	}
}

// sizeUp follows the size of the nodes' data.
func (g *gauges) sizeUp(ctx context.Context) {
	dirs := g.dirs
	for again := true; again && len(dirs) > 0; again = clock.Sleep(ctx, sizeEvery) {
		var read []result.Gauge
		var failed error
		var followed []dataDir
		for _, d := range dirs {
			sizes, err := d.size(ctx)
			if ctx.Err() != nil {
				return
			}
			if failed = cmp.Or(failed, err); err == nil {
				read, followed = append(read, sizes...), append(followed, d)
			}
		}
		dirs = followed
		g.mu.Lock()
		g.sizes, g.failed = read, cmp.Or(g.failed, failed)
		g.mu.Unlock()
	}
}

// take returns the readings since the last call.
func (g *gauges) take() []result.Gauge {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	taken := slices.Concat(g.latest, g.sizes)
	g.latest, g.sizes = nil, nil
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

// close ends the readings.
func (g *gauges) close() {
	if g != nil {
		g.stop()
		g.asking.Wait()
	}
}
