package fleet

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) {
	if argument := os.Getenv(crowdVariable); argument != "" {
		if err := runCrowd(argument); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

const version = "v1"

// common is the simulated system as one that all workers of a test share, as they share servers.
type common struct {
	system.System
	mu      sync.Mutex
	cluster system.Cluster
	users   int
}

func newCommon() *common { return &common{System: sim.New(clock.Precise(), nil)} }

func (c *common) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cluster == nil {
		cluster, err := c.System.Connect(ctx, o)
		if err != nil {
			return nil, err
		}
		c.cluster = cluster
	}
	c.users++
	return &connection{c.cluster, c}, nil
}

// connection is a connection to the system that all share: the last one closes it.
type connection struct {
	system.Cluster
	of *common
}

func (c *connection) Close(ctx context.Context) error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.users--; c.of.users > 0 {
		return nil
	}
	cluster := c.of.cluster
	c.of.cluster = nil
	return cluster.Close(ctx)
}

// listen opens a coordinator for so many workers.
func listen(t testing.TB, workers int, names ...string) *Coordinator {
	t.Helper()
	var lab Lab
	for _, name := range names {
		workers++
		lab.Workers = append(lab.Workers, Machine{Name: name})
	}
	c, err := Listen(Options{Address: "127.0.0.1:0", Workers: workers, Lab: lab,
		Version: version, Clock: clock.Precise()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// hired is a worker of a test.
type hired struct {
	leave context.CancelFunc // as when its process is killed
	ended chan error
}

// hire starts a worker on a system.
func hire(t *testing.T, c *Coordinator, of system.System, name string) *hired {
	t.Helper()
	return hireWith(t, WorkerOptions{Coordinator: c.Address(), Token: c.Token(), Name: name,
		Host: "here", Version: version, Cores: 1, Systems: system.NewRegistry(of),
		Clock: clock.Precise()})
}

func hireWith(t *testing.T, o WorkerOptions) *hired {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h := &hired{leave: cancel, ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ended <- Work(ctx, o)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return h
}

// fleetOf opens a fleet of so many workers on a system.
func fleetOf(t *testing.T, of system.System, workers int) (c *Coordinator, all []*hired) {
	t.Helper()
	c = listen(t, workers)
	for i := range workers {
		all = append(all, hire(t, c, of, fmt.Sprintf("w%d", i)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Await(ctx); err != nil {
		t.Fatal(err)
	}
	return c, all
}

func workloadOf(length time.Duration) workload.Workload {
	return workload.Workload{
		Name: "fleet", Topics: 2, Partitions: 3, Producers: 4, Subscriptions: 2, Consumers: 3,
		Clients: workload.ClientsDefault,
		Message: workload.Message{Size: 64, Incompressible: 1},
		Keys:    workload.Keys{Kind: workload.KeysNone}, Spread: workload.SpreadClient,
		Load: workload.Load{Arrivals: workload.ArrivalsConstant,
			Segments: []workload.Segment{{From: 2000, To: 2000, For: length}}},
		Duration: length, Drain: 10 * time.Second, Delivery: workload.AtLeastOnce,
		Durability: workload.AsyncAsync, MaxInFlight: 1000, Seed: 1,
		Isolate: workload.Isolate{CPUs: workload.CPUsShared},
	}
}

// jobOn is a job of 2,000 messages a second on a system, in several lanes.
func jobOn(t testing.TB, of system.System, length time.Duration, settings ...target.Setting,
) *bench.Job {
	t.Helper()
	w := workloadOf(length)
	resolved, err := system.Resolve(of.Describe().Settings, settings)
	if err != nil {
		t.Fatal(err)
	}
	return &bench.Job{Workload: &w, System: of, Settings: resolved, Runs: t.TempDir(),
		Target: &target.Target{Name: "common", System: of.Describe().Name, Settings: settings,
			Endpoints: []string{"common:1"}},
		Idle:  time.Second / 2,
		Clock: clock.Precise()}
}

// ran runs a job and reads it back.
func ran(t *testing.T, job *bench.Job) (*result.Saved, error) {
	t.Helper()
	dir, failed := bench.Run(t.Context(), job, silent{})
	if dir == "" {
		t.Fatal(failed)
	}
	saved, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return saved, failed
}

type silent struct{}

func (silent) Phase(result.PhaseName, string) {}
func (silent) Interval(result.Interval)       {}
