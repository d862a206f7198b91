package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// checkResize refuses a change of the cluster's size where the system cannot have one, and of a
// cluster that other runs use too.
func (j *Job) checkResize() error {
	i := slices.IndexFunc(j.Workload.Faults,
		func(f workload.Fault) bool { return f.Do.Resizes() })
	if i < 0 || j.embedded() {
		return nil
	}
	d, do := j.System.Describe(), j.Workload.Faults[i].Do
	why := "plimsoll's driver can change the number of their servers only before the load"
	if d.RefuseResize != nil {
		why = d.RefuseResize(j.request())
	}
	switch {
	case why != "":
		return fmt.Errorf("fault %s: servers of %s neither join nor leave under load (%s): remove "+
			"the fault", do, d.Name, why)
	case j.Cluster != nil:
		return fmt.Errorf("fault %s: it changes the cluster for the runs after it: measure it "+
			"with plimsoll run, which starts a cluster for each run", do)
	}
	return nil
}

// resize has a machine join the cluster or leave it, and waits until all copies are complete.
func (b *faults) resize(ctx context.Context, fault workload.Fault) bool {
	resizer, able := b.run.injector.(system.Resizer)
	scaler, scales := b.run.cluster.(system.Scaler)
	if !able || !scales {
		return b.giveUp(fmt.Errorf("%s: the number of servers of %s stays", fault.Do,
			b.run.run.System.Name))
	}
	nodes, err := resizer.Next(fault.Do)
	if err != nil {
		return b.giveUp(fmt.Errorf("%s: %w", fault.Do, err))
	}
	limit, cancel := context.WithTimeout(ctx, fault.For)
	defer cancel()
	r := resizing{faults: b, ctx: ctx, limit: limit, fault: fault,
		resize: system.Resize{Nodes: nodes, Topics: b.run.plan.Topics(),
			Operate: resizer.Operate}}
	one := fault
	one.For = 0 // it is not healed
	if fault.Do == workload.FaultScaleOut {
		return b.breakOnce(ctx, one, steps{after: r.then(scaler.Join, true)})
	}
	return b.breakOnce(ctx, one, steps{before: r.then(scaler.Leave, false),
		after: r.then(scaler.Forget, true)})
}

// resizing is a change of the cluster's size.
type resizing struct {
	*faults
	ctx, limit context.Context
	fault      workload.Fault
	resize     system.Resize
}

// then does a part of the change, and waits until all copies are complete. After the last part the
// change is.
func (r resizing) then(
	do func(context.Context, system.Resize) (string, error), last bool,
) func(at int, f *result.Fault) error {
	return func(at int, f *result.Fault) error {
		sentence, err := do(r.limit, r.resize)
		if r.ctx.Err() != nil {
			return nil // the run says why it ended
		}
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

// gaveUp says what the change lacks.
func (r resizing) gaveUp(err error) error {
	var names []string
	for _, n := range r.resize.Nodes {
		names = append(names, n.Name)
	}
	who := fmt.Sprintf("%s of %s", r.fault.Do, strings.Join(names, ", "))
	if r.limit.Err() == nil {
		return fmt.Errorf("%s failed: see the servers' logs: %w", who, err)
	}
	return fmt.Errorf("%s is given up after %s: see the servers' logs, or give it more time with "+
		"for and duration: %w", who, quantity.ExactDuration(r.fault.For), err)
}
