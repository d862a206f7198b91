package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.TopicFinder = (*cluster)(nil)

// FindTopic reads the topic's partitions from the cluster's metadata.
func (c *cluster) FindTopic(ctx context.Context, name string) (system.Topic, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	details, err := c.admin.ListTopics(ctx, name)
	if err == nil {
		err = details[name].Err
	}
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return system.Topic{}, errors.New("there is no such topic: create it, or correct its name")
	case err != nil:
		return system.Topic{}, c.explain(err)
	}
	return system.Topic{Name: name, Partitions: len(details[name].Partitions)}, nil
}

// DeleteSubscription deletes the group.
func (c *cluster) DeleteSubscription(
	ctx context.Context, t system.Topic, subscription string,
) error {
	return c.deleteGroups(ctx, []string{groupName(t, subscription)})
}

// beginAt gives a group without positions the listed offset of each partition. Otherwise
// a member would look for the end each time that it is assigned a partition without a position,
// and would miss all messages sent before.
func (c *cluster) beginAt(ctx context.Context, g *group, topic string, where listing) error {
	return g.begun.Once(func() error {
		has, err := c.hasPositions(ctx, g.name, topic)
		if err == nil && !has {
			err = c.setPositions(ctx, g.name, topic, where)
		}
		return err
	})
}

// listing asks for an offset of each partition: the first, or that behind the last.
type listing func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)

func (c *cluster) setPositions(ctx context.Context, group, topic string, where listing) error {
	listed, err := where(ctx, topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return fmt.Errorf("read the offsets of topic %s: %w", topic, c.explain(err))
	}
	err = c.admin.CommitAllOffsets(ctx, group, listed.Offsets())
	if err == nil {
		return nil
	}
	// Another worker of the run may have set the positions at the same time.
	if has, again := c.hasPositions(ctx, group, topic); again == nil && has {
		return nil
	}
	return fmt.Errorf("set the positions of group %s: %w", group, c.explain(err))
}

func (c *cluster) hasPositions(ctx context.Context, group, topic string) (bool, error) {
	var at kadm.OffsetResponses
	err := untilAnswered(ctx, func() (err error) {
		at, err = c.admin.FetchOffsets(ctx, group)
		return err
	})
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return false, fmt.Errorf("read the positions of group %s: %w", group, c.explain(err))
	}
	return len(at[topic]) > 0, nil
}

func groupName(t system.Topic, subscription string) string { return t.Name + "." + subscription }
