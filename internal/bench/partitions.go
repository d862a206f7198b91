package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// checkAdding refuses partitions that the system cannot add under load.
func (j *Job) checkAdding() error {
	if _, any := j.Workload.AddedFrom(); !any {
		return nil
	}
	if why := j.System.Describe().WhyNoAdding(j.Settings); why != "" {
		return fmt.Errorf("fault %s: topics of %s get no partitions under load (%s): remove the "+
			"fault", workload.FaultAddPartitions, j.System.Describe().Name, why)
	}
	return nil
}

// onServers returns the faults that concern servers.
func onServers(all []workload.Fault) []workload.Fault {
	return slices.DeleteFunc(slices.Clone(all),
		func(f workload.Fault) bool { return f.Do == workload.FaultAddPartitions })
}

// topics returns the topics of the run as they are now.
func (s *session) topics() []system.Topic {
	if s.grown.Load() {
		return s.plan.Grown()
	}
	return s.plan.Topics()
}

// addPartitions adds partitions to the topics before messages go to them, and waits until every
// subscription has received from each.
func (b *faults) addPartitions(ctx context.Context, strike workload.Strike, windowNs int64) bool {
	from, _ := b.run.plan.Workload.AddedFrom()
	fault, usedNs := strike.Fault, windowNs+int64(from)
	f := result.Fault{Do: string(fault.Do), Target: string(fault.Target), Nodes: []string{},
		StartNs: b.run.sinceBegan()}
	at := b.add(f)
	err := b.addInTime(ctx, fault, usedNs-b.run.job.Clock.Now())
	if err == nil {
		f.InjectedNs = b.run.sinceBegan()
		f.Sentence = fmt.Sprintf("each topic has %d partitions, %d before", fault.ToPartitions,
			b.run.plan.Workload.Partitions)
		b.tell(at, f, f.Sentence)
		if b.wait(ctx, usedNs) {
			f.UsedNs = b.run.sinceBegan()
			err = b.awaitFound(ctx, fault, windowNs+int64(strike.At+fault.For), &f)
		}
	}
	if err != nil && ctx.Err() == nil {
		f.Error = err.Error()
		b.tell(at, f, "")
		return b.giveUp(err)
	}
	b.tell(at, f, "")
	return ctx.Err() == nil
}

// addInTime adds the partitions, in the time until messages go to them.
func (b *faults) addInTime(ctx context.Context, fault workload.Fault, withinNs int64) error {
	adder, able := b.run.cluster.(system.PartitionAdder)
	if !able {
		return fmt.Errorf("%s: topics of %s get none under load", fault.Do, b.run.run.System.Name)
	}
	// The run must have ended before a message is due that no server takes.
	within := max(time.Duration(withinNs)-time.Second, time.Duration(withinNs)/2)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := adder.AddPartitions(ctx, b.run.plan.Grown())
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: servers and producers did not have them all after half of "+
			"%s, when messages go to them: give it more time with for and duration, or see the "+
			"servers' logs: %w", fault.Do, quantity.ExactDuration(fault.For),
			cmp.Or(err, ctx.Err()))
	case err != nil:
		return fmt.Errorf("%s: see the servers' logs: %w", fault.Do, err)
	}
	b.run.grown.Store(true)
	return nil
}

// awaitFound waits until every subscription has received from every added partition.
func (b *faults) awaitFound(ctx context.Context, fault workload.Fault, untilNs int64,
	f *result.Fault,
) error {
	all := b.run.plan.ToFind()
	for b.found.Load() < all {
		if b.run.job.Clock.Now() >= untilNs {
			return fmt.Errorf("%s: consumers had received from %d of %d new partitions, those of "+
				"each subscription counted, %s after messages went to them: if the system's "+
				"clients look for partitions from time to time, give them more with for and "+
				"duration, or let them look more often", fault.Do, b.found.Load(), all,
				quantity.Duration(b.run.sinceBegan()-f.UsedNs))
		}
		if !clock.Sleep(ctx, result.FaultInterval/2) {
			return nil
		}
	}
	f.InSyncNs = b.run.sinceBegan()
	b.say("fault", fmt.Sprintf("every subscription has received from the new partitions, %s after "+
		"messages went to them", quantity.Duration(f.InSyncNs-f.UsedNs)))
	return nil
}
