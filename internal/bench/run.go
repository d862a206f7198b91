package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Bounds of the end of a run: closeLimit for closing clients and connections, stopLimit for
// stopping servers, which hand over their leaderships.
const (
	closeLimit = 10 * time.Second // closeTime adds what a crowd takes
	stopLimit  = 30 * time.Second
)

// session is a run under way. It is used by one goroutine.
type session struct {
	job        *Job
	watch      Watch
	run        result.Run
	writer     *result.Writer
	plan       load.Plan
	workers    []load.Worker
	failures   chan string  // the first failure of a worker's client
	dismiss    func() error // ends the part of workers elsewhere; nil: none
	cluster    system.Cluster
	trust      *target.Trust // of a testbed with encrypted connections
	testbed    *testbed.Testbed
	held       bool         // the testbed belongs to the caller
	rejoin     func() error // lets load and servers run on all CPUs again; nil: they already do
	created    []system.Topic
	grown      atomic.Bool     // the topics have the partitions that a fault added
	injector   system.Injector // nil: no faults
	stopReason string          // why the run itself ended the load; empty: it did not
	beganNs    int64           // the run's time 0 on the clock

	observer   observer
	observedNs int64 // time of the last reading
	// toldSeconds is the CPU time of simulated servers at the last reading.
	toldSeconds float64
	ended       []result.ServerEnd
	unlimited   error // why the machine's limits are unknown
	gauges      *gauges
}

// Run does the job and returns the run's directory. When ctx is cancelled, the run ends cleanly,
// keeps its measurements, and has the state interrupted. An error with an empty directory means
// that nothing was measured and nothing is left.
func Run(ctx context.Context, job *Job, watch Watch) (dir string, err error) {
	if r, able := job.System.(system.Embedded); able && job.Cluster == nil && !job.passing {
		r.Renew()
	}
	s := &session{job: job, watch: watch, failures: make(chan string, 1), beganNs: job.Clock.Now()}
	s.run = newResult(job)
	s.writer, err = result.Create(job.Runs, &s.run)
	if err != nil {
		return "", err
	}
	if job.Began != nil {
		job.Began(s.writer.Dir())
	}
	defer func() {
		if left := s.tearDown(); left != nil {
			err = errors.Join(err, &Leftover{left})
		}
	}()
	if err := s.prepare(ctx); err != nil {
		s.writer.Discard()
		return "", err
	}
	defer s.makeRoom()()
	return s.writer.Dir(), s.measure(ctx)
}

// Leftover is the error of what could not be undone: topics or servers may still be there. It is
// told even if the user interrupted the command.
type Leftover struct{ Err error }

func (l *Leftover) Error() string { return l.Err.Error() }
func (l *Leftover) Unwrap() error { return l.Err }

// LeftBy returns all that an error says was left behind; nil: nothing.
func LeftBy(err error) error {
	switch e := err.(type) { //nolint:errorlint // it looks at each error of a tree by itself
	case *Leftover:
		return e
	case interface{ Unwrap() []error }:
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, LeftBy(one))
		}
		return errors.Join(all...)
	case interface{ Unwrap() error }:
		return LeftBy(e.Unwrap())
	}
	return nil
}

// makeRoom prepares this process for the load, and returns what undoes it. A process whose crew
// offers the load needs no preparation.
func (s *session) makeRoom() (undo func()) {
	if s.job.Crew != nil {
		return func() {}
	}
	servers := 0
	if s.servesItself() {
		servers = 2
	}
	taken, _ := s.run.Environment.OwnCPUs()
	undo = load.MakeRoom(servers-taken, s.run.System.SharesHost && taken == 0)
	s.run.Environment.GoMaxProcs = runtime.GOMAXPROCS(0)
	s.run.Environment.Clock = s.job.Clock.Name()
	return undo
}

// servesItself reports whether the system's servers are in this process.
func (s *session) servesItself() bool {
	return s.job.embedded() || s.job.OnHosts == 0 && slices.ContainsFunc(s.run.System.Nodes,
		func(n result.Node) bool { return n.PID == os.Getpid() })
}

func newResult(job *Job) result.Run {
	now := time.Now().UTC()
	d, clients := job.System.Describe(), job.Clients()
	guarantee := d.Levels[job.Workload.Durability]
	r := result.Run{
		SchemaVersion: result.SchemaVersion,
		ID: result.Stamp(now) + "-" +
			result.NamePart(job.Target.Name+"-"+job.Workload.Name),
		Name: job.Target.Name, State: result.Running, StartedAt: now, PID: os.Getpid(),
		Plimsoll: job.Build, Environment: environment(job), Asked: job.Asked,
		Resolved: job.Resolved(),
		Load:     job.Load(), Seed: job.Workload.Seed, Trial: job.Trial, Bill: billOf(job),
		System: result.System{
			Name: d.Name, Client: d.Client, Endpoints: job.Target.Endpoints,
			Redelivery: job.redelivery(), ClientSpread: job.spread().How,
			PartitionsOwned: job.ownsPartitions(), Periods: job.periods(),
			Unordered: d.WhyUnordered(job.Settings),
			Clients:   &clients, Waits: job.Waits(),
		},
		Durability: result.Durability{
			Asked: int(job.Workload.Durability), How: guarantee.How,
			Meaning:  job.Workload.Durability.Meaning(),
			Evidence: []result.Fact{},
		},
		Verdicts: []result.Verdict{}, Warnings: []result.Warning{},
	}
	for _, set := range job.Settings.Applying(job.external(), job.Workload.Durability) {
		r.Settings = append(r.Settings,
			result.Setting{Group: d.Name, Name: set.Name, Value: set.Value})
	}
	return r
}

