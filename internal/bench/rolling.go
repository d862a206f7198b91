package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	syncPoll = 200 * time.Millisecond // between two checks that the servers are in sync
	// syncHolds is how long servers must report that they are in sync, because the report of a
	// restarted node may be outdated.
	syncHolds = time.Second
	syncLimit = 10 * time.Second // bounds one check
)

// checkRolling refuses a rolling restart of a system that cannot say when it is in sync.
func (s *session) checkRolling() error {
	if !slices.ContainsFunc(s.job.Workload.Faults,
		func(f workload.Fault) bool { return f.Do == workload.FaultRollingRestart }) {
		return nil
	}
	if _, able := s.cluster.(system.SyncReader); !able {
		return fmt.Errorf("fault %s: plimsoll cannot tell when the servers of %s are in sync, and "+
			"the next one may be stopped: use restart for one of them",
			workload.FaultRollingRestart, s.run.System.Name)
	}
	return nil
}

// roll restarts the machines one by one. It stops the next when the servers are in sync again, and
// gives up when all of it takes longer than the fault's time.
func (b *faults) roll(ctx context.Context, fault workload.Fault) bool {
	roller, able := b.run.injector.(system.Roller)
	if !able {
		return b.giveUp(fmt.Errorf("%s: the injector cannot restart machines", fault.Do))
	}
	machines := roller.Machines()
	b.mu.Lock()
	b.rolling = &result.Rolling{Machines: len(machines)}
	b.mu.Unlock()
	limit, cancel := context.WithTimeout(ctx, fault.For)
	defer cancel()
	for _, name := range machines {
		if ctx.Err() != nil {
			return false
		}
		one := workload.Fault{Do: fault.Do, Target: workload.FaultTarget(name), At: fault.At,
			ToVersion: fault.ToVersion}
		if !b.breakOnce(ctx, one, steps{after: func(at int, f *result.Fault) error {
			return b.awaitSync(ctx, limit, fault, at, f)
		}}) {
			return false
		}
	}
	return true
}

// giveUp ends the faults, and with them the run.
func (b *faults) giveUp(err error) bool {
	b.say("fault", err.Error())
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = err
	return false
}

// awaitSync waits until a restarted machine is in sync with the others. It returns nil when the
// run ends first.
func (b *faults) awaitSync(
	ctx, limit context.Context, fault workload.Fault, at int, f *result.Fault,
) error {
	sinceNs, missing := b.untilSync(ctx, limit)
	switch {
	case missing != nil:
		return fmt.Errorf("%s: %s was not in sync again %s after its start, and the rolling "+
			"restart is given up after %s, %s: see the logs of its servers, or give it more time "+
			"with for and duration: %w", fault.Do, strings.Join(f.Nodes, ", "),
			quantity.Duration(b.run.sinceBegan()-f.HealedNs),
			quantity.ExactDuration(fault.For), b.progress(fault), missing)
	case sinceNs > 0:
		f.InSyncNs = sinceNs
		b.tell(at, *f, fmt.Sprintf("%s is in sync again, %s after its stop began",
			strings.Join(f.Nodes, ", "), quantity.Duration(sinceNs-f.StartNs)))
	}
	return nil
}

// untilSync waits until the servers are in sync, and returns since when. If the limit ends before,
// it returns what is missing, and 0 and nil if the run does.
func (b *faults) untilSync(ctx, limit context.Context) (sinceNs int64, missing error) {
	for {
		switch err := b.inSync(limit); {
		case err == nil && sinceNs == 0:
			sinceNs, missing = b.run.sinceBegan(), nil
		case err == nil && b.run.sinceBegan()-sinceNs >= int64(syncHolds):
			return sinceNs, nil
		case err != nil && (limit.Err() == nil || missing == nil):
			missing, sinceNs = err, 0 // one that the limit ended says nothing new
		}
		if clock.Sleep(limit, syncPoll) {
			continue
		}
		select {
		case <-ctx.Done():
			return 0, nil // the run says why it ended
		default:
		}
		if missing == nil {
			missing = fmt.Errorf("they were in sync, but not yet for %s", syncHolds)
		}
		return 0, missing
	}
}

// progress reports how many machines are in sync again, and how long they took.
func (b *faults) progress(fault workload.Fault) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	done, longest := 0, int64(0)
	for _, f := range b.all {
		if f.Do == string(fault.Do) && f.InSyncNs > 0 {
			done, longest = done+1, max(longest, f.InSyncNs-f.StartNs)
		}
	}
	sentence := fmt.Sprintf("with %d of %d machines in sync again", done, b.rolling.Machines)
	if done > 0 {
		sentence += fmt.Sprintf(", each within %s", quantity.Duration(longest))
	}
	return sentence
}

// inSync returns nil when the cluster reports that another machine may be stopped.
func (b *faults) inSync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	return b.run.cluster.(system.SyncReader).InSync(ctx, b.run.topics())
}
