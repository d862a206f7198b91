package probe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// arrival is the longest time that a message may take to arrive.
const arrival = 45 * time.Second

const (
	fewer = 6   // messages that follow a death
	few   = 20  // messages of most probes
	many  = 200 // messages of probes of order
)

func (t *attempt) timeDecoupling() (Finding, error) {
	_, lost, err := t.readLater("away", 1, few)
	if err != nil {
		return Finding{}, err
	}
	evidence := fmt.Sprintf(
		"%d messages were published while the subscription had no consumer; the one that came "+
			"then received %d", few, few-len(lost))
	return either(len(lost) == 0, evidence), nil
}

// readLater sends to a topic while a subscription has no consumer, and returns what one that
// comes then receives, in its order, and what it does not.
func (t *attempt) readLater(subscription string, partitions, n int) (all, lost []string,
	err error) {
	topic, err := t.topic(partitions)
	if err != nil {
		return nil, nil, err
	}
	o := system.ConsumerOptions{Topic: topic, Subscription: subscription,
		Delivery: workload.AtLeastOnce}
	got := newInbox()
	first, err := t.consume(t.cluster, o, got)
	if err != nil {
		return nil, nil, err
	}
	if err := first.Close(t.ctx); err != nil {
		return nil, nil, fmt.Errorf("close the consumer: %w", err)
	}
	sent := numbers(0, n)
	if err := t.send(topic, sent); err != nil {
		return nil, nil, err
	}
	if _, err := t.consume(t.cluster, o, got); err != nil {
		return nil, nil, err
	}
	if err := got.awaitAll(t.ctx, arrival, sent); err != nil {
		return nil, nil, err
	}
	all = got.contents()
	return all, missing(all, sent), nil
}

// shares holds the messages that each of two consumers received.
type shares struct {
	sent          int
	first, second int
	missing, both int
}

func (s shares) String() string {
	return fmt.Sprintf(
		"of %d messages one received %d and the other %d; %d came to both, %d to neither", s.sent,
		s.first, s.second, s.both, s.missing)
}

// fair reports whether each message went to one consumer, and both received some.
func (s shares) fair() bool { return s.missing == 0 && s.both == 0 && s.first > 0 && s.second > 0 }

// alone reports whether one consumer received every message, and the other none.
func (s shares) alone() bool {
	return s.missing == 0 && s.both == 0 && min(s.first, s.second) == 0
}

// share sends to a topic and returns the messages that its two consumers receive. The consumers
// have a connection each, or share one.
func (t *attempt) share(partitions int, apart bool) (shares, error) {
	connections := []system.Cluster{t.cluster, t.cluster}
	if apart {
		var err error
		if connections[0], connections[1], err = t.connectTwice(); err != nil {
			return shares{}, err
		}
	}
	topic, err := t.topicOn(connections[1], partitions)
	if err != nil {
		return shares{}, err
	}
	var opened []system.Consumer
	return t.divide(topic, func(i int, o system.ConsumerOptions, into *inbox) error {
		k, err := t.consume(connections[i], o, into)
		opened = append(opened, k)
		if err == nil && i == 1 && !apart {
			err = t.awaitAssignment(opened...)
		}
		return err
	})
}

// divide opens two consumers of one subscription, sends, and counts. Where one of them received
// everything it sends once more: a server may see late that there is a second one.
func (t *attempt) divide(topic system.Topic,
	open func(i int, o system.ConsumerOptions, into *inbox) error) (shares, error) {
	together, each := newInbox(), []*inbox{newInbox(), newInbox()}
	for i, mine := range each {
		o := system.ConsumerOptions{
			Topic: topic, Subscription: "shared", Index: i, Delivery: workload.AtLeastOnce,
			Receive: func(m system.Received) { mine.receive(m); together.receive(m) },
		}
		if err := open(i, o, together); err != nil {
			return shares{}, err
		}
	}
	var s shares
	for s.sent < 2*many && (s.sent == 0 || s.alone()) {
		if err := t.send(topic, numbers(s.sent, many)); err != nil {
			return shares{}, err
		}
		s.sent += many
		sent := numbers(0, s.sent)
		if err := together.awaitAll(t.ctx, arrival, sent); err != nil {
			return shares{}, err
		}
		all := together.contents()
		s.first, s.second = len(each[0].contents()), len(each[1].contents())
		s.missing, s.both = len(missing(all, sent)), repeated(all)
	}
	return s, nil
}

