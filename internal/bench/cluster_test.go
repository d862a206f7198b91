package bench_test

import (
	"context"
	"crypto/tls"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
)

// started is the simulated system with a cluster that plimsoll starts on this machine.
type started struct {
	sim               *sim.System
	up, down, deleted int
	connected         [][]string // the endpoints of each
}

func (s *started) Describe() system.Description { return s.sim.Describe() }
func (s *started) Check(c system.Check) error   { return s.sim.Check(c) }

func (s *started) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	s.connected = append(s.connected, o.Endpoints)
	c, err := s.sim.Connect(ctx, o)
	return &counted{c, s}, err
}

func (s *started) Provision(context.Context, system.Provision) (system.Provisioned, error) {
	s.up++
	return s, nil
}

func (*started) NodeNames(system.Provision) []string { return nil }

func (*started) TLS() *tls.Config                { return nil }
func (*started) CAFile() string                  { return "" }
func (*started) Endpoints() []string             { return []string{"127.0.0.1:1"} }
func (*started) Credentials() system.Credentials { return system.Credentials{} }
func (*started) Nodes() []system.Node            { return nil }
func (s *started) Stop(context.Context) error    { s.down++; return nil }

// counted counts the topics that are deleted.
type counted struct {
	system.Cluster
	of *started
}

func (c *counted) DeleteTopic(ctx context.Context, t system.Topic) error {
	c.of.deleted++
	return c.Cluster.DeleteTopic(ctx, t)
}

// startedJob is the job of a run on such a cluster.
func startedJob(t *testing.T, s *started, runs string, settings map[string]string) *bench.Job {
	job := jobOn(t, s.sim, runs, load(1000, time.Second), settings)
	job.System, job.Target = s, &target.Target{Name: "sim", System: "sim",
		Testbed: target.Testbed{Nodes: 3}}
	return job
}

// Runs on the caller's cluster start no cluster, end none, and leave no topic behind.
func TestRunsShareACluster(t *testing.T) {
	const runs = 3
	s, dir, logs := &started{}, t.TempDir(), t.TempDir()
	var dirs []string
	synctest.Test(t, func(t *testing.T) {
		s.sim = sim.New(clock.Timers(), nil)
		job := startedJob(t, s, dir, nil)
		cluster, err := bench.OpenCluster(context.Background(), job, logs, silent{})
		if err != nil || cluster == nil {
			t.Fatal(err)
		}
		job.Cluster = cluster
		for range runs {
			one, err := bench.Run(context.Background(), job, silent{})
			if err != nil {
				t.Fatal(err)
			}
			dirs = append(dirs, one)
		}
		if s.down > 0 {
			t.Error("a run ended the cluster")
		}
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.up != 1 || s.down != 1 || s.deleted != runs || len(s.connected) != runs {
		t.Errorf("started %d, stopped %d, %d topics deleted, %d connections", s.up, s.down,
			s.deleted, len(s.connected))
	}
	for _, one := range dirs {
		saved, err := result.Read(one)
		if err != nil {
			t.Fatal(err)
		}
		if !saved.Run.System.Provisioned || len(saved.Run.System.Endpoints) != 1 ||
			saved.Run.Durability.Level == 0 {
			t.Errorf("%+v, %+v", saved.Run.System, saved.Run.Durability)
		}
	}
}

// An overloaded run with a bound on lateness drains the messages that it has handed over and
// counts the rest as unsent. Its intervals have the requested length.
func TestLateBoundsTheDrain(t *testing.T) {
	w := load(2_000, 2*time.Second)
	w.MaxInFlight = 40
	var dir string
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		job := jobOn(t, sim.New(clock.Timers(), nil), root, w,
			map[string]string{"capacity": "200/s"})
		job.Late, job.Interval = time.Second, 100*time.Millisecond
		began := time.Now()
		var err error
		if dir, err = bench.Run(context.Background(), job, silent{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	saved, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, saved)
	if c := saved.Run.Counters; c.Unknown > 0 || c.Acked < 600 || c.Acked > 660 ||
		c.Unsent != 4_000-c.Acked {
		t.Errorf("%+v", c)
	}
	measured := 0
	for _, i := range saved.Intervals {
		if i.Phase == result.PhaseMeasure {
			measured++
		}
	}
	if measured != 20 {
		t.Errorf("%d intervals in the window", measured)
	}
}