// hear handles a worker's event.
func (s *session) hear(e load.Event) {
	if e.Kind == load.Progress {
		s.watch.Phase(s.run.Phases[len(s.run.Phases)-1].Name, e.Sentence)
		return
	}
	select {
	case s.failures <- e.Sentence:
	default: // only the first one counts
	}
}

// begin ends the current phase, if any, and begins another.
func (s *session) begin(name result.PhaseName, sentence string) error {
	now := s.sinceBegan()
	if n := len(s.run.Phases); n > 0 {
		s.run.Phases[n-1].EndNs = now
	}
	s.run.Phases = append(s.run.Phases, result.Phase{Name: name, StartNs: now})
	s.watch.Phase(name, sentence)
	return errors.Join(
		s.writer.Event(
			result.Event{AtNs: now, Kind: "phase", Sentence: string(name) + ": " + sentence}),
		s.writer.Update(&s.run),
	)
}

func (s *session) sinceBegan() int64 { return s.job.Clock.Now() - s.beganNs }

// measure runs load, drain and account, and closes the run directory in any case.
func (s *session) measure(ctx context.Context) error {
	r := newRun(s)
	err := r.offer(ctx)
	if err == nil {
		err = r.drain(ctx)
	}
	for _, p := range r.activities {
		err = errors.Join(err, p.end())
	}
	err = errors.Join(err, r.account())
	if err == nil {
		err = r.unaccounted()
	}
	s.fillBill()
	s.finish(r.interrupted, err)
	if err != nil {
		err = fmt.Errorf("the run failed: %w", err)
	}
	return errors.Join(err, s.writer.Close(&s.run))
}

func (s *session) finish(interrupted bool, err error) {
	s.run.EndedAt = time.Now().UTC()
	if n := len(s.run.Phases); n > 0 {
		s.run.Phases[n-1].EndNs = s.sinceBegan()
	}
	s.run.Ended = unasked(s.ended, s.run.Faults)
	switch {
	case err != nil:
		s.run.State, s.run.StateReason = result.Failed, err.Error()
	case interrupted:
		s.run.State, s.run.StateReason = result.Interrupted, "stopped on request"
	case s.stopReason != "":
		s.run.State, s.run.StateReason = result.Interrupted, s.stopReason
	default:
		s.run.State = result.Complete
	}
}

// deleteTopics deletes the run's topics, so that a cluster that stays up is left as it was found.
func (s *session) deleteTopics(ctx context.Context) error {
	if s.job.Workload.Existing != nil {
		return s.deleteSubscriptions(ctx)
	}
	if s.testbed != nil && !s.held {
		return nil
	}
	created := s.created
	if _, adds := s.job.Workload.AddedFrom(); adds && len(created) == s.job.Workload.Topics {
		created = s.plan.Grown() // some partitions may exist although not all could be added
	}
	return deleteTopics(ctx, s.cluster, created,
		func(sentence string) { s.watch.Phase(result.PhaseAccount, sentence) })
}

// tearDown ends everything that prepare started.
func (s *session) tearDown() error {
	var errs []error
	step := func(what string, limit time.Duration, end func(context.Context) error) {
		// Each step has its own time limit, so that a slow one leaves no servers running.
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := end(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	s.gauges.close()
	s.deafen()
	if s.observer != nil {
		step("end the observation", closeLimit,
			func(context.Context) error { return s.observer.Close() })
	}
	if s.dismiss != nil {
		step("dismiss the workers", closeTime(s.job.Workload),
			func(context.Context) error { return s.dismiss() })
	}
	if s.rejoin != nil {
		step("give the CPUs back", closeLimit,
			func(context.Context) error { return s.rejoin() })
	}
	if s.cluster != nil {
		step("delete the run's topics", closeTime(s.job.Workload), func(ctx context.Context) error {
			err := s.deleteTopics(ctx)
			if err == nil || !s.held {
				return err
			}
			// Not necessary if the cluster ends with its owner.
			s.watch.Phase(result.PhaseAccount,
				"the run's topics could not be deleted and take up disk: "+err.Error())
			return nil
		})
		step("disconnect", closeTime(s.job.Workload), s.cluster.Close)
	}
	if s.testbed != nil && !s.held {
		step("stop the testbed", stopLimit, s.testbed.Close)
	}
	return errors.Join(errs...)
}
