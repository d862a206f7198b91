package bench

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// gauged is a cluster whose servers answer, refuse and hang in turn.
type gauged struct {
	system.Cluster
	asked int
}

func (g *gauged) ReadGauges(ctx context.Context, topics []system.Topic) ([]system.Gauge, error) {
	g.asked++
	switch g.asked {
	case 1:
		return []system.Gauge{{Name: "dead rows", Value: float64(len(topics))}}, nil
	case 2:
		return nil, errors.New("not now")
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A figure is taken once. If servers refuse or hang, only the figure is missing.
func TestGauges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &gauged{}
		g := newGauges(c, make([]system.Topic, 2*gaugedTopics), nil)
		synctest.Wait()
		got := g.take()
		if len(got) != 1 || got[0].Name != "dead rows" || got[0].Value != gaugedTopics {
			t.Errorf("read %v", got)
		}
		if again := g.take(); again != nil || g.gaps() != nil {
			t.Errorf("read twice: %v, %v", again, g.gaps())
		}
		time.Sleep(3 * gaugeEvery)
		if err := g.gaps(); err == nil || err.Error() != "not now" || g.take() != nil {
			t.Errorf("got %v", err)
		}
		g.close()
		if c.asked < 3 {
			t.Errorf("asked %d times", c.asked)
		}
	})
	if g := newGauges(struct{ system.Cluster }{}, make([]system.Topic, 1), nil); g != nil {
		t.Error("a system without figures is asked")
	}
	var none *gauges
	if none.take() != nil || none.gaps() != nil {
		t.Error("no gauges have figures")
	}
	none.close()
}
