package bench_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
)

// expelling is a system that expels its consumers from the group after a while.
type expelling struct {
	*sim.System
	after time.Duration
}

type expellingCluster struct {
	system.Cluster
	expelling
}

func (e expelling) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := e.System.Connect(ctx, o)
	return expellingCluster{c, e}, err
}

func (e expellingCluster) OpenConsumer(ctx context.Context,
	o system.ConsumerOptions) (system.Consumer, error) {
	time.AfterFunc(e.after, func() { o.Failed(errors.New("expelled from the group")) })
	return e.Cluster.OpenConsumer(ctx, o)
}

// A consumer that cannot continue ends the run at once, and the run keeps its measurements.
func TestAConsumerThatStopsFailsTheRun(t *testing.T) {
	runs := t.TempDir()
	var dir string
	var ran error
	synctest.Test(t, func(t *testing.T) {
		e := expelling{sim.New(clock.Timers(), nil), 2500 * time.Millisecond}
		job := jobOn(t, e.System, runs, load(100, time.Minute), nil)
		job.System = e
		began := time.Now()
		dir, ran = bench.Run(t.Context(), job, silent{})
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the run went on for %v", took)
		}
	})
	const says = "consumer 0 of subscription-0 on "
	if ran == nil || !strings.Contains(ran.Error(), says) ||
		!strings.Contains(ran.Error(), "stopped: expelled from the group") {
		t.Error(ran)
	}
	s, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, s)
	if s.Run.State != result.Failed || s.Run.Counters.Acked < 200 ||
		s.Run.Ledger.Subscriptions[0].Lost > 0 {
		t.Errorf("%s: %+v", s.Run.State, s.Run.Counters)
	}
}
