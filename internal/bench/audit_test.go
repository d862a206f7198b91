package bench_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
)

// forgetful is a system that forgets messages after their delivery to tailing readers: an audit
// misses the first few.
type forgetful struct {
	*sim.System
	forgets int
	refuses bool // to let the audit read
}

func (f forgetful) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := f.System.Connect(ctx, o)
	return &forgetting{Cluster: c, forgetful: f}, err
}

type forgetting struct {
	system.Cluster
	forgetful
	reserved bool
}

func (f *forgetting) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	if f.refuses && o.Subscription == "audit" && f.reserved {
		return nil, errors.New("no stream of that name")
	}
	f.reserved = f.reserved || o.Subscription == "audit"
	if receive, left := o.Receive, f.forgets; o.Subscription == "audit" {
		o.Receive = func(m system.Received) {
			if left--; left < 0 {
				receive(m)
			}
		}
	}
	return f.Cluster.OpenConsumer(ctx, o)
}

// audited runs 2,000 messages and an audit on a system.
func audited(t *testing.T, f forgetful) *result.Saved {
	t.Helper()
	w := load(1000, 2*time.Second)
	w.Partitions, w.Audit = 1, true
	return onSimAs(t, w, nil, func(job *bench.Job, s *sim.System) {
		f.System = s
		job.System, job.Idle = f, time.Second
	})
}

// Only an audit finds messages that were delivered and are lost since. Its latencies are in no
// series.
func TestTruthAuditFindsWhatIsGone(t *testing.T) {
	for _, gone := range []int{0, 7} {
		// The message that proves the partition is the first one.
		s := audited(t, forgetful{forgets: gone + min(gone, 1)})
		all := s.Run.Ledger.Subscriptions
		if len(all) != 2 || all[0].Lost != 0 || all[1].Subscription != "audit" ||
			all[1].Lost != int64(gone) || all[1].Acked != 2000 {
			t.Errorf("%d forgotten, found %+v", gone, all)
		}
		if n := s.Run.Summary.Series(result.EndToEnd).Count; n != 2000 {
			t.Errorf("%d end-to-end latencies of 2,000 messages", n)
		}
	}
}

// An audit that cannot read proves nothing: neither that everything exists, nor that anything is
// lost.
func TestTruthAuditThatCannotRead(t *testing.T) {
	s := audited(t, forgetful{refuses: true})
	all := s.Run.Ledger.Subscriptions
	if s.Run.State != result.Complete || all[0].Lost != 0 || all[1].Lost != 0 ||
		all[1].Unread != 2000 {
		t.Errorf("%s, %+v", s.Run.State, all)
	}
	if !slices.ContainsFunc(s.Events,
		func(e result.Event) bool {
			return strings.Contains(e.Sentence,
				"no stream of that name")
		}) {
		t.Errorf("no event says why: %v", s.Events)
	}
}

// amnesiac is a system whose servers came back without some partitions.
type amnesiac struct {
	*sim.System
	gone   map[int]bool
	silent bool // the servers do not answer
}

func (a amnesiac) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := a.System.Connect(ctx, o)
	return amnesia{c, a}, err
}

type amnesia struct {
	system.Cluster
	amnesiac
}

func (a amnesia) Leader(_ context.Context, _ system.Topic, partition int) (string, error) {
	switch {
	case a.silent:
		return "", errors.New("no answer")
	case a.gone[partition]:
		return "", fmt.Errorf("%w: no such queue", system.ErrNoTopic)
	}
	return "n1", nil
}

// A partition counts as gone only if the servers answer that they do not have it.
func TestAuditCountsGonePartitions(t *testing.T) {
	for name, c := range map[string]struct {
		system amnesiac
		gone   int
	}{
		"all there": {amnesiac{}, 0},
		"two gone":  {amnesiac{gone: map[int]bool{1: true, 3: true}}, 2},
		"silent":    {amnesiac{gone: map[int]bool{1: true}, silent: true}, 0},
	} {
		w := load(1000, time.Second)
		w.Audit = true
		s := onSimAs(t, w, nil, func(job *bench.Job, s *sim.System) {
			c.system.System = s
			job.System, job.Idle = c.system, time.Second
		})
		if n := s.Run.Ledger.GonePartitions; n != c.gone {
			t.Errorf("%s: %d partitions are gone, want %d", name, n, c.gone)
		}
	}
}
