package experiment

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// started is the simulated system with servers that plimsoll starts. It counts their starts and
// ends.
type started struct {
	sim      *sim.System
	up, down int
	refuse   error // of a start
}

func (s *started) Describe() system.Description { return s.sim.Describe() }
func (s *started) Check(c system.Check) error   { return s.sim.Check(c) }

func (s *started) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	return s.sim.Connect(ctx, o)
}

func (s *started) Provision(context.Context, system.Provision) (system.Provisioned, error) {
	s.up++
	return s, s.refuse
}

func (*started) NodeNames(system.Provision) []string { return nil }
func (*started) TLS() *tls.Config                    { return nil }
func (*started) CAFile() string                      { return "" }
func (*started) Endpoints() []string                 { return []string{"127.0.0.1:1"} }
func (*started) Credentials() system.Credentials     { return system.Credentials{} }
func (*started) Nodes() []system.Node                { return nil }
func (s *started) Stop(context.Context) error        { s.down++; return nil }

// list is a strategy that measures a list, and records the outcomes.
type list struct {
	all    []*Measurement
	taken  []Outcome
	refuse error
}

func (l *list) Next() (*Measurement, error) {
	if len(l.taken) == len(l.all) {
		return nil, nil
	}
	return l.all[len(l.taken)], nil
}

func (l *list) Take(_ context.Context, o Outcome) error {
	l.taken = append(l.taken, o)
	return l.refuse
}

type silent struct{}

func (silent) Phase(result.PhaseName, string) {}
func (silent) Interval(result.Interval)       {}

// measuring returns a measurement on named servers, whose outcomes do returns.
func measuring(t *testing.T, s *started, servers string, do ...Outcome) *Measurement {
	n := 0
	return &Measurement{Servers: servers,
		Job: &bench.Job{System: s, Runs: t.TempDir(), Clock: clock.Precise(),
			Workload: workload.Default(),
			Target:   &target.Target{Name: "t", System: "sim", Testbed: target.Testbed{Nodes: 1}}},
		Do: func(context.Context, *bench.Job) Outcome {
			n++
			return do[min(n, len(do))-1]
		}}
}

var (
	errBroken = errors.New("the servers are broken")
	good      = Outcome{Dir: "good", State: result.Complete}
	failing   = Outcome{Dir: "failing", State: result.Failed, Err: errBroken}
	refused   = Outcome{Err: errBroken}
)

func TestServersAreSharedAndRenewed(t *testing.T) {
	for name, c := range map[string]struct {
		servers   []string
		outcomes  [][]Outcome
		renewals  int
		ups       int
		completed int
	}{
		"one name":     {[]string{"a", "a", "a"}, [][]Outcome{{good}, {good}, {good}}, 1, 1, 3},
		"two names":    {[]string{"a", "b", "b"}, [][]Outcome{{good}, {good}, {good}}, 1, 2, 3},
		"a failed run": {[]string{"a", "a"}, [][]Outcome{{failing}, {good}}, 1, 2, 1},
		"no renewals":  {[]string{"a", "a"}, [][]Outcome{{failing}, {good}}, 0, 1, 1},
		"bounded": {[]string{"a", "a", "a"}, [][]Outcome{{failing}, {failing}, {good}}, 1, 2,
			1},
		"tried again":    {[]string{"a", "a"}, [][]Outcome{{good}, {refused, good}}, 1, 2, 2},
		"once only":      {[]string{"a", "a"}, [][]Outcome{{good}, {refused}}, 1, 2, 1},
		"on new servers": {[]string{"a"}, [][]Outcome{{refused, good}}, 1, 1, 0},
		"none shared":    {[]string{"", ""}, [][]Outcome{{good}, {good}}, 1, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s, l := &started{sim: sim.New(clock.Precise(), nil)}, &list{}
			for i, servers := range c.servers {
				l.all = append(l.all, measuring(t, s, servers, c.outcomes[i]...))
			}
			err := run(t.Context(), l,
				Options{Dir: t.TempDir(), Watch: silent{}, Renewals: c.renewals})
			if err != nil || len(l.taken) != len(l.all) {
				t.Fatalf("%+v, %v", l.taken, err)
			}
			completed := 0
			for _, o := range l.taken {
				if o.State == result.Complete {
					completed++
				}
			}
			if s.up != c.ups || s.down != s.up || completed != c.completed {
				t.Errorf("%d starts and %d ends of servers, %d complete; want %d and %d complete",
					s.up, s.down, completed, c.ups, c.completed)
			}
		})
	}
}

