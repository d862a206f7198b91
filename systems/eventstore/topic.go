package eventstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"

	"github.com/plimsoll-bench/plimsoll/system"
)

// A stream with the topic's name has an event for each creation and each deletion of the topic. A
// stream that was deleted for good never takes another event, so each creation has its own
// streams: topic-0-2 is partition 2 of the first creation.

// errNoTopic is wrapped by the errors of a topic that does not exist.
var errNoTopic = errors.New("there is no such topic: create it first")

// history reads the topic's last event. It returns the revision to expect for the next one, how
// often the topic was created before, and whether it exists.
func (c *cluster) history(ctx context.Context, t system.Topic) (
	last kurrentdb.StreamState, creation uint64, exists bool, err error,
) {
	number, err := c.admin.readLast(ctx, t.Name)
	switch {
	case err == nil:
		return kurrentdb.StreamRevision{Value: number}, (number + 1) / 2, number%2 == 0, nil
	case codeOf(err) == kurrentdb.ErrorCodeResourceNotFound:
		return kurrentdb.NoStream{}, 0, false, nil
	}
	return nil, 0, false, c.explain(err)
}

// note appends the topic's next event, unless another client appended one meanwhile.
func (c *cluster) note(
	ctx context.Context, t system.Topic, last kurrentdb.StreamState, what string,
) error {
	err := c.admin.call(ctx, func(ctx context.Context, client *kurrentdb.Client) error {
		_, err := client.AppendToStream(ctx, t.Name,
			kurrentdb.AppendToStreamOptions{StreamState: last},
			kurrentdb.EventData{EventType: what, ContentType: kurrentdb.ContentTypeBinary})
		return err
	})
	if err != nil {
		return c.explain(err)
	}
	return nil
}

func streamNames(t system.Topic, creation uint64) []string {
	names := make([]string, t.Partitions)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d-%d", t.Name, creation, i)
	}
	return names
}

// streams returns the streams of an existing topic.
func (c *cluster) streams(ctx context.Context, t system.Topic) ([]string, error) {
	_, creation, exists, err := c.history(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("look for topic %s: %w", t.Name, err)
	}
	if !exists {
		return nil, fmt.Errorf("topic %s: %w", t.Name, errNoTopic)
	}
	return streamNames(t, creation), nil
}

// each calls the library for each of the streams.
func (c *cluster) each(ctx context.Context, streams []string,
	do func(ctx context.Context, client *kurrentdb.Client, stream string) error,
) error {
	for _, stream := range streams {
		err := c.admin.call(ctx, func(ctx context.Context, client *kurrentdb.Client) error {
			return do(ctx, client, stream)
		})
		if err != nil {
			return fmt.Errorf("stream %s: %w", stream, c.explain(err))
		}
	}
	return nil
}

// CreateTopic notes that the topic exists. Its streams are created by their first events.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	last, creation, exists, err := c.history(ctx, t)
	if err == nil && exists {
		err = errors.New("a topic of the name exists: delete it, or choose another name")
	}
	if n := c.Count(setMaxCount); err == nil && n > 0 {
		var metadata kurrentdb.StreamMetadata
		metadata.SetMaxCount(uint64(n))
		err = c.each(ctx, streamNames(t, creation), func(
			ctx context.Context, client *kurrentdb.Client, stream string,
		) error {
			_, err := client.SetStreamMetadata(ctx, stream, kurrentdb.AppendToStreamOptions{},
				metadata)
			return err
		})
	}
	if err == nil {
		err = c.note(ctx, t, last, "created")
	}
	if err != nil {
		return fmt.Errorf("create topic %s: %w", t.Name, err)
	}
	return nil
}

// DeleteTopic deletes the groups of the topic's streams, and the streams for good.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	last, creation, exists, err := c.history(ctx, t)
	if err == nil && !exists {
		return nil
	}
	c.groups.Drop(t)
	if err == nil {
		err = c.each(ctx, streamNames(t, creation), deleteStream)
	}
	if err == nil {
		err = c.note(ctx, t, last, "deleted")
	}
	if err != nil {
		return fmt.Errorf("delete topic %s: %w", t.Name, err)
	}
	return nil
}

// deleteStream deletes a stream for good, with its groups.
func deleteStream(ctx context.Context, client *kurrentdb.Client, stream string) error {
	groups, err := client.ListPersistentSubscriptionsForStream(ctx, stream,
		kurrentdb.ListPersistentSubscriptionsOptions{})
	if err != nil && codeOf(err) != kurrentdb.ErrorCodeResourceNotFound {
		return err
	}
	for _, g := range groups {
		if err := deleteGroup(ctx, client, stream, g.GroupName); err != nil {
			return err
		}
	}
	err = tombstone(ctx, client, stream)
	if codeOf(err) == kurrentdb.ErrorCodeStreamDeleted {
		return nil
	}
	return err
}

// tombstone deletes a stream for good. The library panics on an answer without a position;
// tombstone returns an error instead. The library holds no lock at that moment, so the client
// remains usable.
func tombstone(ctx context.Context, client *kurrentdb.Client, stream string) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the client library cannot read the answer to the deletion of the "+
				"stream, which may be deleted: %v", cause)
		}
	}()
	_, err = client.TombstoneStream(ctx, stream,
		kurrentdb.TombstoneStreamOptions{StreamState: kurrentdb.Any{}})
	return err
}

// deleteGroup deletes a group, unless it is gone.
func deleteGroup(ctx context.Context, client *kurrentdb.Client, stream, name string) error {
	err := client.DeletePersistentSubscription(ctx, stream, name,
		kurrentdb.DeletePersistentSubscriptionOptions{})
	if codeOf(err) == kurrentdb.ErrorCodeResourceNotFound {
		return nil
	}
	return err
}