func (t *attempt) competing() (Finding, error) {
	one, err := t.share(1, true)
	if err != nil {
		return Finding{}, err
	}
	evidence := []string{
		"two consumers of one subscription, from two connections, topic of 1 partition: " +
			one.String()}
	if one.fair() {
		return yes(evidence...), nil
	}
	if one.missing > 0 {
		return unknown("messages are missing: %s", one), nil
	}
	if one.both > 0 {
		return no(evidence...), nil
	}
	four, err := t.share(4, false)
	if err != nil {
		return Finding{}, err
	}
	evidence = append(evidence, "topic of 4 partitions: "+four.String())
	var conditions []string
	if four.fair() {
		conditions = append(conditions, "at most one consumer for each partition")
	}
	if stated, is := t.statement(system.CompetingConsumers); is {
		if stated.Condition != "" {
			conditions = append(conditions, stated.Condition)
		}
		evidence = append(evidence, findingOf(stated).Evidence...)
	}
	if len(conditions) == 0 {
		return no(evidence...), nil
	}
	return when(strings.Join(conditions, "; or "), evidence...), nil
}

func (t *attempt) multicast() (Finding, error) {
	whole, evidence, err := t.toEach(nil)
	return either(whole, evidence), err
}

// fanout is multicast of messages with keys.
func (t *attempt) fanout() (Finding, error) {
	whole, evidence, err := t.toEach([]string{"red", "green"})
	return either(whole, evidence), err
}

// toEach sends messages, with the keys in turn, and reports whether each of three subscriptions
// received them all.
func (t *attempt) toEach(keys []string) (whole bool, evidence string, err error) {
	topic, err := t.topic(2)
	if err != nil {
		return false, "", err
	}
	all := []*inbox{newInbox(), newInbox(), newInbox()}
	for i, b := range all {
		o := system.ConsumerOptions{Topic: topic, Subscription: fmt.Sprintf("each-%d", i),
			Delivery: workload.AtLeastOnce}
		if _, err := t.consume(t.cluster, o, b); err != nil {
			return false, "", err
		}
	}
	sent := numbers(0, few)
	if err := t.sendKeyed(topic, sent, keys); err != nil {
		return false, "", err
	}
	counts := make([]string, len(all))
	until := time.Now().Add(arrival)
	whole = true
	for i, b := range all {
		if err := b.awaitAll(t.ctx, max(time.Until(until), quiet), sent); err != nil {
			return false, "", err
		}
		n := few - len(missing(b.contents(), sent))
		counts[i], whole = fmt.Sprint(n), whole && n == few
	}
	sort := "messages"
	if len(keys) > 0 {
		sort = "messages with the keys " + strings.Join(keys, " and ")
	}
	return whole, fmt.Sprintf("%d %s; three subscriptions received %s", few, sort,
		strings.Join(counts, ", ")), nil
}

// backlog sends to a topic and then reads it with one consumer. The result is in the order of
// delivery.
func (t *attempt) backlog(partitions int) ([]string, error) {
	all, lost, err := t.readLater("order", partitions, many)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%d of %d messages did not arrive", len(lost), many)
	}
	return all, err
}

// outOfOrder returns the number of messages of a partition that came after a later one.
func outOfOrder(all []string, partitions, partition int) int {
	mine := slices.DeleteFunc(slices.Clone(all), func(one string) bool {
		n, err := strconv.Atoi(one)
		return err != nil || n%partitions != partition
	})
	return inversions(mine)
}

func (t *attempt) partitionOrder() (Finding, error) {
	const partitions = 4
	all, err := t.backlog(partitions)
	if err != nil {
		return Finding{}, err
	}
	wrong := 0
	for partition := range partitions {
		wrong += outOfOrder(all, partitions, partition)
	}
	evidence := fmt.Sprintf(
		"%d messages round %d partitions, read by one consumer: %d came after a later one of "+
			"their partition", many, partitions, wrong)
	return either(wrong == 0, evidence), nil
}

func (t *attempt) globalOrder() (Finding, error) {
	const partitions = 4
	all, err := t.backlog(partitions)
	if err != nil {
		return Finding{}, err
	}
	wrong := inversions(all)
	evidence := []string{fmt.Sprintf(
		"%d messages round %d partitions, read by one consumer: %d came after a later one (%s)",
		many, partitions, wrong, listed(all))}
	if wrong == 0 {
		return yes(evidence...), nil
	}
	if all, err = t.backlog(1); err != nil {
		return Finding{}, err
	}
	wrong = inversions(all)
	evidence = append(evidence,
		fmt.Sprintf("topic of 1 partition: %d of %d came after a later one", wrong, many))
	if wrong > 0 {
		return no(evidence...), nil
	}
	return when("a topic of one partition", evidence...), nil
}
