package mongodb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type mongoSystem struct{}

// New returns the MongoDB system.
func New() driver.CompleteSystem { return mongoSystem{} }

// Describe returns MongoDB's terms, durability levels and settings.
func (mongoSystem) Describe() system.Description {
	return system.Description{
		Name: "mongodb",
		Summary: "MongoDB as a queue: a document per message, which consumers lease by " +
			"findOneAndUpdate and delete; tried against mongo-java-server and FerretDB, and " +
			"not yet against a real mongod",
		Client: "mongo-driver " + driver.LibraryVersion("go.mongodb.org/mongo-driver/v2"),
		Terms: driver.Terms{
			Topic:           "collection",
			Partition:       "field q of the document; all partitions are in one collection",
			Key:             "field k of the document",
			Subscription:    "field l0, l1, … of the document, which holds the lease",
			Consumer:        "a client that takes the oldest document without a lease",
			Acknowledgement: "the answer to insertMany at the level's write concern",
			Backlog:         "documents that the subscription has not marked or deleted",
		}.List(),
		Levels:         levels(),
		Delivery:       []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:       slices.Concat(clientSettings, serverSettings),
		Clients:        aims,
		Waits:          settingWaits,
		Periods:        []system.Period{{What: "WiredTiger's checkpoints", Every: time.Minute}},
		Copies:         []string{setReplication},
		Redelivery:     redelivery,
		RefuseExisting: system.Always(system.Destructive),
		Capabilities:   capabilities,
		Variant:        variant,
	}
}

// redelivery returns when a message comes again although no consumer fails.
func redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	if d == workload.AtMostOnce {
		return system.Redelivery{Never: true,
			Why: "findOneAndDelete: a message is gone from the collection when it is taken"}
	}
	lease := s.Duration(setLease)
	return system.Redelivery{After: lease + claimEvery(lease),
		Why: "consumers take documents whose " + setLease + " (" + s.Text(setLease) +
			") has passed, also from a consumer that is merely slow"}
}

const askWithin = 4 * time.Second

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is a connection to a server or a replica set. Its methods may be called from any
// goroutine.
type cluster struct {
	system.Settings
	options  system.Options
	level    workload.Level
	client   *mongo.Client // used for everything; has a pool of connections
	direct   bool          // talks only to the server at the endpoint
	server   server        // the first server that answered
	sequence sequence
	clients  driver.Clients
}

// Connect asks the endpoints for their kind of server. It returns within ten seconds.
func (mongoSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "mongo-1:27017"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, options: o, level: o.Durability}
	c.sequence.begin()
	// The library would keep trying after errors of the network and of TLS.
	if _, err := driver.DialAny(ctx, o.Endpoints, o.TLS); err != nil {
		return nil, c.explain(err)
	}
	client, err := c.dial(o.Endpoints, o.Credentials)
	if err != nil {
		return nil, c.explain(err)
	}
	c.client = client
	err = driver.Until(ctx, driver.RetryPause, func() (again bool, err error) {
		c.server, err = identify(ctx, client)
		return isCleared(err), err
	})
	if err == nil {
		err = c.server.gives(c.level)
	}
	if err == nil {
		err = c.allowed(ctx)
	}
	if err != nil {
		// Only the client's connections need to be closed.
		return nil, errors.Join(c.explain(err), disconnect(client))
	}
	return c, nil
}

// allowed returns the reason why the user may not read the database, or nil. Servers answer hello
// and buildInfo without a login.
func (c *cluster) allowed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	err := c.topics().FindOne(ctx, byID("")).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return err
}

// dial returns a client, which connects when it is first used.
func (c *cluster) dial(endpoints []string, s system.Credentials) (*mongo.Client, error) {
	const atOnce = 16 // connections that are being opened
	o := options.Client().SetHosts(endpoints).SetAppName("plimsoll").
		SetMaxPoolSize(0). // a producer and a consumer take one connection each
		SetMaxConnecting(atOnce).SetConnectTimeout(askWithin).
		SetServerSelectionTimeout(c.Duration(setDelivery)).
		SetRetryWrites(c.Bool(setRetry)).SetMaxAdaptiveRetries(0).SetDirect(c.direct)
	if s.User != "" || s.Password != "" {
		o.SetAuth(options.Credential{
			Username: s.User, Password: s.Password, AuthSource: c.Text(setAuthSource),
		})
	}
	if c.options.TLS != nil {
		o.SetTLSConfig(c.options.TLS.Clone())
	}
	return mongo.Connect(o)
}

// disconnect ends a client's connections.
func disconnect(client *mongo.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	return client.Disconnect(ctx)
}

