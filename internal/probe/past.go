package probe

import (
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func (t *attempt) replay() (Finding, error) {
	topic, err := t.topic(1)
	if err != nil {
		return Finding{}, err
	}
	o := system.ConsumerOptions{Topic: topic, Subscription: "again", Delivery: workload.AtLeastOnce}
	got, sent := newInbox(), numbers(0, few)
	first, err := t.consume(t.cluster, o, got)
	if err == nil {
		err = t.send(topic, sent)
	}
	if err == nil {
		err = got.awaitAll(t.ctx, arrival, sent)
	}
	if err == nil {
		err = first.Close(t.ctx)
	}
	if err != nil {
		return Finding{}, err
	}
	if lost := missing(got.contents(), sent); len(lost) > 0 {
		return unknown("%d of %d messages did not arrive the first time", len(lost), few), nil
	}
	replayer, ok := t.cluster.(system.Replayer)
	if !ok {
		stated, is := t.statement(system.Replay)
		if !is {
			return unknown("plimsoll's driver of %s has no way to try it", t.described.Name), nil
		}
		f, err := t.lateSubscription(topic, &system.NotSupported{Reason: stated.Why})
		f.Evidence = append(f.Evidence, sourceOf(stated))
		return f, err
	}
	anew := newInbox()
	o.Receive, o.Failed = anew.receive, anew.fail
	k, condition, err := replayer.OpenReplay(t.ctx, o)
	if err != nil {
		return t.lateSubscription(topic, err)
	}
	t.later(k.Close)
	if err := anew.awaitAll(t.ctx, arrival, sent); err != nil {
		return Finding{}, err
	}
	all := anew.contents()
	evidence := fmt.Sprintf(
		"%d messages were received and acknowledged; the subscription went back to the beginning "+
			"and received %d of them again", few, few-len(missing(all, sent)))
	return seenWhen(condition, len(missing(all, sent)) == 0, evidence), nil
}

// lateSubscription extends the reason why a subscription cannot go back: it adds the number of
// messages that another subscription receives if it begins after everything was acknowledged.
func (t *attempt) lateSubscription(topic system.Topic, why error) (Finding, error) {
	var lacking *system.NotSupported
	if !errors.As(why, &lacking) {
		return Finding{}, why
	}
	got := newInbox()
	if _, err := t.consume(t.cluster, system.ConsumerOptions{Topic: topic, Subscription: "late",
		Delivery: workload.AtLeastOnce}, got); err != nil {
		return Finding{}, err
	}
	if err := got.silence(t.ctx); err != nil {
		return Finding{}, err
	}
	return no(lacking.Reason,
		fmt.Sprintf("%d messages were received and acknowledged; a subscription opened "+
			"afterwards received %d of them", few, len(got.contents()))), nil
}
