package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// How Kafka 4 gives the levels:
//
// With acks=all the leader answers when every replica that is in sync at that moment has the
// batch. It refuses the batch if fewer than min.insync.replicas are in sync. With acks=1 it
// answers when it has the batch itself; the followers fetch it later.
//
// With flush.messages=1 a replica syncs its log as part of each append. The leader appends before
// it answers, so at levels 1 and 3 an acknowledgement waits for the leader's sync. A follower's
// position advances only after its append, so at level 1 the acknowledgement waits for the
// followers' syncs too. TestAcknowledgementWaitsForSync proves it with delayed syncs.

// Names of the topic configuration that decides the level.
const (
	minISR        = "min.insync.replicas"
	flushMessages = "flush.messages"
	flushMs       = "flush.ms"
	unclean       = "unclean.leader.election.enable"
	never         = "9223372036854775807" // Kafka's default of flush.messages
	everyMessage  = "1"
)

func levels() map[workload.Level]system.Guarantee {
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {
			How: "acks=all, replication_factor copies, min.insync.replicas a majority of them, " +
				"flush.messages=1"},
		workload.SyncAsync: {
			How: "acks=all, replication_factor copies, min.insync.replicas a majority of them, " +
				"no flush"},
		workload.AsyncSync: {
			How: "acks=1, replication_factor copies, or as many as there are brokers, " +
				"min.insync.replicas=1, flush.messages=1"},
		workload.AsyncAsync: {
			How: "acks=1, replication_factor copies, or as many as there are brokers, " +
				"min.insync.replicas=1, no flush"},
	}
}

// levelConfigs returns the topic configuration that gives a level.
func levelConfigs(l workload.Level, replicas int) map[string]string {
	c := map[string]string{minISR: "1", flushMessages: never, unclean: "false"}
	if l.Majority() {
		c[minISR] = strconv.Itoa(driver.Majority(replicas))
	}
	if l.Synced() {
		c[flushMessages] = everyMessage
	}
	return c
}

// levelProblems returns the reasons why the settings cannot give the level.
func levelProblems(s system.Settings, l workload.Level) strict.Violations {
	bad := driver.CheckLevel(kafkaSystem{}.Describe(), l)
	if bad != nil {
		return bad
	}
	if s.Given(setIdempotence) && s.Bool(setIdempotence) && !l.Majority() {
		bad = append(bad, s.Wrong(setIdempotence,
			fmt.Sprintf("needs acks=all, and durability level %d is acks=1: remove it, or take "+
				"level %d", l, l-2)))
	}
	further, err := parseConfigs(s.Text(setTopicConfigs))
	if err != nil {
		return append(bad, s.Wrong(setTopicConfigs, err.Error()))
	}
	for _, name := range []string{minISR, flushMessages, flushMs, unclean} {
		if _, given := further[name]; given {
			bad = append(bad, s.Wrong(setTopicConfigs,
				fmt.Sprintf("%s follows from the durability level: remove it, and ask for the "+
					"level instead", name)))
		}
	}
	return bad
}

// ReadDurability reads each topic's configuration and replicas from the live
// cluster.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (system.Evidence,
	error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin+time.Duration(len(topics))*settlePartition)
	defer cancel()
	names := namesOf(topics)
	var configs kadm.ResourceConfigs
	err := untilAnswered(ctx, func() (err error) {
		configs, err = c.admin.DescribeTopicConfigs(ctx, names...)
		for _, one := range configs {
			err = cmp.Or(err, of(one.Name, one.Err))
		}
		return err
	})
	if err != nil {
		return system.Evidence{}, fmt.Errorf("read the topics' configuration: %w",
			c.explain(err))
	}
	var details kadm.TopicDetails
	err = untilAnswered(ctx, func() (err error) {
		details, err = c.admin.ListTopics(ctx, names...)
		for _, one := range details.Sorted() {
			err = cmp.Or(err, of(one.Topic, one.Err))
		}
		return err
	})
	if err != nil {
		return system.Evidence{}, fmt.Errorf("read the topics' replicas: %w", c.explain(err))
	}
	r := reading{driver.Reading{Level: c.level}}
	if err := c.readStandIn(ctx, &r); err != nil {
		return system.Evidence{}, err
	}
	for _, name := range names {
		config, err := configs.On(name, nil)
		if err == nil {
			err = r.topic(name, config, details[name])
		}
		if err != nil {
			return system.Evidence{}, of(name, err)
		}
	}
	r.Add("producers", "acks", c.acksText(), "set by this client")
	r.Add("producers", "enable.idempotence", strconv.FormatBool(c.idempotent()),
		"set by this client")
	return r.Evidence(), nil
}

