package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func (t *attempt) exactlyOnce(p system.Prober) (Finding, error) {
	if slices.Contains(t.described.Delivery, workload.ExactlyOnce) {
		return t.retriedTransaction(p)
	}
	topic, got, err := t.readTopic(workload.AtLeastOnce)
	if err != nil {
		return Finding{}, err
	}
	answer, condition, err := p.PublishTwice(t.ctx, topic, []byte("0"))
	if err != nil {
		return Finding{}, err
	}
	if err := got.awaitAll(t.ctx, arrival, []string{"0"}); err != nil {
		return Finding{}, err
	}
	n := len(got.contents())
	evidence := fmt.Sprintf("one message was published twice (%s); it arrived %d times", answer, n)
	switch {
	case n == 0:
		return unknown("%s", evidence), nil
	case n > 1:
		return notEven(condition, evidence), nil
	}
	reader := "readers recognise copies"
	return when(strings.TrimPrefix(condition+", and "+reader, ", and "), evidence), nil
}

// retriedTransaction aborts a message's transaction and sends the message again, like a client
// that does not know the outcome of the transaction.
func (t *attempt) retriedTransaction(p system.Prober) (Finding, error) {
	topic, got, err := t.readTopic(workload.ExactlyOnce)
	if err != nil {
		return Finding{}, err
	}
	payloads := [][]byte{[]byte("0"), []byte("1")}
	if _, err := p.Transact(t.ctx, topic, payloads, false); err != nil {
		return Finding{}, err
	}
	condition, err := p.Transact(t.ctx, topic, payloads, true)
	if err != nil {
		return Finding{}, err
	}
	if err := got.awaitAll(t.ctx, arrival, []string{"0", "1"}); err != nil {
		return Finding{}, err
	}
	all := got.contents()
	evidence := fmt.Sprintf(
		"two messages were sent in a transaction that was aborted, and again in one that was "+
			"committed; arrived: %s", listed(all))
	switch {
	case len(missing(all, []string{"0", "1"})) > 0:
		return unknown("%s", evidence), nil
	case len(all) > 2:
		return notEven(condition, evidence), nil
	}
	return when(strings.TrimPrefix(
			condition+"; a reader may repeat work outside of transactions", "; "),
			evidence),
		nil
}

// readTopic is a topic with a consumer.
func (t *attempt) readTopic(d workload.Delivery) (system.Topic, *inbox, error) {
	got := newInbox()
	topic, err := t.topic(1)
	if err == nil {
		_, err = t.consume(t.cluster,
			system.ConsumerOptions{Topic: topic, Subscription: "reader", Delivery: d}, got)
	}
	return topic, got, err
}

func (t *attempt) transactions(p system.Prober) (Finding, error) {
	d := workload.AtLeastOnce
	if slices.Contains(t.described.Delivery, workload.ExactlyOnce) {
		d = workload.ExactlyOnce
	}
	topic, got, err := t.readTopic(d)
	if err != nil {
		return Finding{}, err
	}
	if _, err := p.Transact(t.ctx, topic, [][]byte{[]byte("aborted-1"), []byte("aborted-2")},
		false); err != nil {
		return Finding{}, err
	}
	wanted := []string{"committed-1", "committed-2"}
	condition, err := p.Transact(t.ctx, topic, [][]byte{[]byte(wanted[0]), []byte(wanted[1])}, true)
	if err != nil {
		return Finding{}, err
	}
	if err := got.awaitAll(t.ctx, arrival, wanted); err != nil {
		return Finding{}, err
	}
	all := got.contents()
	evidence := fmt.Sprintf(
		"two messages were published and aborted, two more committed; arrived: %s", listed(all))
	return judged(all, wanted, condition, evidence), nil
}
