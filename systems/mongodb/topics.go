package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/system"
)

// topicsCollection has a document for each topic.
const topicsCollection = "plimsoll.topics"

// topicDocument is what the database knows of a topic. The place of a subscription's name
// is its number.
type topicDocument struct {
	Name          string   `bson:"_id"`
	Partitions    int      `bson:"partitions"`
	Subscriptions []string `bson:"subscriptions"`
}

// codeNamespaceExists is the server's code for a collection that exists.
const codeNamespaceExists = 48

// topics returns the collection of all topics. An election does not roll its writes back.
func (c *cluster) topics() *mongo.Collection {
	return c.database().Collection(topicsCollection,
		options.Collection().SetWriteConcern(writeconcern.Majority()))
}

func byID(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

// CreateTopic creates the topic's collection.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	if err := c.database().CreateCollection(ctx, t.Name); err != nil {
		var answer mongo.CommandError
		if errors.As(err, &answer) && answer.Code == codeNamespaceExists {
			err = fmt.Errorf("a topic of the name exists: delete it, or choose another name: %w",
				err)
		}
		return fmt.Errorf("creating the topic: %w", c.explain(err))
	}
	_, err := c.topics().ReplaceOne(ctx, byID(t.Name),
		topicDocument{t.Name, t.Partitions, []string{}}, options.Replace().SetUpsert(true))
	if err != nil {
		return fmt.Errorf("creating the topic: %w", c.explain(err))
	}
	return nil
}

// DeleteTopic deletes the topic's collection.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	err := c.database().Collection(t.Name).Drop(ctx)
	if err == nil {
		_, err = c.topics().DeleteOne(ctx, byID(t.Name))
	}
	if err != nil {
		return fmt.Errorf("deleting the topic: %w", c.explain(err))
	}
	return nil
}

// readTopic returns what the database knows of a topic.
func (c *cluster) readTopic(ctx context.Context, name string) (t topicDocument, err error) {
	err = c.topics().FindOne(ctx, byID(name)).Decode(&t)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return t, fmt.Errorf("there is no topic %s", name)
	}
	if err != nil {
		return t, fmt.Errorf("reading the topic %s: %w", name, c.explain(err))
	}
	return t, nil
}

// viewFor is how long a consumer relies on what it has read of the topic's subscriptions.
// A further subscription is not open before that time has passed, so no consumer deletes
// what that subscription is to have.
const viewFor = 500 * time.Millisecond

// subscribe returns the number of a subscription, and makes it if it is not there.
func (c *cluster) subscribe(ctx context.Context, t system.Topic, name string) (int, error) {
	var before topicDocument
	add := bson.D{{Key: "$addToSet", Value: bson.D{{Key: "subscriptions", Value: name}}}}
	err := c.topics().FindOneAndUpdate(ctx, byID(t.Name), add).Decode(&before)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return 0, fmt.Errorf("there is no topic %s", t.Name)
	}
	if err != nil {
		return 0, fmt.Errorf("making the subscription %s: %w", name, c.explain(err))
	}
	number := slices.Index(before.Subscriptions, name)
	isNew := number < 0
	if isNew {
		number = len(before.Subscriptions)
	}
	_, err = c.database().Collection(t.Name).Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: leaseField(number), Value: 1}, {Key: "_id", Value: 1}},
	})
	if err != nil {
		return 0, fmt.Errorf("making the index of the subscription %s: %w", name, c.explain(err))
	}
	if isNew && number > 0 && !clock.Sleep(ctx, viewFor) {
		return 0, ctx.Err()
	}
	return number, nil
}

// leaseField is the field of a message that holds the lease of a subscription.
func leaseField(subscription int) string { return "l" + strconv.Itoa(subscription) }
