package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// answerLimit bounds the orders that take no time of their own.
const answerLimit = time.Minute

// remote is a load.Worker in another process. When the worker is lost, Cut, Sample, Account and
// Close go on with what it told last, so that the run can end in order.
type remote struct {
	*member
	at    int // the worker's number in the run
	plan  *load.Plan
	clock clock.Clock // the coordinator's

	mu       sync.Mutex
	last     load.Sample
	interval int64
}

var _ load.Worker = (*remote)(nil)

func newRemote(m *member, at int, plan *load.Plan, c clock.Clock) *remote {
	w := &plan.Workload
	return &remote{member: m, at: at, plan: plan, clock: c, last: load.Sample{
		Worker: at, Clock: clockName,
		Counters: load.Counters{ReceivedWithin: make([]int64, w.Subscriptions),
			FreshAt: make([]int64, w.AllSubscriptions())}}}
}

// Open opens the share's clients.
func (r *remote) Open(ctx context.Context) error { return r.ask(ctx, actionOpen, nil, nil) }

// Ready proves partitions.
func (r *remote) Ready(ctx context.Context, again []int64, wait time.Duration) (
	proved load.Readiness, err error,
) {
	err = r.checked(r.ask(ctx, actionReady, readyAsk{again, wait}, &proved), func() error {
		return r.plan.CheckReadiness(&proved)
	})
	if err != nil {
		return load.Readiness{}, err
	}
	return proved, nil
}

// Start begins the load.
func (r *remote) Start(w load.Window) error { return r.order(actionStart, w, nil) }

// Cut takes over another window.
func (r *remote) Cut(w load.Window) error { return unlessLost(r.order(actionCut, w, nil)) }

// Sample returns what was counted. Of a lost worker that is what it had counted when it was heard
// of last.
func (r *remote) Sample(histograms bool) (load.Sample, error) {
	var answer sampled
	r.mu.Lock()
	defer r.mu.Unlock()
	if histograms {
		r.interval++
	}
	err := r.checked(r.order(actionSample, histograms, &answer), func() error {
		err := r.plan.CheckSample(&answer.Sample, &r.last, r.clock.Now())
		if n := answer.Sample.Interval; err == nil && n != r.interval {
			err = fmt.Errorf("a sample is of interval %d, not %d", n, r.interval)
		}
		return cmp.Or(err, answer.Clock.check())
	})
	s := answer.Sample
	switch {
	case err == nil:
		r.noteClock(answer.Clock)
		s.Worker = r.at
		for i := range s.Processes {
			s.Processes[i].ID = r.hello.Name + " " + s.Processes[i].ID
		}
		r.last = s
		r.last.Histograms, r.last.FirstAckNs, r.last.LastAckNs = nil, 0, 0
	case errors.Is(err, ErrLost):
		s = r.last
		s.Counters.InFlight, s.Counters.Sent, s.Counters.Opened = 0, true, true
		s.Interval, err = r.interval, nil
	}
	return s, err
}

// Account returns which messages were acknowledged and which arrived; of a lost worker nothing,
// and the account says so.
func (r *remote) Account() (a load.Account, err error) {
	r.mu.Lock()
	most := r.plan.AccountBytes(&r.last.Counters, accountMost)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	err = r.checked(r.askFor(ctx, actionAccount, nil, &a, most), func() error {
		if a.Clock != clockName {
			return errors.New("an account is on another clock")
		}
		return r.plan.CheckAccount(&a)
	})
	if errors.Is(err, ErrLost) {
		return load.Account{Clock: clockName, Missing: []string{err.Error()}}, nil
	}
	return a, err
}

// Close closes the clients.
func (r *remote) Close(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit+answerLimit)
	defer cancel()
	return unlessLost(r.ask(ctx, actionClose, limit, nil))
}

// order is ask for what takes no time of its own.
func (r *member) order(do action, body, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	return r.ask(ctx, do, body, answer)
}

// checked gives up a worker whose answer does not fit the plan.
func (r *remote) checked(err error, check func() error) error {
	if err != nil {
		return err
	}
	if err := check(); err != nil {
		r.lose(err)
		return r.err()
	}
	return nil
}

// unlessLost drops the error of a lost worker, because an event has reported it.
func unlessLost(err error) error {
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}
