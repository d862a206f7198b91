package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	settlePoll = 50 * time.Millisecond
	// settleWithin bounds the wait for a topic's replicas and for a group's
	// members; each partition adds settlePartition.
	settleWithin    = time.Minute
	settlePartition = 20 * time.Millisecond
)

// CreateTopic makes a topic at the asked durability level and waits until
// every partition has a leader and all its replicas are in sync.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	return c.CreateTopics(ctx, []system.Topic{t})
}

// CreateTopics makes topics in one request for each number of partitions, as
// CreateTopic makes each. A controller that is asked to wait with some is asked
// again.
func (c *cluster) CreateTopics(ctx context.Context, topics []system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime(topics))
	defer cancel()
	if err := c.checkReplication(ctx); err != nil {
		return err
	}
	byPartitions := make(map[int][]string)
	for _, t := range topics {
		byPartitions[t.Partitions] = append(byPartitions[t.Partitions], t.Name)
	}
	for partitions, names := range byPartitions {
		if err := c.create(ctx, partitions, names); err != nil {
			return err
		}
	}
	return c.awaitTopics(ctx, topics)
}

// create asks the controller for topics until it has taken all of them.
func (c *cluster) create(ctx context.Context, partitions int, names []string) error {
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	configs := c.topicConfigsOf()
	for {
		answers, err := c.admin.CreateTopics(ctx, int32(partitions), c.cfg.replication, configs, names...)
		if err != nil {
			return c.explain(err)
		}
		var wait error
		names = names[:0:0]
		for _, a := range answers.Sorted() {
			switch {
			case a.Err == nil, errors.Is(a.Err, kerr.RequestTimedOut): // it is being made: awaitTopics sees
			case errors.Is(a.Err, kerr.ThrottlingQuotaExceeded):
				names, wait = append(names, a.Topic), a.Err
			default:
				return c.explainCreate(a.Err, a.ErrMessage)
			}
		}
		if len(names) == 0 {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the brokers did not make %d topics in time: %w", len(names), wait)
		}
	}
}

// topicConfigsOf is the configuration that every topic gets.
func (c *cluster) topicConfigsOf() map[string]*string {
	configs := make(map[string]*string)
	for name, value := range c.cfg.topicConfigs {
		configs[name] = kadm.StringPtr(value)
	}
	for name, value := range levelConfigs(c.level, int(c.cfg.replication)) {
		// What is the default need not be written; a cluster that does not know
		// it would refuse.
		if value != never {
			configs[name] = kadm.StringPtr(value)
		}
	}
	return configs
}

// settleTime bounds the wait for topics: so many partitions take their time.
func settleTime(topics []system.Topic) time.Duration {
	partitions := 0
	for _, t := range topics {
		partitions += t.Partitions
	}
	return settleWithin + time.Duration(partitions)*settlePartition
}

// checkReplication refuses more replicas than there are brokers, which the
// brokers do too, in words that are harder to read.
func (c *cluster) checkReplication(ctx context.Context) error {
	brokers, err := c.admin.ListBrokers(ctx)
	if err != nil {
		return c.explain(err)
	}
	if have := len(brokers); have < int(c.cfg.replication) {
		return fmt.Errorf("%s is %d and the cluster has %d brokers: add brokers, or ask for fewer replicas (%d at least)",
			setReplication, c.cfg.replication, have, minReplication)
	}
	return nil
}

func (c *cluster) explainCreate(err error, message string) error {
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists):
		return errors.New("a topic of that name exists already: delete it, or choose another name")
	case errors.Is(err, kerr.InvalidConfig):
		for name := range c.cfg.topicConfigs {
			if strings.Contains(message, name) {
				return fmt.Errorf("the brokers refuse the topic's configuration: %s: correct %s", message, setTopicConfigs)
			}
		}
		return fmt.Errorf("the brokers refuse what durability level %d asks of a topic: %s: take another level", c.level, message)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("the user may not create topics: grant it, or give another user: %w", err)
	case message != "":
		return fmt.Errorf("%s: %w", message, err)
	}
	return c.explain(err)
}

// awaitTopics waits until every partition has a leader and all its replicas are
// in sync.
func (c *cluster) awaitTopics(ctx context.Context, topics []system.Topic) error {
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.Name
	}
	for {
		details, err := c.admin.ListTopics(ctx, names...)
		for _, t := range topics {
			if err != nil {
				break
			}
			if err = settled(details[t.Name], t.Partitions); err != nil && len(topics) > 1 {
				err = fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the topic was created and is not ready: %w", err)
		}
	}
}

func settled(t kadm.TopicDetail, partitions int) error {
	if t.Err != nil {
		return t.Err
	}
	if len(t.Partitions) != partitions {
		return fmt.Errorf("it has %d partitions of %d", len(t.Partitions), partitions)
	}
	replicas, inSync, err := copies(t)
	if err == nil && inSync < replicas {
		err = fmt.Errorf("of %d replicas of a partition %d are in sync", replicas, inSync)
	}
	return err
}

// DeleteTopic deletes a topic and the groups that this connection opened on it.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	answers, err := c.delete(ctx, []system.Topic{t})
	for _, a := range answers {
		if a.Err != nil {
			err = errors.Join(err, fmt.Errorf("deleting topic %s: %w", a.Topic, c.explain(a.Err)))
		}
	}
	return err
}

// DeleteTopics deletes those of the topics that are there, and the groups that
// this connection opened on them.
func (c *cluster) DeleteTopics(ctx context.Context, topics []system.Topic) error {
	answers, err := c.delete(ctx, topics)
	for _, a := range answers.Sorted() {
		if a.Err != nil && !errors.Is(a.Err, kerr.UnknownTopicOrPartition) {
			return errors.Join(err, fmt.Errorf("deleting topic %s: %w", a.Topic, c.explain(a.Err)))
		}
	}
	return err
}

func (c *cluster) delete(ctx context.Context, topics []system.Topic) (kadm.DeleteTopicResponses, error) {
	names := make([]string, len(topics))
	ours := make(map[string]bool, len(topics))
	for i, t := range topics {
		names[i], ours[t.Name] = t.Name, true
	}
	c.mu.Lock()
	var groups []string
	for name, g := range c.groups {
		if ours[g.topic.Name] {
			groups = append(groups, name)
		}
	}
	c.mu.Unlock()
	var errs []error
	if len(groups) > 0 {
		answers, err := c.admin.DeleteGroups(ctx, groups...)
		errs = append(errs, err)
		for _, a := range answers {
			if a.Err != nil && !errors.Is(a.Err, kerr.GroupIDNotFound) {
				errs = append(errs, fmt.Errorf("deleting group %s: %w", a.Group, a.Err))
			}
		}
	}
	answers, err := c.admin.DeleteTopics(ctx, names...)
	if err != nil {
		errs = append(errs, fmt.Errorf("deleting topics: %w", c.explain(err)))
	}
	return answers, errors.Join(errs...)
}