// A server that joins or leaves would change the cluster for the measurements after it: shared
// servers take no such fault, and servers of one run do.
func TestSharedServersKeepTheirNumber(t *testing.T) {
	s := &started{sim: sim.New(clock.Precise(), nil)}
	l := &list{all: []*Measurement{measuring(t, s, "a", good), measuring(t, s, "", good)}}
	for _, m := range l.all {
		m.Job.Workload.Faults = []workload.Fault{{Do: workload.FaultScaleOut,
			Target: workload.TargetExtra, At: time.Second, For: time.Second}}
	}
	if err := run(t.Context(), l, Options{Dir: t.TempDir(), Watch: silent{}}); err != nil {
		t.Fatal(err)
	}
	if err := l.taken[0].Err; s.up != 0 || err == nil || l.taken[1].Err != nil ||
		!strings.Contains(err.Error(), "changes the cluster for the runs after it") {
		t.Errorf("%d starts, %+v", s.up, l.taken)
	}
}

// Servers that did not start are not started again for each measurement.
func TestServersThatDoNotStartFailTheirMeasurements(t *testing.T) {
	s := &started{sim: sim.New(clock.Precise(), nil), refuse: errBroken}
	l := &list{all: []*Measurement{measuring(t, s, "a", good), measuring(t, s, "a", good)}}
	if err := run(t.Context(), l, Options{Dir: t.TempDir(), Watch: silent{}}); err != nil {
		t.Fatal(err)
	}
	if s.up != 1 || !errors.Is(l.taken[0].Err, errBroken) || !errors.Is(l.taken[1].Err, errBroken) {
		t.Errorf("%d starts, %+v", s.up, l.taken)
	}
}

func TestRunEndsWithItsContextAndItsStrategy(t *testing.T) {
	s := &started{sim: sim.New(clock.Precise(), nil)}
	ctx, cancel := context.WithCancel(t.Context())
	first := measuring(t, s, "a", good)
	first.Begin = func(*bench.Job) { cancel() }
	l := &list{all: []*Measurement{first, measuring(t, s, "a", good)}}
	if err := run(ctx, l, Options{Dir: t.TempDir(), Watch: silent{}}); err != nil ||
		len(l.taken) != 1 || s.down != 1 {
		t.Errorf("%+v, %d ends, %v", l.taken, s.down, err)
	}
	l = &list{all: []*Measurement{measuring(t, s, "a", good), measuring(t, s, "a", good)},
		refuse: errBroken}
	if err := run(t.Context(), l, Options{Dir: t.TempDir(), Watch: silent{}}); !errors.Is(err,
		errBroken) || len(l.taken) != 1 || s.down != 2 {
		t.Errorf("%+v, %d ends, %v", l.taken, s.down, err)
	}
}

// An error of a measurement that was interrupted is not told, unless it left something behind.
func TestWhatAnInterruptedMeasurementLeftIsTold(t *testing.T) {
	left := &bench.Leftover{Err: errors.New("delete the run's topics: no answer")}
	for _, failed := range []error{context.Canceled, errors.Join(context.Canceled, left)} {
		ctx, cancel := context.WithCancel(t.Context())
		m := measuring(t, &started{sim: sim.New(clock.Precise(), nil)}, "", Outcome{Err: failed})
		m.Begin = func(*bench.Job) { cancel() }
		err := run(ctx, &list{all: []*Measurement{m}}, Options{Dir: t.TempDir(), Watch: silent{}})
		if told := errors.Is(err, left); told != errors.Is(failed, left) || !told && err != nil {
			t.Errorf("%v: %v", failed, err)
		}
	}
}

func TestCellsTakeTheirOutcome(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		o    Outcome
		want Cell
	}{
		{t.Context(), good, Cell{State: Done, Run: "good"}},
		{t.Context(), failing, Cell{State: Failed, Run: "failing", Reason: errBroken.Error()}},
		{t.Context(), refused, Cell{State: Failed, Reason: errBroken.Error()}},
		{t.Context(), Outcome{Dir: "x/y", State: result.Failed, StateReason: "full"},
			Cell{State: Failed, Run: "y", Reason: "full"}},
		{t.Context(), Outcome{Dir: "y", State: result.Incomplete},
			Cell{State: Failed, Run: "y", Reason: "the measurement did not finish"}},
		{t.Context(), Outcome{Dir: "y", State: result.Interrupted, StateReason: "too dear"},
			Cell{State: Failed, Run: "y", Reason: "too dear"}},
		{ended, refused, Cell{State: Pending}},
		{ended, good, Cell{State: Done, Run: "good"}},
		{ended, Outcome{Dir: "y", State: result.Interrupted}, Cell{State: Pending, Run: "y"}},
	} {
		got := Cell{State: Running, Reason: "earlier"}
		got.Take(c.ctx, c.o)
		if got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.o, got, c.want)
		}
	}
}

func TestIntervalsAreBounded(t *testing.T) {
	var got []time.Duration
	for _, window := range []time.Duration{time.Second, 10 * time.Second, time.Hour} {
		got = append(got, Interval(window))
	}
	if !slices.Equal(got, []time.Duration{100 * time.Millisecond, 500 * time.Millisecond,
		time.Second}) {
		t.Error(got)
	}
}
