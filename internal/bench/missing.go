package bench

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Bounds of the wait for messages that are missing when the drain's length is over.
const (
	// missingWait is how long nothing must arrive before the run stops waiting.
	missingWait = time.Minute
	// mostMissing bounds the whole wait, which arrivals lengthen.
	mostMissing = 5 * time.Minute
	// missingLook is the interval between two looks at what is missing, and missingTold that
	// between two reports of it.
	missingLook = time.Second
	missingTold = 10 * time.Second
)

// missing is the wait for messages that are missing when the drain's length is over, and that may
// still be on their way: because consumers change, because they are to be delivered again, or
// because the system withholds them.
type missing struct {
	run     *run
	beganNs int64 // of the wait; 0: it has not begun
	toldNs  int64 // the last report

	seen load.Counters // at the last look
	of   load.Counters // those for which open was computed
	open int64         // missing messages that nothing shows to be lost
}

// patience is how long nothing must arrive before missing messages are given up: long enough for
// consumers to change, and for what the system declares.
func (j *Job) patience() time.Duration {
	r, _ := j.Redelivery()
	wait := cmp.Or(j.Idle, missingWait)
	if r.After <= mostMissing {
		wait = max(wait, r.After)
	}
	return wait
}

// goesOn reports whether the drain continues at a time after its length, with these counters and
// the first so many subscriptions.
func (m *missing) goesOn(nowNs int64, c load.Counters, awaited int) (bool, error) {
	r := m.run
	if r.interrupted {
		return false, nil
	}
	first := m.beganNs == 0
	if first {
		m.beganNs = nowNs
	}
	// While messages arrive, what is missing need not be known: accounts of many workers are large.
	if first || reflect.DeepEqual(c, m.seen) && !reflect.DeepEqual(c, m.of) {
		if err := m.count(nowNs, c, awaited); err != nil {
			return false, err
		}
	}
	m.seen = c
	still, back := nowNs-r.lastArrival(c), c.GivenBack-c.Redelivered
	if r.arrivals.cutSome() {
		back = 0 // slow consumers have not come to them yet
	}
	if m.open+back == 0 {
		return still < r.lingerNs(), nil
	}
	// One look more than the patience: the activities have seen the whole wait then.
	if still >= int64(r.job.patience()+missingLook) || nowNs-m.beganNs >= int64(mostMissing) {
		return false, nil
	}
	m.tell(nowNs, still, back)
	return true, nil
}

// count counts the missing messages that may still come at the subscriptions at which none were
// arriving when the drain's length was over.
func (m *missing) count(nowNs int64, c load.Counters, awaited int) error {
	r := m.run
	accounts, err := r.accounts()
	if err != nil {
		return err
	}
	ledger, _ := r.plan.Judge(accounts, r.evidence(nowNs, c, accounts))
	m.of, m.open = c, 0
	for i, l := range ledger.Subscriptions {
		if i < awaited && !r.arrivals.cutAt(i) {
			m.open += l.Unread
		}
	}
	return nil
}

// tell reports what the run waits for.
func (m *missing) tell(nowNs, stillNs, back int64) {
	if m.toldNs != 0 && nowNs-m.toldNs < int64(missingTold) {
		return
	}
	what := quantity.Count(m.open) + " acknowledged messages that may still come"
	if m.open == 0 {
		what = quantity.Count(back) + " messages that consumers gave back"
	}
	sentence := fmt.Sprintf("waiting for %s: none came for %s; the run ends when none comes for %s",
		what, quantity.Duration(stillNs), quantity.Duration(int64(m.run.job.patience())))
	m.run.watch.Phase(result.PhaseDrain, sentence)
	if m.toldNs == 0 {
		m.run.note(sentence)
	}
	m.toldNs = nowNs
}

// lastArrival returns the time from which nothing has arrived: the last arrival, or the time at
// which the last message was due at a consumer.
func (r *run) lastArrival(c load.Counters) int64 {
	redelivery, _ := r.job.Redelivery()
	dueNs := r.course.Window().EndNs + int64(redelivery.Delay)
	if c.LastReceived == 0 {
		return dueNs
	}
	return max(c.LastReceived, dueNs)
}

// evidence returns what shows, at a time of the clock, that missing messages are lost. Messages
// that arrive in order show it of earlier ones, unless the system may deliver again. Where
// consumers came, went or were cut off, the run waits until nothing has come for long, and only
// lanes that arrived again since then show it.
func (r *run) evidence(nowNs int64, c load.Counters, accounts load.Account) load.Evidence {
	w := r.job.Workload
	var e load.Evidence
	for _, p := range r.activities {
		p.prove(&e)
	}
	redelivery, known := r.job.Redelivery()
	still := nowNs - r.lastArrival(c)
	inOrder := r.run.System.Unordered == "" && (r.run.System.PartitionsOwned || w.Consumers == 1)
	again := redelivery.After
	if !known || !redelivery.Never && (again == 0 || still < int64(again)) || !inOrder {
		return e
	}
	if len(w.Scaling) == 0 && len(w.Faults) == 0 {
		e.Passed = true
		return e
	}
	sinceNs, over := r.disturbed(accounts)
	e.Passed, e.SinceNs = over && still >= int64(r.job.patience()), sinceNs
	return e
}

// disturbed returns when, on the clock, consumers last came, went, or may have been cut off by a
// fault, and whether that is over.
func (r *run) disturbed(accounts load.Account) (sinceNs int64, over bool) {
	for _, f := range r.run.Faults {
		if max(f.HealedNs, f.FoundNs) == 0 {
			return 0, false
		}
		sinceNs = max(sinceNs, r.beganNs+f.HealedNs, r.beganNs+f.InSyncNs,
			r.beganNs+f.FoundNs)
	}
	planned := r.job.Workload.Scaling
	if len(planned) > 0 && len(accounts.Scaling) <= len(planned) {
		return 0, false
	}
	for _, s := range accounts.Scaling {
		if s.Failure != "" {
			return 0, false
		}
		sinceNs = max(sinceNs, r.course.Window().MeasureNs+s.AtNs+s.TookNs)
	}
	return sinceNs, true
}
