package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const (
	settlePoll = 50 * time.Millisecond
	// settleWithin bounds the wait for a topic's replicas and for a group's
	// members; each partition adds settlePartition.
	settleWithin    = time.Minute
	settlePartition = 20 * time.Millisecond
	// askedAtOnce is how many brokers are asked at the same time.
	askedAtOnce = 16
)

// CreateTopic makes a topic at the asked durability level and waits until
// every partition has a leader, all its replicas are in sync and every broker knows it.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	return c.CreateTopics(ctx, []system.Topic{t})
}

// CreateTopics creates topics like CreateTopic, with one request for each number of partitions.
// Topics that the controller throttles are requested again.
func (c *cluster) CreateTopics(ctx context.Context, topics []system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime(topics))
	defer cancel()
	copies, err := c.copies(ctx)
	if err != nil {
		return err
	}
	byPartitions := make(map[int][]string)
	for _, t := range topics {
		byPartitions[t.Partitions] = append(byPartitions[t.Partitions], t.Name)
	}
	made := make(map[string]kadm.TopicID)
	for partitions, names := range byPartitions {
		if err := c.create(ctx, copies, partitions, names, made); err != nil {
			return err
		}
	}
	return c.awaitTopics(ctx, topics, made)
}

// create requests topics until the controller has accepted all of them, and notes their ids.
func (c *cluster) create(ctx context.Context, copies, partitions int, names []string,
	made map[string]kadm.TopicID) error {
	configs := c.topicConfigsOf(copies)
	var wait error
	err := driver.Until(ctx, settlePoll, func() (bool, error) {
		answers, err := c.admin.CreateTopics(ctx, int32(partitions), int16(copies), configs,
			names...)
		if err != nil {
			return false, c.explain(err)
		}
		names, wait = names[:0:0], nil
		for _, a := range answers.Sorted() {
			made[a.Topic] = a.ID
			switch {
			// it is being created: awaitTopics waits for it
			case a.Err == nil, errors.Is(a.Err, kerr.RequestTimedOut):
			case errors.Is(a.Err, kerr.ThrottlingQuotaExceeded):
				names, wait = append(names, a.Topic), a.Err
			default:
				return false, c.explainCreate(a.Err, a.ErrMessage)
			}
		}
		return wait != nil, wait
	})
	if wait != nil && errors.Is(err, wait) {
		return fmt.Errorf("the brokers did not create %d topics in time: %w", len(names), err)
	}
	return err
}

// topicConfigsOf returns the configuration of every topic.
func (c *cluster) topicConfigsOf(copies int) map[string]*string {
	configs := make(map[string]*string)
	further, _ := parseConfigs(c.Text(setTopicConfigs)) // problems has read it
	for name, value := range further {
		configs[name] = kadm.StringPtr(value)
	}
	for name, value := range levelConfigs(c.level, copies) {
		// Defaults are left out: a cluster that does not know a property would refuse it.
		if value != never {
			configs[name] = kadm.StringPtr(value)
		}
	}
	return configs
}

func namesOf(topics []system.Topic) []string {
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.Name
	}
	return names
}

// settleTime bounds the wait for topics. It grows with the number of partitions.
func settleTime(topics []system.Topic) time.Duration {
	partitions := 0
	for _, t := range topics {
		partitions += t.Partitions
	}
	return settleWithin + time.Duration(partitions)*settlePartition
}

// copies returns the number of replicas of each partition. It refuses more than there are brokers:
// their own refusal is harder to read.
func (c *cluster) copies(ctx context.Context) (int, error) {
	brokers, err := c.admin.ListBrokers(ctx)
	if err != nil {
		return 0, c.explain(err)
	}
	found := quantity.Plural(len(brokers), "broker answers", "brokers answer")
	of := copiesOf(c.Settings, c.level)
	return of.On(len(brokers)), of.Enough(len(brokers), found)
}

func (c *cluster) explainCreate(err error, message string) error {
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists):
		return errors.New("a topic of that name exists already: delete it, or choose another name")
	case errors.Is(err, kerr.InvalidConfig):
		further, _ := parseConfigs(c.Text(setTopicConfigs)) // problems has read it
		for name := range further {
			if strings.Contains(message, name) {
				return fmt.Errorf("the brokers refuse the topic's configuration: %s: correct %s",
					message, setTopicConfigs)
			}
		}
		return fmt.Errorf(
			"the brokers refuse what durability level %d asks of a topic: %s: take another level",
			c.level, message)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err,
		kerr.ClusterAuthorizationFailed):
		return fmt.Errorf("the user may not create topics: grant it, or give another user: %w", err)
	case message != "":
		return fmt.Errorf("%s: %w", message, err)
	}
	return c.explain(err)
}

