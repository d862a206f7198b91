package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The time limits of a fault: leaderLimit for asking which server leads, injectLimit for the
// injection, healLimit for the heal, which may start servers.
const (
	leaderLimit = 10 * time.Second
	injectLimit = time.Minute
	healLimit   = 4 * time.Minute
	// checkLimit bounds the check that this machine can inject the faults.
	checkLimit = 30 * time.Second
	// mostLate is how late a fault may begin because the heal of another took long. A later fault
	// is left out.
	mostLate = time.Second
)

// FaultLimit is the longest that a fault may take in addition to its own length.
const FaultLimit = leaderLimit + injectLimit + healLimit

// Around a fault the run is read more often (result.FaultInterval): from aroundBefore before it to
// aroundAfter after its end.
const (
	aroundBefore = 5 * time.Second
	aroundAfter  = 30 * time.Second
)

// faults injects and heals a run's faults on a separate goroutine, for which end waits. The run's
// goroutine writes the events.
type faults struct {
	idle
	run     *run
	strikes []workload.Strike
	cancel  context.CancelFunc
	done    chan struct{} // closed when all are healed; nil: not begun

	mu      sync.Mutex
	all     []result.Fault
	rolling *result.Rolling // nil: there is no rolling restart
	events  []result.Event  // not yet written
	failed  error

	used, found atomic.Int64 // of the last reading: see load.Counters
}

// writtenAfter is the time after which a system has handed new topics and subscriptions to the
// kernel. One system confirms a queue's binding some seconds before that, and a power cut in
// between would unbind the queue.
const writtenAfter = 5 * time.Second

// readyFaults chooses the injector of the run's faults: the connected cluster where it can inject
// faults itself, otherwise the testbed's injector. Before a load with a power cut it lets the
// servers write the new topics to disk, so that the power cut can remove only later data.
func (s *session) readyFaults(ctx context.Context) error {
	if len(s.job.Workload.ServerFaults()) == 0 {
		return nil
	}
	if own, able := s.cluster.(system.Injector); able {
		s.injector = own
		return nil
	}
	s.injector = fault.New(s.testbed, s.job.Workload.Seed)
	if !slices.ContainsFunc(s.job.Workload.Faults,
		func(f workload.Fault) bool { return f.Do == workload.FaultPowerCut }) {
		return nil
	}
	s.watch.Phase(result.PhaseConnect, "letting the servers write their new topics to disk")
	select {
	case <-time.After(writtenAfter):
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.testbed.Sync(ctx)
}

// checkFaults refuses faults of servers that plimsoll did not start.
func (j *Job) checkFaults() error {
	all := j.Workload.ServerFaults()
	if len(all) == 0 || j.embedded() {
		return nil
	}
	c := fault.Cluster{System: j.System.Describe().Name, Base: j.dataDir(),
		Elsewhere: j.OnHosts > 0}
	if j.starts() {
		c.Provisioner, c.Provision = j.System.(system.Provisioner), j.provision("")
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkLimit)
	defer cancel()
	return fault.Check(ctx, all, c)
}

func newFaults(r *run) *faults { return &faults{run: r, strikes: r.job.Workload.Strikes()} }

// measured begins the faults.
func (b *faults) measured(ctx context.Context) {
	if len(b.strikes) == 0 {
		return
	}
	windowNs := b.run.course.Window().MeasureNs
	ctx, b.cancel = context.WithCancel(ctx)
	b.done = make(chan struct{})
	go func() {
		defer close(b.done)
		for _, strike := range b.strikes {
			if !b.strike(ctx, strike, windowNs) {
				return
			}
		}
	}()
}

// strike waits for the time of a fault, and injects it. It reports whether the next may follow.
func (b *faults) strike(ctx context.Context, s workload.Strike, windowNs int64) bool {
	if !b.wait(ctx, windowNs+int64(s.At)) {
		b.leaveOut(s, "the run ended before it")
		return true
	}
	if late := time.Duration(b.run.job.Clock.Now() - windowNs - int64(s.At)); late > mostLate &&
		s.Fault.Do != workload.FaultAddPartitions { // for which there is time until unready
		b.leaveOut(s, fmt.Sprintf("the fault before it was healed %s later",
			late.Round(time.Millisecond)))
		return true
	}
	switch {
	case s.Fault.Do == workload.FaultAddPartitions:
		return b.addPartitions(ctx, s, windowNs)
	case s.Fault.Do.Resizes():
		return b.resize(ctx, s.Fault)
	case s.Fault.Do.IsScenario():
		return b.roll(ctx, s.Fault)
	}
	return b.breakOnce(ctx, s.Fault, steps{})
}

// leaveOut records that a fault was not injected.
func (b *faults) leaveOut(s workload.Strike, why string) {
	b.say(result.EventLeftOut, fmt.Sprintf("%s %s at %s was left out: %s", s.Fault.Do,
		s.Fault.Target, s.At, why))
}

// steps are what a scenario does around a fault; nil: nothing. Their events are those of fault at.
type steps struct {
	before, after func(at int, f *result.Fault) error
}

// breakOnce injects a fault and heals it: when its time is over, when the run ends, or if the
// injection failed. It reports whether everything succeeded, the steps of a scenario too.
func (b *faults) breakOnce(ctx context.Context, fault workload.Fault, around steps) bool {
	f := result.Fault{
		Do: string(fault.Do), Target: string(fault.Target), Nodes: []string{},
		StartNs: b.run.sinceBegan(),
	}
	at := b.add(f)
	var err error
	f.Leader, err = b.leader(ctx, fault.Target)
	if err == nil && around.before != nil {
		if err = around.before(at, &f); err == nil {
			err = ctx.Err() // a run that has ended stops no server
		}
	}
	var injected string
	if err == nil {
		injected, err = b.inject(ctx, fault, &f)
	}
	if err == nil {
		b.tell(at, f, injected)
		b.wait(ctx, b.run.beganNs+f.InjectedNs+int64(fault.For))
	}
	err = b.heal(ctx, fault, at, &f, err)
	if err == nil && around.after != nil && ctx.Err() == nil {
		if err = around.after(at, &f); err != nil {
			f.Error = err.Error()
			b.tell(at, f, f.Error)
		}
	}
	b.mu.Lock()
	b.failed = err
	b.mu.Unlock()
	return err == nil
}

// heal heals a fault after its injection, which failed if err is not nil. It returns all errors.
func (b *faults) heal(ctx context.Context, fault workload.Fault, at int, f *result.Fault,
	err error) error {
	f.HealStartNs = b.run.sinceBegan()
	b.tell(at, *f, "")
	healing, cancel := context.WithTimeout(context.WithoutCancel(ctx), healLimit)
	defer cancel()
	healErr := b.run.injector.Heal(healing)
	if healErr == nil {
		f.HealedNs = b.run.sinceBegan()
	}
	switch {
	case err != nil && ctx.Err() == nil:
		err = fmt.Errorf("inject %s: %w", fault, err)
	case err != nil:
		err = nil // the run was stopped meanwhile
	}
	if healErr != nil {
		err = errors.Join(err, fmt.Errorf("heal %s: %w", fault, healErr))
	}
	sentence := "healed: " + cmp.Or(f.Sentence, fault.String())
	switch {
	case err != nil:
		f.Error, sentence = err.Error(), err.Error()
	case fault.Do.Resizes():
		sentence = "" // it is not undone
	}
	b.tell(at, *f, sentence)
	return err
}

// inject injects a fault, and returns what was done.
func (b *faults) inject(ctx context.Context, fault workload.Fault, f *result.Fault) (
	string, error,
) {
	ctx, cancel := context.WithTimeout(ctx, injectLimit)
	defer cancel()
	injected, err := b.run.injector.Inject(ctx, fault, f.Leader)
	if err != nil {
		return "", err
	}
	f.InjectedNs, f.Nodes = b.run.sinceBegan(), injected.Nodes
	f.Sentence = joined(f.Sentence, injected.Sentence)
	return injected.Sentence, nil
}

// joined returns what a fault did so far, and then.
func joined(before, then string) string {
	if before == "" {
		return then
	}
	return before + "; " + then
}

// leader asks the cluster which server leads. An unknown leader is an error only if the fault's
// target depends on it.
func (b *faults) leader(ctx context.Context, whom workload.FaultTarget) (string, error) {
	reader, able := b.run.cluster.(system.LeaderReader)
	if !able {
		return "", nil // the injector needs no leader
	}
	ctx, cancel := context.WithTimeout(ctx, leaderLimit)
	defer cancel()
	leader, err := reader.Leader(ctx, b.run.topics()[0], 0)
	if err != nil && slices.Contains([]workload.FaultTarget{workload.TargetLeader,
		workload.TargetFollower, workload.TargetMinority, workload.TargetMajority}, whom) {
		return "", fmt.Errorf("find the leader: %w", err)
	}
	return leader, nil
}

// wait waits for a time of the clock; it reports false when the run ends first.
func (b *faults) wait(ctx context.Context, untilNs int64) bool {
	return clock.Sleep(ctx, time.Duration(untilNs-b.run.job.Clock.Now()))
}

func (b *faults) add(f result.Fault) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, f)
	return len(b.all) - 1
}

