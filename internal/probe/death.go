package probe

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// death is the record of a consumer that was closed, without time to finish, while it handled a
// message.
type death struct {
	sent          []string
	first, second []string      // received by the dead consumer and by the others
	held          string        // the message that the dead one was handling
	again         time.Duration // from its end until that message came to another; 0: it did not
}

// dieAt is the index of the message during which a consumer dies.
const dieAt = 5

// die lets a consumer die while it handles a message. Another consumer of the subscription, on its
// own connection, exists from the start or opens afterwards.
func (t *attempt) die(d workload.Delivery, together bool) (death, error) {
	others, heirs, err := t.connectTwice()
	if err != nil {
		return death{}, err
	}
	topic, err := t.topicOn(others, 1) // which knows the first consumer's group, to delete it
	if err != nil {
		return death{}, err
	}
	o := system.ConsumerOptions{Topic: topic, Subscription: "mortal", Delivery: d}
	first, second := newInbox(), newInbox()
	held, over := make(chan string, 1), make(chan struct{})
	var seen atomic.Int64
	fatal := int64(dieAt)
	if together {
		fatal = 0
	}
	o.Receive = func(m system.Received) {
		name := string(m.Payload)
		first.put(name)
		if seen.Add(1) == fatal+1 {
			held <- name
			<-over
		}
	}
	mortal, err := t.consume(others, o, first)
	if err != nil {
		return death{}, err
	}
	// The latest is cleaned up first: the consumer's Close waits for the message that it handles.
	t.later(func(context.Context) error { close(over); return nil })
	o.Receive, o.Index = nil, 1
	if together {
		if _, err := t.consume(heirs, o, second); err != nil {
			return death{}, err
		}
	}
	r := death{sent: numbers(0, few)}
	if err := t.send(topic, r.sent); err != nil {
		return death{}, err
	}
	if err := t.killed(&r, mortal, held, second, together); err != nil {
		return death{}, err
	}
	ended := time.Now()
	if d != workload.AtMostOnce {
		after := numbers(few, fewer)
		if err := t.send(topic, after); err != nil {
			return death{}, err
		}
		r.sent = append(r.sent, after...)
	}
	if !together {
		if _, err := t.consume(heirs, o, second); err != nil {
			return death{}, err
		}
	}
	return r, t.inherit(&r, d, topic, first, second, ended)
}

func (t *attempt) connectTwice() (a, b system.Cluster, err error) {
	if a, err = t.connect(); err == nil {
		b, err = t.connect()
	}
	return a, b, err
}

// killed waits until the consumer holds a message, and then closes it without time to finish.
func (t *attempt) killed(r *death, mortal system.Consumer, held <-chan string, second *inbox,
	together bool) error {
	most := time.NewTimer(arrival / 2)
	defer most.Stop()
	if together {
		// A system may give this consumer no message at all.
		if err := second.await(t.ctx, quiet,
			func(all []string) bool { return len(all) == few }); err != nil {
			return err
		}
		most.Reset(quiet)
	}
	select {
	case r.held = <-held:
	case <-most.C:
		if !together {
			return fmt.Errorf("the first consumer did not receive %d messages", dieAt+1)
		}
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
	dying, cancel := context.WithCancel(t.ctx)
	cancel()
	_ = mortal.Close(dying) // it must not be able to finish
	return nil
}

// inherit waits for the messages that the other consumers receive. If the delivery may drop
// messages, a last message shows that no earlier one will come.
func (t *attempt) inherit(r *death, d workload.Delivery, topic system.Topic, first, second *inbox,
	ended time.Time) error {
	wanted := missing(first.contents(), r.sent)
	if d != workload.AtMostOnce && r.held != "" {
		wanted = append(wanted, r.held)
	}
	if d == workload.AtMostOnce {
		wanted = []string{"last"}
		if err := t.send(topic, wanted); err != nil {
			return err
		}
	}
	if err := second.awaitAll(t.ctx, t.inheritance(), wanted); err != nil {
		return err
	}
	r.first = first.contents()
	r.second = slices.DeleteFunc(second.contents(), func(one string) bool { return one == "last" })
	if at, came := second.arrived(r.held); came {
		r.again = max(at.Sub(ended), time.Millisecond)
	}
	return nil
}

// inheritance is the longest time until another consumer gets a dead one's messages.
func (t *attempt) inheritance() time.Duration {
	if t.described.Redelivery == nil {
		return arrival
	}
	r := t.described.Redelivery(t.subject.Options.Settings, workload.AtLeastOnce)
	return max(arrival, r.After+arrival/3)
}

func (r death) story() string {
	return fmt.Sprintf(
		"%d messages; a consumer was closed, without time to finish, while it handled the "+
			"%dth%s; the next one received %d: %s",
		few, dieAt+1, r.later(), len(r.second), listed(r.second))
}

// later describes the messages that followed the death.
func (r death) later() string {
	if n := len(r.sent) - few; n > 0 {
		return fmt.Sprintf(", %d more followed", n)
	}
	return ""
}

func (t *attempt) atMostOnce() (Finding, error) {
	if !slices.Contains(t.described.Delivery, workload.AtMostOnce) {
		return unknown("plimsoll's driver of %s does not support it", t.described.Name), nil
	}
	r, err := t.die(workload.AtMostOnce, false)
	if err != nil {
		return Finding{}, err
	}
	all := slices.Concat(r.first, r.second)
	evidence := fmt.Sprintf("%s; %d came twice, %d never", r.story(), repeated(all),
		len(missing(all, r.sent)))
	return either(repeated(all) == 0, evidence), nil
}

func (t *attempt) atLeastOnce() (Finding, error) {
	r, err := t.die(workload.AtLeastOnce, false)
	if err != nil {
		return Finding{}, err
	}
	handled := slices.DeleteFunc(slices.Clone(r.first),
		func(one string) bool { return one == r.held })
	lost := missing(slices.Concat(handled, r.second), r.sent)
	evidence := fmt.Sprintf("%s; %d came to both, %d were handled by neither", r.story(),
		repeated(slices.Concat(r.first, r.second)), len(lost))
	return either(len(lost) == 0, evidence), nil
}

func (t *attempt) redelivery() (Finding, error) {
	r, err := t.die(workload.AtLeastOnce, false)
	if err != nil {
		return Finding{}, err
	}
	if r.again == 0 {
		return no(r.story() + "; the one that was being handled never came again"), nil
	}
	return yes(fmt.Sprintf("%s; the one that was being handled came %s after the end", r.story(),
		rounded(r.again))), nil
}

func (t *attempt) redeliveryOrder() (Finding, error) {
	alone, err := t.die(workload.AtLeastOnce, false)
	if err != nil {
		return Finding{}, err
	}
	pair, err := t.die(workload.AtLeastOnce, true)
	if err != nil {
		return Finding{}, err
	}
	evidence := []string{
		fmt.Sprintf("%d messages; a consumer was closed, without time to finish, while it "+
			"handled the %dth%s; its successor received %s: %d after a later one",
			few, dieAt+1, alone.later(), listed(alone.second), inversions(alone.second)),
		fmt.Sprintf("of two consumers at one time one died; the other received %s: %d after a "+
			"later one", listed(pair.second), inversions(pair.second)),
	}
	if lost := missing(slices.Concat(alone.first, alone.second), alone.sent); len(lost) > 0 {
		return unknown("%d messages did not arrive: %s", len(lost), listed(lost)), nil
	}
	switch {
	case inversions(alone.second) > 0:
		return no(evidence...), nil
	case inversions(pair.second) > 0:
		return when("one consumer at a time", evidence...), nil
	}
	return yes(evidence...), nil
}
