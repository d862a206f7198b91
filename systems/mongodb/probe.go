package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// variant names the stand-in that plimsoll would start.
func variant(o system.Options) string {
	if len(o.Endpoints) == 0 && chosen(o.Settings) == serverJava {
		return "on " + kindJava
	}
	return ""
}

// insert inserts a message into partition 0 under an _id.
func (c *cluster) insert(ctx context.Context, t system.Topic, id bson.ObjectID, payload []byte,
	w *writeconcern.WriteConcern, more ...bson.E,
) error {
	into := c.database().Collection(t.Name, options.Collection().SetWriteConcern(w))
	_, err := into.InsertOne(ctx, append(bson.D{{Key: fieldID, Value: id},
		{Key: fieldPartition, Value: int32(0)}, {Key: fieldPayload, Value: payload}}, more...))
	return err
}

// PublishAcked publishes at a write concern.
func (c *cluster) PublishAcked(
	ctx context.Context, t system.Topic, kind system.AckKind, payload []byte,
) (string, error) {
	id, w := c.sequence.next(), writeconcern.W1()
	answer := "insert answered at w: 1"
	switch kind {
	case system.AckNone:
		w, answer = writeconcern.Unacknowledged(), ""
	case system.AckReplicas:
		if c.server.set == "" {
			return "", &system.NotSupported{
				Reason:    c.server.String() + " is no member of a replica set",
				Condition: "a replica set of mongod",
			}
		}
		w, answer = writeconcern.Majority(), "insert answered at w: majority"
	case system.AckRefusal:
		if err := c.insert(ctx, t, id, payload, w); err != nil {
			return "", fmt.Errorf("publish: %w", c.explain(err))
		}
		return refusal(c.insert(ctx, t, id, payload, w))
	}
	if err := c.insert(ctx, t, id, payload, w); err != nil {
		return "", fmt.Errorf("publish: %w", c.explain(err))
	}
	return answer, nil
}

// refusal returns the answer of a server to a document whose _id exists, which it must refuse.
func refusal(err error) (string, error) {
	return driver.Refusal(mongo.IsDuplicateKeyError(err), err)
}

// OpenRoutes uses a collection for each key.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (
	system.Publisher, string, error,
) {
	return c.OpenKeyRoutes(ctx, c, r,
		func(ctx context.Context, topic string, payload []byte) error {
			return c.insert(ctx, system.Topic{Name: topic}, c.sequence.next(), payload,
				concernOf(c.level))
		})
}

// OpenMailbox delays a message with an initial lease. It refuses other features.
func (c *cluster) OpenMailbox(ctx context.Context, t system.Topic, f system.Feature) (
	system.Mailbox, string, error,
) {
	if f == system.FeatureDelay {
		const condition = "the publisher writes the lease of the subscription"
		of := driver.TopicMailbox{Cluster: c, Topic: t, Subscription: "delayed"}
		return &mailbox{of, c}, condition, c.CreateTopic(ctx, t)
	}
	return c.Lacks.OpenMailbox(ctx, t, f)
}

// mailbox is a topic whose messages are leased until they are due.
type mailbox struct {
	driver.TopicMailbox
	of *cluster
}

// Post publishes a message that becomes visible after its delay.
func (b *mailbox) Post(ctx context.Context, e system.Envelope) error {
	lease := bson.E{Key: leaseField(0), Value: time.Now().Add(e.Delay)}
	return b.of.insert(ctx, b.Topic, b.of.sequence.next(), e.Payload, concernOf(b.of.level), lease)
}

// Transact publishes in a transaction of several documents.
func (c *cluster) Transact(
	ctx context.Context, t system.Topic, payloads [][]byte, commit bool,
) (string, error) {
	const condition = "a replica set of mongod"
	if c.server.set == "" {
		return "", &system.NotSupported{
			Reason:    "transactions need a replica set, and this is " + c.server.String(),
			Condition: condition,
		}
	}
	var documents []any
	for _, payload := range payloads {
		documents = append(documents, bson.D{{Key: fieldID, Value: c.sequence.next()},
			{Key: fieldPartition, Value: int32(0)}, {Key: fieldPayload, Value: payload}})
	}
	err := c.client.UseSession(ctx, func(ctx context.Context) error {
		session := mongo.SessionFromContext(ctx)
		if err := session.StartTransaction(); err != nil {
			return err
		}
		_, err := c.database().Collection(t.Name).InsertMany(ctx, documents)
		if err != nil || !commit {
			return errors.Join(err, session.AbortTransaction(ctx))
		}
		return session.CommitTransaction(ctx)
	})
	if err != nil {
		return "", fmt.Errorf("publish in a transaction: %w", c.explain(err))
	}
	return condition, nil
}

// PublishTwice inserts a document twice under an _id that the publisher chose.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (
	answer, condition string, err error,
) {
	condition = "the publisher chooses the _id, and the first copy has not been acknowledged " +
		"and deleted"
	id, w := c.sequence.next(), concernOf(c.level)
	if err = c.insert(ctx, t, id, payload, w); err != nil {
		return "", "", fmt.Errorf("insert the document: %w", c.explain(err))
	}
	answer, err = refusal(c.insert(ctx, t, id, payload, w))
	return "the second time: " + answer, condition, err
}

// lacks has what is instead of a capability.
var lacks = driver.Lacks{
	Sharing: driver.SharedAsTheyAre,
	Routes: driver.NoRoutes("the server routes nothing; consumers may query any field of a " +
		"document, and a document that several of them want needs a lease for each"),
	Replay: "the acknowledgement of the last subscription deletes the document",
	Features: map[system.Feature]string{
		system.FeatureTTL: "a TTL index removes documents, once a minute, read or not: this " +
			"queue has none, and it was therefore not tried",
		system.FeaturePriority: "consumers take the smallest _id; a priority would be a field " +
			"before it in index and sort, which this queue does not have",
	},
	Rejection: "there is no rejection: after its lease a message comes again; a consumer " +
		"may count deliveries in the document and move it itself",
	Bounds: "no collection can refuse more: a capped collection removes its oldest documents, " +
		"read or not",
}