// awaitTopics waits until every partition has a leader and all its replicas are
// in sync, and until every broker knows the topics, by the ids that were made.
func (c *cluster) awaitTopics(ctx context.Context, topics []system.Topic,
	made map[string]kadm.TopicID) error {
	names := namesOf(topics)
	err := driver.Until(ctx, settlePoll, func() (bool, error) {
		found, err := c.admin.Metadata(ctx, names...)
		for _, t := range topics {
			if err != nil {
				break
			}
			if err = settled(found.Topics[t.Name], t.Partitions); err != nil && len(topics) > 1 {
				err = fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		if err == nil {
			err = c.knownTo(ctx, found.Brokers, names, made)
		}
		return err != nil, err
	})
	if err != nil {
		return &system.Unready{Err: err}
	}
	return nil
}

// knownTo returns an error while a broker does not know one of the topics, or knows a deleted one
// of the name. A broker learns of a new topic in its own time, and until then refuses what
// producers and groups send it.
func (c *cluster) knownTo(ctx context.Context, brokers kadm.BrokerDetails, topics []string,
	made map[string]kadm.TopicID) error {
	return system.Each(ctx, len(brokers), askedAtOnce, nil, func(ctx context.Context, i int) error {
		id, request := brokers[i].NodeID, kmsg.NewPtrMetadataRequest()
		for _, name := range topics {
			one := kmsg.NewMetadataRequestTopic()
			one.Topic = kmsg.StringPtr(name)
			request.Topics = append(request.Topics, one)
		}
		answer, err := request.RequestWith(ctx, c.client.Broker(int(id)))
		if err != nil {
			return fmt.Errorf("ask broker %d for its topics: %w", id, err)
		}
		for _, t := range answer.Topics {
			err := kerr.ErrorForCode(t.ErrorCode)
			var none kadm.TopicID
			if want := made[*t.Topic]; err == nil && want != none && want != t.TopicID {
				err = errors.New("it knows a deleted topic of the name")
			}
			if err != nil {
				return fmt.Errorf("broker %d: %w", id, err)
			}
		}
		return nil
	})
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
		err = fmt.Errorf("a partition has %d replicas, of which %d are in sync", replicas, inSync)
	}
	return err
}

// DeleteTopic deletes a topic and the groups that this connection opened on it.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	answers, err := c.delete(ctx, []system.Topic{t})
	for _, a := range answers {
		if a.Err != nil {
			err = errors.Join(err, fmt.Errorf("delete topic %s: %w", a.Topic, c.explain(a.Err)))
		}
	}
	return err
}

// DeleteTopics deletes the existing ones of the topics, and the groups that this connection opened
// on them.
func (c *cluster) DeleteTopics(ctx context.Context, topics []system.Topic) error {
	answers, err := c.delete(ctx, topics)
	for _, a := range answers.Sorted() {
		if a.Err != nil && !errors.Is(a.Err, kerr.UnknownTopicOrPartition) {
			return errors.Join(err, fmt.Errorf("delete topic %s: %w", a.Topic, c.explain(a.Err)))
		}
	}
	return err
}

func (c *cluster) delete(ctx context.Context, topics []system.Topic) (kadm.DeleteTopicResponses,
	error) {
	names := namesOf(topics)
	var groups []string
	for _, g := range c.groups.Drop(topics...) {
		groups = append(groups, g.name)
	}
	groupsErr := c.deleteGroups(ctx, groups)
	answers, err := c.admin.DeleteTopics(ctx, names...)
	if err != nil {
		err = fmt.Errorf("delete topics: %w", c.explain(err))
	}
	return answers, errors.Join(groupsErr, err)
}

// deleteGroups deletes groups that may be gone. The client library does not retry when a
// connection ends, and a connection to a restarted broker ends at its first use.
func (c *cluster) deleteGroups(ctx context.Context, groups []string) error {
	if len(groups) == 0 {
		return nil
	}
	return driver.Until(ctx, settlePoll, func() (again bool, err error) {
		answers, err := c.admin.DeleteGroups(ctx, groups...)
		for _, a := range answers {
			if a.Err != nil && !errors.Is(a.Err, kerr.GroupIDNotFound) {
				err = errors.Join(err, fmt.Errorf("delete group %s: %w", a.Group, a.Err))
			}
		}
		return driver.Broken(err), err
	})
}

// Leader returns the address that the partition's leader advertises.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	metadata, err := c.admin.Metadata(ctx, t.Name)
	if err != nil {
		return "", c.explain(err)
	}
	return leaderIn(metadata, t.Name, int32(partition))
}

func leaderIn(m kadm.Metadata, topic string, partition int32) (string, error) {
	if err := m.Topics[topic].Err; err != nil {
		return "", fmt.Errorf("ask for topic %s: %w", topic, err)
	}
	p, there := m.Topics[topic].Partitions[partition]
	if !there {
		return "", fmt.Errorf("topic %s has no partition %d", topic, partition)
	}
	// A partition without a leader has an error, and a partition whose leader is down may name a
	// broker that is not listed.
	if p.Err != nil {
		return "", fmt.Errorf("partition %d of %s: %w", partition, topic, p.Err)
	}
	for _, b := range m.Brokers {
		if b.NodeID == p.Leader {
			return driver.At(b.Host, int(b.Port)), nil
		}
	}
	return "", fmt.Errorf("partition %d of %s has no leader that is known now", partition, topic)
}