// database holds the topics. Writes to it have the level's write concern.
func (c *cluster) database() *mongo.Database {
	return c.client.Database(c.Text(setDatabase),
		options.Database().SetWriteConcern(concernOf(c.level)))
}

// Leader returns the address of the primary if the topic exists.
func (c *cluster) Leader(ctx context.Context, t system.Topic, _ int) (string, error) {
	if _, err := c.readTopic(ctx, t.Name); err != nil {
		return "", err
	}
	if c.server.set == "" {
		return c.options.Endpoints[0], nil
	}
	now, err := identify(ctx, c.client)
	if err == nil && now.primary == "" {
		err = fmt.Errorf("the replica set %s has no primary now", c.server.set)
	}
	if err != nil {
		return "", c.explain(err)
	}
	return now.primary, nil
}

// ServerVersions returns a line for each server.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	if c.server.set == "" {
		return []string{c.options.Endpoints[0] + " " + c.server.String()}, nil
	}
	members, err := c.readMembers(ctx)
	var lines []string
	for _, m := range members {
		lines = append(lines, m.host+" "+m.server.String())
	}
	return lines, err
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, func() error { return disconnect(c.client) })
}

// concernOf returns the write concern of a level.
func concernOf(l workload.Level) *writeconcern.WriteConcern {
	synced := l.Synced()
	if l.Majority() {
		return &writeconcern.WriteConcern{W: "majority", Journal: &synced}
	}
	return &writeconcern.WriteConcern{W: 1, Journal: &synced}
}

// sequence makes the _id of messages: object ids that grow, across all producers of the cluster.
// The library's own ids can restart at zero within a second.
type sequence struct {
	process [5]byte
	last    atomic.Uint64 // second and count: 32 and 24 bits
}

const countBits = 24

func (s *sequence) begin() {
	id := bson.NewObjectID()
	copy(s.process[:], id[4:9]) // the format's bytes of the process and random bytes
}

// next returns an id that is greater than all previous ones.
func (s *sequence) next() (id bson.ObjectID) {
	for {
		last := s.last.Load()
		now := max(last+1, uint64(time.Now().Unix())<<countBits)
		if s.last.CompareAndSwap(last, now) {
			binary.BigEndian.PutUint32(id[:4], uint32(now>>countBits))
			copy(id[4:9], s.process[:])
			id[9], id[10], id[11] = byte(now>>16), byte(now>>8), byte(now)
			return id
		}
	}
}

// topicsCollection has a document for each topic.
const topicsCollection = "plimsoll.topics"

// topicDocument describes a topic in the database. The index of a subscription's name is its
// number.
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
		return fmt.Errorf("create the topic: %w", c.explain(err))
	}
	_, err := c.topics().ReplaceOne(ctx, byID(t.Name),
		topicDocument{t.Name, t.Partitions, []string{}}, options.Replace().SetUpsert(true))
	if err != nil {
		return fmt.Errorf("create the topic: %w", c.explain(err))
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
		return fmt.Errorf("delete the topic: %w", c.explain(err))
	}
	return nil
}

var errNoTopic = errors.New("there is no topic")

// readTopic reads a topic's document.
func (c *cluster) readTopic(ctx context.Context, name string) (t topicDocument, err error) {
	err = c.topics().FindOne(ctx, byID(name)).Decode(&t)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return t, fmt.Errorf("%w %s", errNoTopic, name)
	}
	if err != nil {
		return t, fmt.Errorf("read the topic %s: %w", name, c.explain(err))
	}
	return t, nil
}

// viewFor is how long a consumer relies on its list of the topic's subscriptions. A new
// subscription opens only after this time, so no consumer deletes a message that the new
// subscription must get.
const viewFor = 500 * time.Millisecond

// subscribe returns the number of a subscription, and creates it if necessary.
func (c *cluster) subscribe(ctx context.Context, t system.Topic, name string) (int, error) {
	var before topicDocument
	add := bson.D{{Key: "$addToSet", Value: bson.D{{Key: "subscriptions", Value: name}}}}
	err := c.topics().FindOneAndUpdate(ctx, byID(t.Name), add).Decode(&before)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return 0, fmt.Errorf("%w %s", errNoTopic, t.Name)
	}
	if err != nil {
		return 0, fmt.Errorf("make the subscription %s: %w", name, c.explain(err))
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
		return 0, fmt.Errorf("make the index of the subscription %s: %w", name, c.explain(err))
	}
	if isNew && number > 0 && !clock.Sleep(ctx, viewFor) {
		return 0, ctx.Err()
	}
	return number, nil
}

// leaseField returns the field of a message that holds a subscription's lease.
func leaseField(subscription int) string { return "l" + strconv.Itoa(subscription) }
