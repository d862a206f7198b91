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
	// members; thousands of partitions take their time.
	settleWithin = time.Minute
)

// CreateTopic makes a topic at the asked durability level and waits until
// every partition has a leader and all its replicas are in sync.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
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
	if err := c.checkReplication(ctx); err != nil {
		return err
	}
	answer, err := c.admin.CreateTopic(ctx, int32(t.Partitions), c.cfg.replication, configs, t.Name)
	if err != nil {
		return c.explainCreate(err, answer.ErrMessage)
	}
	return c.awaitTopic(ctx, t)
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

// awaitTopic waits until every partition has a leader and all its replicas are
// in sync.
func (c *cluster) awaitTopic(ctx context.Context, t system.Topic) error {
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	for {
		details, err := c.admin.ListTopics(ctx, t.Name)
		if err == nil {
			err = settled(details[t.Name], t.Partitions)
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
	c.mu.Lock()
	var groups []string
	for name, g := range c.groups {
		if g.topic.Name == t.Name {
			groups = append(groups, name)
		}
	}
	c.mu.Unlock()
	var errs []error
	for _, name := range groups {
		_, err := c.admin.DeleteGroup(ctx, name)
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			errs = append(errs, fmt.Errorf("deleting group %s: %w", name, err))
		}
	}
	if _, err := c.admin.DeleteTopic(ctx, t.Name); err != nil {
		errs = append(errs, fmt.Errorf("deleting topic %s: %w", t.Name, c.explain(err)))
	}
	return errors.Join(errs...)
}
