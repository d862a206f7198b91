package sqs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// maxName is the longest name of a queue.
const maxName = 80

// services holds the queues of each service or server to which this process has connected. It
// lives as long as the process, because a subscription outlives the connection that opened it.
var services = struct {
	sync.Mutex
	all map[string]*queues
}{all: make(map[string]*queues)}

// queuesOf returns the queues of a service or server, by its address.
func queuesOf(at string) *queues {
	services.Lock()
	defer services.Unlock()
	if services.all[at] == nil {
		services.all[at] = &queues{topics: make(map[string]*topicQueues)}
	}
	return services.all[at]
}

// queues holds the queues of each topic and of its subscriptions.
type queues struct {
	mu     sync.Mutex
	topics map[string]*topicQueues
}

// topicQueues holds the queues of a topic. Producers read places without a lock.
type topicQueues struct {
	own           []string // by partition
	subscriptions map[string][]string
	places        atomic.Pointer[[][]string] // by partition: the destinations of a message
}

// of returns a topic's queues; nil: the topic is unknown to this process.
func (q *queues) of(t system.Topic) *topicQueues {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.topics[t.Name]
}

// keep adds a topic's own queues, unless at least as many are known.
func (q *queues) keep(t system.Topic, own []string) *topicQueues {
	q.mu.Lock()
	defer q.mu.Unlock()
	if have := q.topics[t.Name]; have != nil && len(have.own) >= len(own) {
		return have
	}
	return q.add(t, own)
}

// replace adds the queues of a new topic, and forgets an earlier topic of the same name.
func (q *queues) replace(t system.Topic, own []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(t, own)
}

func (q *queues) add(t system.Topic, own []string) *topicQueues {
	one := &topicQueues{own: own, subscriptions: make(map[string][]string)}
	one.place()
	q.topics[t.Name] = one
	return one
}

// subscribe adds the queues of a subscription.
func (q *queues) subscribe(one *topicQueues, name string, urls []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one.subscriptions[name] = urls
	one.place()
}

// subscriptionsOf returns the names of a topic's subscriptions.
func (q *queues) subscriptionsOf(t system.Topic) []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if one := q.topics[t.Name]; one != nil {
		return slices.Collect(maps.Keys(one.subscriptions))
	}
	return nil
}

// forget forgets a topic whose queues are deleted.
func (q *queues) forget(t system.Topic) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.topics, t.Name)
}

// place computes the destinations of messages: each subscription, or the topic's own queue.
func (one *topicQueues) place() {
	places := make([][]string, len(one.own))
	for p, url := range one.own {
		for _, urls := range one.subscriptions {
			places[p] = append(places[p], urls[p])
		}
		if len(one.subscriptions) == 0 {
			places[p] = []string{url}
		}
	}
	one.places.Store(&places)
}

// queueName returns the name of a queue; subscription "": the topic's own queue.
func (c *cluster) queueName(t system.Topic, partition int, subscription string) string {
	name := t.Name + "-" + strconv.Itoa(partition)
	if subscription != "" {
		name += "-" + subscription
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	if c.Bool(setFIFO) {
		name += ".fifo"
	}
	return name
}

// attributes returns the attributes of every queue.
func (c *cluster) attributes() map[string]string {
	all := map[string]string{
		string(types.QueueAttributeNameVisibilityTimeout): strconv.Itoa(
			int(c.Duration(setVisibility).Seconds())),
	}
	if c.Bool(setFIFO) {
		all[string(types.QueueAttributeNameFifoQueue)] = "true"
	}
	return all
}

// CreateTopic makes a queue for each partition.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	name := c.queueName(t, t.Partitions-1, "")
	if len(name) > maxName {
		return fmt.Errorf("create topic %s: a queue's name has at most %d characters, and %s "+
			"has %d: choose a shorter name", t.Name, maxName, name, len(name))
	}
	// CreateQueue succeeds if the queue exists with the same attributes.
	if _, err := c.queueURL(ctx, c.queueName(t, 0, "")); err == nil {
		return fmt.Errorf("create topic %s: the queue %s exists: delete it, or choose another "+
			"name", t.Name, c.queueName(t, 0, ""))
	} else if !isMissing(err) {
		return fmt.Errorf("create topic %s: %w", t.Name, c.explain(err))
	}
	own, err := c.createQueues(ctx, t, "")
	if err != nil {
		return fmt.Errorf("create topic %s: %w", t.Name, err)
	}
	c.queues.replace(t, own)
	return nil
}

