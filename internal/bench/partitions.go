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
	i := slices.IndexFunc(j.Workload.Faults,
		func(f workload.Fault) bool { return f.Do == workload.FaultAddPartitions })
	if i < 0 {
		return nil
	}
	fault, d := j.Workload.Faults[i], j.System.Describe()
	if why := d.WhyNoAdding(j.Settings); why != "" {
		return fmt.Errorf("fault %s: topics of %s get no partitions under load (%s): remove the "+
			"fault", fault.Do, d.Name, why)
	}
	if d.Discovery == "" {
		return nil
	}
	if every := j.Settings.Duration(d.Discovery); every >= fault.For {
		return fmt.Errorf("fault %s: clients of %s look for new partitions every %s (%s), and the "+
			"fault lasts %s: lower it, or give the fault more time with for", fault.Do, d.Name,
			quantity.ExactDuration(every), d.Discovery, quantity.ExactDuration(fault.For))
	}
	return nil
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
			b.tell(at, f, "")
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
		return fmt.Errorf("%s: the partitions were not ready after %s: give the fault more time "+
			"with for and duration, or see the servers' logs: %w", fault.Do,
			quantity.Duration(int64(within)), cmp.Or(err, ctx.Err()))
	case err != nil:
		return fmt.Errorf("%s: see the servers' logs: %w", fault.Do, err)
	}
	b.run.grown.Store(true)
	evidence, err := b.run.cluster.ReadDurability(ctx, b.run.topics())
	if level := b.run.job.Workload.Durability; err == nil && evidence.Level != level {
		err = fmt.Errorf("they have level %d, and the load asks for %d", evidence.Level, level)
	}
	if err != nil {
		return fmt.Errorf("%s: read the durability of the new partitions back: %w", fault.Do, err)
	}
	return nil
}

// unready returns an error when messages are about to go to partitions that are not there, because
// the fault before kept the servers for too long.
func (b *faults) unready() error {
	from, adds := b.run.plan.Workload.AddedFrom()
	window := b.run.course.Window()
	if !adds || b.run.grown.Load() ||
		b.run.job.Clock.Now() < window.MeasureNs+int64(from)-int64(result.FaultInterval) {
		return nil
	}
	return fmt.Errorf("%s: messages would go to partitions that do not exist yet: leave more time "+
		"after the fault before it", workload.FaultAddPartitions)
}

// awaitFound waits until every subscription has received from every added partition. Partitions to
// which no message went, for lack of keys or messages, are left out when the time is over.
func (b *faults) awaitFound(ctx context.Context, fault workload.Fault, untilNs int64,
	f *result.Fault,
) error {
	subscriptions := int64(b.run.plan.Workload.Subscriptions)
	all, latest := b.run.plan.Added()*subscriptions, int64(0)
	for latest < all {
		now, want := b.found.Load(), b.used.Load()*subscriptions
		if now > latest {
			latest, f.FoundNs = now, b.run.sinceBegan()
		}
		if now < all && b.run.job.Clock.Now() >= untilNs {
			if now > 0 && now == want {
				break
			}
			f.FoundNs = 0
			return fmt.Errorf("%s: after %s, messages had arrived from %d of %d new partitions, "+
				"each counted once for each subscription: give the fault more time with for and "+
				"duration", fault.Do, quantity.Duration(b.run.sinceBegan()-f.UsedNs), now,
				cmp.Or(want, all))
		}
		if !clock.Sleep(ctx, result.FaultInterval/2) {
			f.FoundNs = 0
			return nil
		}
	}
	said := fmt.Sprintf("every subscription has received from the new partitions, %s after "+
		"messages went to them", quantity.Duration(f.FoundNs-f.UsedNs))
	if unused := b.run.plan.Added() - latest/subscriptions; unused > 0 {
		said += fmt.Sprintf(", except from %d, to which no message went", unused)
	}
	f.Sentence = joined(f.Sentence, said)
	b.say("fault", said)
	return nil
}