// tell records the current state of a fault, and an event.
func (b *faults) tell(at int, f result.Fault, sentence string) {
	b.mu.Lock()
	b.all[at] = f
	b.mu.Unlock()
	if sentence != "" {
		b.say("fault", sentence)
	}
}

// say leaves an event for the run's goroutine to write.
func (b *faults) say(kind, sentence string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events,
		result.Event{AtNs: b.run.sinceBegan(), Kind: kind, Sentence: sentence})
}

// healed reports whether no fault is under way or to come.
func (b *faults) healed() bool {
	if b == nil || b.done == nil {
		return true
	}
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// interval writes the events, and returns an error if a fault could not be injected or healed.
func (b *faults) interval(e ended) error {
	if b.done == nil {
		return nil
	}
	b.used.Store(e.sample.Counters.Used)
	b.found.Store(e.sample.Counters.Found)
	r := b.run
	b.mu.Lock()
	events, failed := b.events, b.failed
	b.events, b.failed = nil, nil
	r.run.Faults = slices.Clone(b.all)
	r.run.Rolling = b.rolling
	b.mu.Unlock()
	if failed == nil && e.going {
		failed = b.unready()
	}
	if len(events) == 0 {
		return failed
	}
	errs := []error{failed}
	for _, one := range events {
		r.watch.Phase(e.phase, one.Sentence)
		errs = append(errs, r.writer.Event(one))
	}
	return errors.Join(append(errs, r.writer.Update(&r.run))...)
}

// drain waits until every fault is healed.
func (b *faults) drain(d *draining) { d.busy = d.busy || !b.healed() }

// end heals a fault that is under way and prevents further ones.
func (b *faults) end() error {
	if b.done == nil {
		return nil
	}
	b.cancel()
	<-b.done
	return b.interval(ended{phase: result.PhaseDrain})
}

// length returns a short interval around faults.
func (b *faults) length(fromNs int64) int64 {
	if b.done == nil {
		return 0
	}
	for _, s := range b.strikes {
		at := b.run.course.Window().MeasureNs + int64(s.At)
		if fromNs >= at-int64(aroundBefore) && fromNs < at+int64(s.Fault.For+aroundAfter) {
			return int64(result.FaultInterval)
		}
	}
	return 0
}
