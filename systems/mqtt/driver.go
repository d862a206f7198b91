package mqtt

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type mqttSystem struct{}

// New returns the MQTT system.
func New() driver.CompleteSystem { return mqttSystem{} }

// Describe returns MQTT's terms, durability levels and settings.
func (mqttSystem) Describe() system.Description {
	return system.Description{
		Name: "mqtt",
		Summary: "MQTT 5: topics whose subscribers share messages (shared subscriptions); " +
			"plimsoll starts HiveMQ CE, one server",
		Client: "in MQTT 5, with the packets of paho.golang " +
			driver.LibraryVersion("github.com/eclipse/paho.golang"),
		Terms: driver.Terms{
			Topic:           "topics, one for each partition",
			Partition:       "topic, called topic/partition",
			Key:             "not sent; it chooses the partition",
			Subscription:    "shared subscription of each of these topics",
			Consumer:        "client with these subscriptions, which it shares with others",
			Acknowledgement: "PUBACK (QoS 1) or PUBCOMP (QoS 2)",
			Backlog:         "the queues of the shared subscriptions",
		}.List(),
		Levels:       levels(),
		Delivery:     []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:     slices.Concat(clientSettings, serverSettings),
		Clients:      aims,
		Redelivery:   redelivery,
		Capabilities: capabilities,
	}
}

// redelivery says when a message comes again although no consumer fails.
func redelivery(_ system.Settings, d workload.Delivery) system.Redelivery {
	if d == workload.AtMostOnce {
		return system.Redelivery{Never: true,
			Why: "a message is acknowledged before it is handled"}
	}
	return system.Redelivery{Never: true, Why: "MQTT has no time-out for a message that was " +
		"delivered: it comes again only when its consumer's connection ends"}
}

// askWithin bounds a question that is not measured.
const askWithin = 5 * time.Second

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the knowledge of a server. Its methods may be called from any goroutine.
type cluster struct {
	system.Settings
	options system.Options
	address string
	clients driver.Clients
	groups  driver.Groups[driver.Made] // the subscriptions that the topic's session has
}

// Connect reaches the server. It returns within ten seconds.
func (mqttSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "mqtt-1:1883"); err != nil {
		return nil, err
	}
	if n := len(o.Endpoints); n != 1 {
		return nil, fmt.Errorf("the target names %d endpoints: name one, because a driver of "+
			"MQTT cannot see which messages servers share", n)
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, options: o, address: o.Endpoints[0]}
	if err := c.tryAbsence(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// guest returns a session that ends with its connection.
func (c *cluster) guest() session {
	return session{id: "plimsoll-" + rand.Text(), anew: true,
		keepAlive: c.Duration(setKeepAlive), user: c.options.Credentials.User,
		password: c.options.Credentials.Password}
}

// keeper returns the session that stands for a topic: it outlives its connection, exists as long as
// the topic does, and has the topic's subscriptions, so that these exist without consumers.
func (c *cluster) keeper(topic string) session {
	s := c.guest()
	s.id, s.anew, s.expiry, s.receiveMax = topic, false, c.Duration(setExpiry), 1
	return s
}

// dial connects, with an error that says what to do.
func (c *cluster) dial(ctx context.Context, s session) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	k, err := dial(ctx, c.address, c.options.TLS, s)
	if err != nil {
		return nil, c.explain(err)
	}
	return k, nil
}

func (c *cluster) explain(err error) error {
	peer := driver.Peer{Endpoints: []string{c.address}, Protocol: "MQTT",
		Encrypted: c.options.TLS != nil}
	var refused *refusal
	if errors.As(err, &refused) {
		switch refused.code {
		case packets.ConnackBadUsernameOrPassword, packets.ConnackNotAuthorized,
			4, 5: // of MQTT 3.1.1
			return peer.RefusesLogin(err, "")
		case packets.ConnackUnsupportedProtocolVersion, 1:
			return fmt.Errorf("%s does not speak MQTT 5: name a server that does: %w", c.address,
				err)
		}
	}
	switch told := peer.Explain(err); {
	case told != nil:
		return told
	case driver.Broken(err):
		return peer.HungUp(err)
	}
	return fmt.Errorf("%s: %w", c.address, err)
}

// validName matches the names of topics and subscriptions.
var validName = regexp.MustCompile(`^[.a-zA-Z0-9_-]{1,200}$`)

func checkName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%q is no name for a topic or a subscription: take letters, digits and "+
			".-_, at most 200 of them", name)
	}
	return nil
}

// topicOf returns the MQTT topic of a partition.
func topicOf(topic string, partition int) string { return topic + "/" + strconv.Itoa(partition) }

// deletedOf returns the MQTT topic that tells consumers of the end of a topic.
func deletedOf(topic string) string { return topic + "/" + deletion }

const deletion = "deleted"

// exists reports whether a topic exists: whether the server has its session.
func (c *cluster) exists(ctx context.Context, topic string) (bool, error) {
	k, err := c.dial(ctx, c.keeper(topic))
	if err != nil {
		return false, err
	}
	k.part(k.told.SessionPresent)
	return k.told.SessionPresent, nil
}

// CreateTopic creates the session that stands for the topic.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	if err := checkName(t.Name); err != nil {
		return err
	}
	k, err := c.dial(ctx, c.keeper(t.Name))
	if err != nil {
		return err
	}
	defer k.part(true)
	if k.told.SessionPresent {
		return fmt.Errorf("a session called %s exists already: delete the topic, or choose "+
			"another name", t.Name)
	}
	return nil
}

// DeleteTopic ends the topic's session, and with it its subscriptions, and tells the consumers.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	c.groups.Drop(t)
	s := c.guest()
	s.id = t.Name // it takes the place of the earlier one
	k, err := c.dial(ctx, s)
	if err != nil {
		return err
	}
	defer k.part(false)
	if err := k.publish(ctx, appendPublish(nil, deletedOf(t.Name), 1, 1, nil)); err != nil {
		return c.explain(err)
	}
	return nil
}

// mustExist returns an error unless a topic exists.
func (c *cluster) mustExist(ctx context.Context, topic string) error {
	there, err := c.exists(ctx, topic)
	if err == nil && !there {
		err = fmt.Errorf("there is no session called %s: %w", topic, system.ErrNoTopic)
	}
	return err
}

// Leader returns the server.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	if partition < 0 || partition >= t.Partitions {
		return "", fmt.Errorf("topic %s has no partition %d", t.Name, partition)
	}
	if err := c.mustExist(ctx, t.Name); err != nil {
		return "", err
	}
	return c.address, nil
}

// Close closes every producer and consumer that is open.
func (c *cluster) Close(ctx context.Context) error { return c.clients.Close(ctx) }