// of adds the topic to an error.
func of(topic string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("topic %s: %w", topic, err)
}

// untilAnswered repeats a request until its error is not one that Kafka calls retriable, or until
// ctx ends. Any broker may answer, also one that does not yet know a new topic or that it leads
// one of its partitions.
func untilAnswered(ctx context.Context, ask func() error) error {
	return driver.Until(ctx, settlePoll, func() (bool, error) {
		err := ask()
		return kerr.IsRetriable(err), err
	})
}

// reading collects the facts of the live cluster and compares them with the level.
type reading struct{ driver.Reading }

func (r *reading) topic(name string, config kadm.ResourceConfig, detail kadm.TopicDetail) error {
	replicas, inSync, err := copies(detail)
	if err != nil {
		return err
	}
	r.Add(name, "replication factor", strconv.Itoa(replicas), "metadata")
	r.Add(name, "in-sync replicas", strconv.Itoa(inSync), "metadata, the partition with the fewest")
	r.Copies(replicas)
	if least := driver.LeastCopies(r.Level); replicas < least {
		return r.Contradicts(fmt.Sprintf("a replication factor of %d or more", least),
			"it has %d", replicas)
	}
	want := levelConfigs(r.Level, replicas)
	for _, key := range []string{minISR, flushMessages, flushMs, unclean} {
		value, source, told := configOf(config, key)
		if !told {
			if wanted, matters := want[key]; matters && wanted != never {
				return r.Contradicts(key+"="+wanted, "the cluster does not show it")
			}
			continue
		}
		r.Add(name, key, value, source)
		wanted, matters := want[key]
		if matters && value != wanted && !enough(r.Level, key, value, wanted) {
			return r.Contradicts(key+"="+wanted, "it has %s=%s", key, value)
		}
	}
	least, err := strconv.Atoi(want[minISR])
	if err != nil || inSync < least {
		return r.Contradicts(want[minISR]+" replicas in sync", "a partition has %d", inSync)
	}
	return nil
}

// enough reports whether a value other than the wanted one gives exactly the level. A flush every
// n messages does not.
func enough(l workload.Level, key, value, wanted string) bool {
	if key != minISR || !l.Majority() {
		return false
	}
	have, err := strconv.Atoi(value)
	least, errWanted := strconv.Atoi(wanted)
	return err == nil && errWanted == nil && have >= least
}

func configOf(c kadm.ResourceConfig, key string) (value, source string, told bool) {
	i := slices.IndexFunc(c.Configs, func(one kadm.Config) bool { return one.Key == key })
	if i < 0 || c.Configs[i].Value == nil {
		return "", "", false
	}
	return *c.Configs[i].Value, "DescribeConfigs, " + c.Configs[i].Source.String(), true
}

// copies returns the replicas of the topic's partitions, and the fewest that
// are in sync.
func copies(t kadm.TopicDetail) (replicas, inSync int, err error) {
	if len(t.Partitions) == 0 {
		return 0, 0, errors.New("it has no partitions")
	}
	replicas, inSync = math.MaxInt, math.MaxInt
	for _, p := range t.Partitions.Sorted() {
		if p.Err != nil {
			return 0, 0, fmt.Errorf("partition %d: %w", p.Partition, p.Err)
		}
		replicas, inSync = min(replicas, len(p.Replicas)), min(inSync, len(p.ISR))
	}
	return replicas, inSync, nil
}
