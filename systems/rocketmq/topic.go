package rocketmq

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
)

// validName is what brokers accept of topics and groups, without the signs of their own names.
var validName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,100}$`)

// place is a queue of a topic.
type place struct {
	broker string // its name
	queue  int
}

// groupName returns the name of a subscription's consumer group. Groups are not of one topic.
func groupName(topic, subscription string) string { return topic + groupMark + subscription }

const groupMark = "--"

// places returns the queues of a topic, in the order of the partitions; none: there is no topic.
func (c *cluster) places(ctx context.Context, topic string) ([]place, error) {
	masters, err := c.masters(ctx)
	if err != nil {
		return nil, err
	}
	var all []place
	for i, at := range masters {
		var config struct {
			Queues int `json:"readQueueNums"`
		}
		err := c.read(ctx, at, askTopic, fields{"topic": topic}, &config)
		if says(err, saysNoTopic) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for topic %s: %w", topic, c.explain(err))
		}
		for q := range config.Queues {
			all = append(all, place{c.names[i], q})
		}
	}
	return all, nil
}

// found returns the queues of a topic that exists.
func (c *cluster) found(ctx context.Context, topic string) ([]place, error) {
	all, err := c.places(ctx, topic)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no topic %s", topic)
	}
	return all, err
}

// FindTopic implements system.TopicFinder.
func (c *cluster) FindTopic(ctx context.Context, name string) (system.Topic, error) {
	all, err := c.found(ctx, name)
	return system.Topic{Name: name, Partitions: len(all)}, err
}

// CreateTopic makes the topic's queues, in equal shares on all masters.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	if !validName.MatchString(t.Name) {
		return fmt.Errorf("%q is no name of a topic: take letters, digits, - and _, at most 100 "+
			"of them", t.Name)
	}
	if err := c.enoughNow(ctx); err != nil {
		return err
	}
	have, err := c.places(ctx, t.Name)
	if err == nil && len(have) > 0 {
		err = fmt.Errorf("topic %s exists: delete it, or choose another name", t.Name)
	}
	if err != nil {
		return err
	}
	masters, err := c.masters(ctx)
	if err != nil {
		return err
	}
	for i, at := range masters {
		n := (t.Partitions + len(masters) - 1 - i) / len(masters)
		if n == 0 {
			continue
		}
		queues := strconv.Itoa(n)
		_, err := c.ask(ctx, at, askCreateTopic, fields{"topic": t.Name, "defaultTopic": "TBW102",
			"readQueueNums": queues, "writeQueueNums": queues, "perm": "6",
			"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}, nil)
		if err != nil {
			err = fmt.Errorf("create topic %s at %s: %w", t.Name, at, c.explain(err))
			if i > 0 {
				return &system.Unready{Err: err}
			}
			return err
		}
	}
	return nil
}

// DeleteTopic deletes the topic and its groups. A topic that does not exist is no error.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	masters, err := c.masters(ctx)
	if err != nil {
		return err
	}
	for _, at := range masters {
		var groups struct {
			List []string `json:"groupList"`
		}
		err := c.read(ctx, at, askGroups, fields{"topic": t.Name}, &groups)
		for _, group := range groups.List {
			if strings.HasPrefix(group, t.Name+groupMark) {
				err = cmp.Or(err, c.deleteGroup(ctx, at, group))
			}
		}
		if err == nil {
			_, err = c.ask(ctx, at, askDeleteTopic, fields{"topic": t.Name}, nil)
		}
		if err != nil && !says(err, saysNoTopic) {
			return fmt.Errorf("delete topic %s at %s: %w", t.Name, at, c.explain(err))
		}
	}
	c.groups.Drop(t)
	return c.forget(ctx, t.Name)
}

// forget removes a topic from the name servers, which keep it otherwise.
func (c *cluster) forget(ctx context.Context, topic string) error {
	for _, at := range c.options.Endpoints {
		_, err := c.ask(ctx, at, askForgetTopic, fields{"topic": topic}, nil)
		if err != nil && !says(err, saysNotSupported) {
			return fmt.Errorf("delete topic %s at %s: %w", topic, at, c.explain(err))
		}
	}
	return nil
}

// deleteGroup deletes a group at one master, with its offsets and the topic for messages that it
// gives back.
func (c *cluster) deleteGroup(ctx context.Context, at, group string) error {
	_, err := c.ask(ctx, at, askDeleteGroup, fields{"groupName": group, "cleanOffset": "true"}, nil)
	if err == nil {
		_, err = c.ask(ctx, at, askDeleteTopic, fields{"topic": retryTopic(group)}, nil)
	}
	if says(err, saysNoTopic) {
		err = nil
	}
	return err
}

// retryTopic is a topic that a broker makes for a group when its first member comes.
func retryTopic(group string) string { return "%RETRY%" + group }

// DeleteSubscription implements system.TopicFinder.
func (c *cluster) DeleteSubscription(ctx context.Context, t system.Topic, name string) error {
	masters, err := c.masters(ctx)
	if err != nil {
		return err
	}
	group := groupName(t.Name, name)
	for _, at := range masters {
		if err := c.deleteGroup(ctx, at, group); err != nil {
			return fmt.Errorf("delete group %s at %s: %w", group, at, c.explain(err))
		}
	}
	return c.forget(ctx, retryTopic(group))
}

// createGroup makes a subscription's group, unless it exists, and sets the offsets that it lacks,
// or with replay all of them, to the start or the end of the queues.
func (c *cluster) createGroup(ctx context.Context, o system.ConsumerOptions, replay bool) (
	[]place, error) {
	group := groupName(o.Topic.Name, o.Subscription)
	if !validName.MatchString(o.Subscription) {
		return nil, fmt.Errorf("%q is no name of a subscription: take letters, digits, - and _, "+
			"at most 100 of them", o.Subscription)
	}
	places, err := c.found(ctx, o.Topic.Name)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{"groupName": group, "consumeEnable": true,
		"consumeFromMinEnable": true, "notifyConsumerIdsChangedEnable": true})
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		at, err := c.master(ctx, p.broker)
		if err == nil && (i == 0 || places[i-1].broker != p.broker) {
			_, err = c.ask(ctx, at, askCreateGroup, nil, body)
		}
		if err == nil {
			err = c.beginAt(ctx, at, queueFields(group, o.Topic.Name, p.queue), o.AtEnd, replay)
		}
		if err != nil {
			return nil, fmt.Errorf("create group %s: %w", group, c.explain(err))
		}
	}
	return places, nil
}

// queueFields are the parameters that name a group's queue.
func queueFields(group, topic string, queue int) fields {
	return fields{"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queue)}
}

// beginAt sets a group's offset in a queue, if it has none.
func (c *cluster) beginAt(ctx context.Context, at string, queue fields, end, replay bool) error {
	if !replay {
		queue["setZeroIfNotFound"] = "false"
		_, err := c.ask(ctx, at, askOffset, queue, nil)
		if !says(err, saysNotFound) {
			return err
		}
	}
	code := askMinOffset
	if end {
		code = askMaxOffset
	}
	f, err := c.ask(ctx, at, code, queue, nil)
	if err != nil {
		return err
	}
	queue["commitOffset"] = f.Fields["offset"]
	_, err = c.ask(ctx, at, askSetOffset, queue, nil)
	return err
}
