package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the additional subscriptions: they read a backlog from the beginning, or everything when
// the load is over, or nothing at all.
const (
	replaySubscription = "replay"
	auditSubscription  = "audit"
	unreadSubscription = "unread"
)

// reserveLimit bounds the closing of a consumer that only created a subscription. Such a consumer
// may have requested messages, and then waits until the server has ended the request.
const reserveLimit = time.Minute

// OpenReadersLimit bounds the opening of the consumers that read later.
const OpenReadersLimit = 2 * time.Minute

// readers holds the consumers of a backlog, which open when the backlog is complete.
type readers struct {
	consumers []*consumer
	cancel    context.CancelFunc // ends the opening; nil: not begun
	opened    chan struct{}      // closed when all are open, or one failed
	err       error              // set before opened is closed: why they could not be opened
}

// draining reports whether the workload's own subscriptions read the backlog.
func draining(w *workload.Workload) bool {
	return w.Backlog != nil && w.Backlog.Then == workload.BacklogDrain
}

// replaying reports whether an additional subscription reads the backlog.
func replaying(w *workload.Workload) bool {
	return w.Backlog != nil && w.Backlog.Then == workload.BacklogReplay
}

// prompt returns the number of subscriptions that read from the start.
func (e *Engine) prompt() int {
	if draining(&e.plan.Workload) {
		return 0
	}
	return e.plan.Workload.Subscriptions
}

// subscriptionName returns the name of the i-th subscription of each topic. On a shared topic the
// name is unique to the run.
func (p *Plan) subscriptionName(i int) string {
	switch {
	case p.Workload.Existing != nil:
		return p.Prefix + "-" + Subscription(i)
	case i < p.Workload.Subscriptions:
		return Subscription(i)
	case p.Workload.Audit:
		return auditSubscription
	}
	return replaySubscription
}

// reserve creates the subscriptions that are read later, with a consumer of each that closes
// before anything is sent, and prepares their readers.
func (e *Engine) reserve(ctx context.Context, c system.Cluster) error {
	w := &e.plan.Workload
	if w.Backlog == nil && !w.Audit {
		return e.keepUnread(ctx, c)
	}
	e.readers.consumers = e.newConsumers(e.prompt(), w.AllSubscriptions())
	e.consumers = append(e.consumers, e.readers.consumers...)
	var firsts []*consumer // one for each subscription, which creates it
	for _, c := range e.readers.consumers {
		if c.index == 0 {
			firsts = append(firsts, c)
		}
	}
	err := system.Each(ctx, len(firsts), maxOpening, nil, func(ctx context.Context, i int) error {
		return makeSubscription(ctx, c, e.optionsOf(firsts[i]))
	})
	if err != nil {
		return err
	}
	if replaying(w) && len(firsts) > 0 {
		return e.checkReplay(ctx, c)
	}
	return nil
}

// makeSubscription creates a subscription before anything is sent.
func makeSubscription(ctx context.Context, c system.Cluster, o system.ConsumerOptions) error {
	o.Receive = func(system.Received) {}
	opened, err := c.OpenConsumer(ctx, o)
	if err == nil {
		err = closeAll(reserveLimit, []system.Consumer{opened}, nil,
			func(c system.Consumer) closer { return c })
	}
	if err != nil {
		return fmt.Errorf("make %s of %s: %w", o.Subscription, o.Topic.Name, err)
	}
	return nil
}

// keepUnread gives each of the share's topics a subscription that nobody reads, in a load without
// subscriptions: some systems drop, and acknowledge, what is sent to a topic that has none. Topics
// that existed before stay as they are.
func (e *Engine) keepUnread(ctx context.Context, c system.Cluster) error {
	w := &e.plan.Workload
	if w.Subscriptions > 0 || w.Existing != nil {
		return nil
	}
	return system.Each(ctx, len(e.topics), maxOpening, nil,
		func(ctx context.Context, i int) error {
			if !e.plan.Share.consumes(i, i, len(e.topics)) {
				return nil
			}
			return makeSubscription(ctx, c, system.ConsumerOptions{
				Topic: e.topics[i], Subscription: unreadSubscription, Delivery: w.Delivery,
				Failed: func(error) {}, // it is closed, and no message is for it
			})
		})
}

// checkReplay refuses a system whose subscriptions cannot begin again.
func (e *Engine) checkReplay(ctx context.Context, c system.Cluster) error {
	replayer, able := c.(system.Replayer)
	if !able {
		return errors.New(
			"backlog.then is replay, and the system's subscriptions cannot begin at earlier " +
				"messages: take drain")
	}
	o := e.optionsOf(e.readers.consumers[0])
	o.Receive = func(system.Received) {}
	opened, _, err := replayer.OpenReplay(ctx, o)
	var lacking *system.NotSupported
	switch {
	case errors.As(err, &lacking) && lacking.Condition != "":
		return fmt.Errorf("backlog.then is replay, and %w: take drain, or change %s", err,
			lacking.Condition)
	case errors.As(err, &lacking):
		return fmt.Errorf("backlog.then is replay, and %w: take drain", err)
	case err != nil:
		return fmt.Errorf("check whether a subscription can begin again: %w", err)
	}
	return closeAll(reserveLimit, []system.Consumer{opened}, nil,
		func(c system.Consumer) closer { return c })
}

// Read opens the consumers that read later, and returns at once. If they cannot be opened within
// OpenReadersLimit, it reports a failure, unless they audit; Opened reports it too.
func (e *Engine) Read(c system.Cluster) {
	if e.readers.opened != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), OpenReadersLimit)
	e.readers.cancel, e.readers.opened = cancel, make(chan struct{})
	go func() {
		defer close(e.readers.opened)
		err := e.openReaders(ctx, c)
		e.readers.err = err
		if err != nil && !e.plan.Workload.Audit && !errors.Is(ctx.Err(), context.Canceled) {
			e.failed(fmt.Errorf("the consumers that read later could not be opened: %w", err))
		}
	}()
}

// Opened reports whether the opening of the consumers that read later has ended, and its error.
func (e *Engine) Opened() (over bool, err error) {
	if e.readers.opened == nil {
		return false, nil
	}
	select {
	case <-e.readers.opened:
		return true, e.readers.err
	default:
		return false, nil
	}
}

// reopenPause is the pause between two attempts to open the consumers of the audit.
const reopenPause = time.Second

func (e *Engine) openReaders(ctx context.Context, c system.Cluster) error {
	// Servers that were broken may still be starting.
	again := func(try func() error) error {
		err := try()
		for e.plan.Workload.Audit && err != nil && clock.Sleep(ctx, reopenPause) {
			err = try()
		}
		return err
	}
	all := e.readers.consumers
	err := system.Each(ctx, len(all), maxOpening, nil, func(ctx context.Context, i int) error {
		return again(func() error { return e.openConsumer(ctx, c, all[i]) })
	})
	if err != nil {
		return err
	}
	return again(func() error { return settle(ctx, all) })
}

// stopReading ends the opening of readers. If it returns false, the opening could not be ended
// within limit, and the readers must not be touched.
func (e *Engine) stopReading(limit time.Duration) bool {
	if e.readers.cancel == nil {
		return true
	}
	e.readers.cancel()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-e.readers.opened:
		return true
	case <-timer.C:
		return false
	}
}