// createQueues creates the queues of a subscription, unless they exist, and returns their
// addresses by partition.
func (c *cluster) createQueues(ctx context.Context, t system.Topic, subscription string) (
	[]string, error,
) {
	urls := make([]string, t.Partitions)
	const width = 8
	err := system.Each(ctx, t.Partitions, width, nil, func(ctx context.Context, p int) error {
		name := c.queueName(t, p, subscription)
		made, err := c.client.CreateQueue(ctx, &awssqs.CreateQueueInput{
			QueueName: &name, Attributes: c.attributes(),
		})
		var other *types.QueueNameExists
		if errors.As(err, &other) {
			return fmt.Errorf("the queue %s exists with attributes that differ from %s and %s: "+
				"delete it, or choose another name: %w", name, setVisibility, setFIFO, err)
		}
		if err != nil {
			return c.explain(err)
		}
		urls[p] = aws.ToString(made.QueueUrl)
		return c.awaitQueue(ctx, urls[p])
	})
	return urls, err
}

// awaitQueue waits until a new queue answers, on Amazon SQS up to a second.
func (c *cluster) awaitQueue(ctx context.Context, url string) error {
	return driver.Until(ctx, driver.RetryPause, func() (bool, error) {
		_, err := c.readAttributes(ctx, url)
		return err != nil && isMissing(err), c.explain(err)
	})
}

func (c *cluster) queueURL(ctx context.Context, name string) (string, error) {
	got, err := c.client.GetQueueUrl(ctx, &awssqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return "", err
	}
	return aws.ToString(got.QueueUrl), nil
}

func (c *cluster) readAttributes(ctx context.Context, url string) (map[string]string, error) {
	got, err := c.client.GetQueueAttributes(ctx, &awssqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	return got.Attributes, nil
}

// topic returns the queues of a topic, which another connection may have created.
func (c *cluster) topic(ctx context.Context, t system.Topic) (*topicQueues, error) {
	if have := c.queues.of(t); have != nil && len(have.own) >= t.Partitions {
		return have, nil
	}
	own := make([]string, t.Partitions)
	for p := range own {
		url, err := c.queueURL(ctx, c.queueName(t, p, ""))
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", t.Name, c.explain(err))
		}
		own[p] = url
	}
	return c.queues.keep(t, own), nil
}

// DeleteTopic deletes the queues of the topic and of its subscriptions. It can be repeated until
// all are deleted.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	const width = 8
	all := append(c.queues.subscriptionsOf(t), "")
	slices.Sort(all)
	err := system.Each(ctx, len(all)*t.Partitions, width, nil,
		func(ctx context.Context, i int) error {
			name := c.queueName(t, i%t.Partitions, all[i/t.Partitions])
			url, err := c.queueURL(ctx, name)
			if err == nil {
				_, err = c.client.DeleteQueue(ctx, &awssqs.DeleteQueueInput{QueueUrl: &url})
			}
			if err != nil && !isMissing(err) {
				return fmt.Errorf("delete the queue %s: %w", name, c.explain(err))
			}
			return nil
		})
	if err == nil {
		c.queues.forget(t)
	}
	return err
}

// Leader returns the endpoint if it has every queue of the partition.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	topic, err := c.topic(ctx, t)
	if err != nil {
		return "", err
	}
	for _, url := range (*topic.places.Load())[partition] {
		if _, err := c.readAttributes(ctx, url); isMissing(err) {
			return "", fmt.Errorf("%w: %w", system.ErrNoTopic, c.explain(err))
		} else if err != nil {
			return "", c.explain(err)
		}
	}
	return c.at(), nil
}
