package sqs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func levels() map[workload.Level]system.Guarantee {
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {Refusal: "Amazon states copies in several availability zones and " +
			"says nothing about syncs; ElasticMQ is one node that syncs no message"},
		workload.SyncAsync: {How: "Amazon SQS only (region): stored in several availability " +
			"zones before the answer, as the provider states; it is not read back. ElasticMQ, " +
			"which plimsoll starts without a region, is one node and cannot give it"},
		workload.AsyncSync: {Refusal: "ElasticMQ's database, H2, syncs its file for no message, " +
			"and Amazon SQS is level 2"},
		workload.AsyncAsync: {How: "ElasticMQ, or another imitation at an endpoint: in the " +
			"memory of one node; ElasticMQ writes it to a file within a second and does not " +
			"sync it. Amazon SQS is level 2"},
	}
}

// notElastic says why ElasticMQ cannot give a level.
func notElastic(l workload.Level) string {
	return fmt.Sprintf("durability level %d: plimsoll starts ElasticMQ, one node that syncs "+
		"no message: ask for level 4 (--durability 4), or write "+
		"settings: {region: eu-central-1} for Amazon SQS, which is level 2", l)
}

// checkLevel refuses a level that the service or server does not give.
func (c *cluster) checkLevel() error {
	switch {
	case c.amazon && c.level != workload.SyncAsync:
		return fmt.Errorf("durability level %d: Amazon SQS is level 2, by the provider's "+
			"statement: ask for that", c.level)
	case !c.amazon && c.level != workload.AsyncAsync:
		return fmt.Errorf("durability level %d: a server at %s that imitates SQS is level 4: ask "+
			"for that", c.level, c.at())
	}
	return nil
}

// elasticRegion is the prefix of the region in the ARN of ElasticMQ's queues. Plimsoll configures
// its ElasticMQ to append the version.
const elasticRegion = "elasticmq"

// serverOf returns the name of a queue's server, from the region in its ARN.
func serverOf(arn string) string {
	const regionField = 3 // arn:aws:sqs:REGION:ACCOUNT:NAME
	fields := strings.Split(arn, ":")
	if len(fields) <= regionField {
		return "an unnamed imitation of SQS"
	}
	region := fields[regionField]
	version, is := strings.CutPrefix(region, elasticRegion)
	switch {
	case is && version == "":
		return "ElasticMQ of an unknown version"
	case is:
		return "ElasticMQ " + strings.TrimPrefix(version, "-")
	}
	return "an unnamed imitation of SQS, region " + region
}

// ReadDurability reads the attributes of every queue. Nothing else can be read of Amazon SQS: its
// level is the provider's statement.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	r := &driver.Reading{Level: c.level}
	server := ""
	for _, t := range topics {
		for p := range t.Partitions {
			name := c.queueName(t, p, "")
			url, err := c.queueURL(ctx, name)
			if err != nil {
				return system.Evidence{}, fmt.Errorf("queue %s: %w", name, c.explain(err))
			}
			have, err := c.readAttributes(ctx, url)
			if err != nil {
				return system.Evidence{}, fmt.Errorf("queue %s: %w", name, c.explain(err))
			}
			server = serverOf(have["QueueArn"])
			if err := c.checkQueue(r, name, have); err != nil {
				return system.Evidence{}, err
			}
		}
	}
	if c.amazon {
		r.Add(c.service(), "stored before the answer",
			"on servers in several availability zones",
			"stated by the provider (Amazon SQS Developer Guide), not read back")
	} else {
		r.Add(c.at(), "server", server+": one node", "QueueArn of GetQueueAttributes")
		r.Copies(1)
	}
	e := r.Evidence()
	e.Stated = c.amazon
	return e, nil
}

// checkQueue compares a queue's attributes with the settings.
func (c *cluster) checkQueue(r *driver.Reading, name string, have map[string]string) error {
	for attribute, want := range map[string]string{
		"VisibilityTimeout": strconv.Itoa(int(c.Duration(setVisibility).Seconds())),
		"FifoQueue":         map[bool]string{true: "true"}[c.Bool(setFIFO)],
	} {
		if have[attribute] == "false" {
			delete(have, attribute)
		}
		if have[attribute] != want {
			return r.Contradicts(attribute+" "+want, "queue %s has %s %s", name, attribute,
				have[attribute])
		}
		if want != "" {
			r.Add(name, attribute, want, "GetQueueAttributes")
		}
	}
	return nil
}

// versionQueue is a queue that is created to read the server's name, and deleted again.
const versionQueue = "plimsoll-version"

// ServerVersions returns the name of the service or server. An imitation shows its name in the ARN
// of a queue.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	if c.amazon {
		return []string{c.service()}, nil
	}
	t := system.Topic{Name: versionQueue, Partitions: 1}
	urls, err := c.createQueues(ctx, t, "")
	if err != nil {
		return nil, err
	}
	have, err := c.readAttributes(ctx, urls[0])
	if err != nil {
		return nil, c.explain(err)
	}
	if err := c.DeleteTopic(ctx, t); err != nil {
		return nil, err
	}
	return []string{serverOf(have["QueueArn"]) + " at " + c.at()}, nil
}
