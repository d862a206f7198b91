package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// checkResize refuses a change of the cluster's size where the system cannot have one.
func (j *Job) checkResize() error {
	i := slices.IndexFunc(j.Workload.Faults,
		func(f workload.Fault) bool { return f.Do.Resizes() })
	if i < 0 || j.embedded() {
		return nil
	}
	if why := system.WhyNoResize(j.System, j.request()); why != "" {
		return fmt.Errorf("fault %s: servers of %s neither join nor leave under load (%s): remove "+
			"the fault", j.Workload.Faults[i].Do, j.System.Describe().Name, why)
	}
	return nil
}

// CheckShared refuses a change of the cluster's size where other runs use the cluster too.
func (j *Job) CheckShared() error {
	if extra, _ := j.Workload.Extra(); extra == 0 || j.embedded() {
		return nil
	}
	return errors.New("a server that joins or leaves changes the cluster for the runs after it: " +
		"measure it with plimsoll run, which starts a cluster for each run")
}

// resize has a machine join the cluster or leave it, and waits until all copies are complete.
func (b *faults) resize(ctx context.Context, fault workload.Fault) bool {
	resizer, able := b.run.injector.(system.Resizer)
	scaler, scales := b.run.cluster.(system.Scaler)
	if !able || !scales {
		return b.giveUp(fmt.Errorf("%s: the number of servers of %s cannot change",
			fault.Do, b.run.run.System.Name))
	}
	nodes, err := resizer.Next(fault.Do)
	if err != nil {
		return b.giveUp(fmt.Errorf("%s: %w", fault.Do, err))
	}
	limit, cancel := context.WithTimeout(ctx, fault.For)
	defer cancel()
	limit, stop := whileAlive(limit, nodes, b.run.nodes)
	defer stop()
	r := resizing{faults: b, ctx: ctx, limit: limit, fault: fault,
		resize: system.Resize{Nodes: nodes, Topics: b.run.topics(),
			Operate: resizer.Operate}}
	one := fault
	one.For = 0 // it is not healed
	if fault.Do == workload.FaultScaleOut {
		return b.breakOnce(ctx, one, steps{after: r.then(scaler.Join, true)})
	}
	return b.breakOnce(ctx, one, steps{before: r.then(scaler.Leave, false),
		after: r.then(scaler.Forget, true)})
}

// whileAlive returns a context that also ends when one of the nodes has ended, with that as its
// cause. now returns the cluster's nodes; a node that has left is not among them.
func whileAlive(ctx context.Context, nodes []system.Node, now func() []system.Node) (
	context.Context, func(),
) {
	ctx, end := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for clock.Sleep(ctx, syncPoll) {
			for _, n := range now() {
				if n.Ended && slices.ContainsFunc(nodes,
					func(of system.Node) bool { return of.Name == n.Name }) {
					end(fmt.Errorf("%s has ended", n.Name))
				}
			}
		}
	}()
	return ctx, func() { end(nil); <-done }
}

// nodes returns the nodes of the run's cluster, if plimsoll started it.
func (s *session) nodes() []system.Node {
	if s.testbed == nil {
		return nil
	}
	return s.testbed.Cluster().Nodes()
}

// resizing is a change of the cluster's size.
type resizing struct {
	*faults
	ctx, limit context.Context
	fault      workload.Fault
	resize     system.Resize
}

// then does a part of the change, and waits until all copies are complete. With the last part the
// change is complete.
func (r resizing) then(
	do func(context.Context, system.Resize) (string, error), last bool,
) func(at int, f *result.Fault) error {
	return func(at int, f *result.Fault) error {
		sentence, err := do(r.limit, r.resize)
		if err != nil {
			return r.gaveUp(err)
		}
		if sentence != "" {
			f.Sentence = joined(f.Sentence, sentence)
			r.tell(at, *f, sentence)
		}
		sinceNs, missing := r.untilSync(r.ctx, r.limit)
		switch {
		case missing != nil:
			return r.gaveUp(missing)
		case sinceNs == 0, !last:
			return nil
		}
		f.InSyncNs = sinceNs
		r.tell(at, *f, fmt.Sprintf("all copies are complete, %s after %s began",
			quantity.Duration(sinceNs-f.StartNs), f.Do))
		return nil
	}
}

// gaveUp says what the change lacks; nil: the run has ended, and says why.
func (r resizing) gaveUp(err error) error {
	select {
	case <-r.ctx.Done():
		return nil
	default:
	}
	var names []string
	for _, n := range r.resize.Nodes {
		names = append(names, n.Name)
	}
	what := fmt.Sprintf("%s of %s", r.fault.Do, strings.Join(names, ", "))
	switch cause := context.Cause(r.limit); {
	case cause == nil:
		return fmt.Errorf("%s failed: see the servers' logs: %w", what, err)
	case !errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("%s failed: %w: see its log", what, cause)
	}
	return fmt.Errorf("%s is given up after %s: see the servers' logs, or give it more time with "+
		"for and duration: %w", what, quantity.ExactDuration(r.fault.For), err)
}
