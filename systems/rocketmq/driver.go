package rocketmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type rocketSystem struct{}

// New returns the RocketMQ system.
func New() driver.CompleteSystem { return rocketSystem{} }

// Describe returns RocketMQ's terms, durability levels and settings.
func (rocketSystem) Describe() system.Description {
	return system.Description{
		Name: "rocketmq",
		Summary: "Apache RocketMQ 5: queues over one commit log for each broker, a master with " +
			"slaves, found through a name server",
		Client: "plimsoll's own, of RocketMQ's remoting protocol",
		Terms: driver.Terms{
			Topic:     "topic, on every master",
			Partition: "queue of the topic; the masters have equal shares of a topic's queues",
			Key:       "property plimsoll-key of the message",
			Subscription: "consumer group, called topic--subscription, which begins at the " +
				"queues' start",
			Consumer:        "member of the group, which has its queues for itself",
			Acknowledgement: "the answer SUCCESS to SEND_BATCH_MESSAGE",
			Backlog:         "messages behind the group's offsets, which the brokers keep",
		}.List(),
		Levels:         levels(),
		Delivery:       []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:       slices.Concat(clientSettings, serverSettings),
		Clients:        aims,
		Waits:          []system.Wait{system.Lingers(setLinger)},
		Copies:         []string{setReplication},
		Redelivery:     redelivery,
		OwnsPartitions: system.Always(true),
		RefuseExisting: system.Always(""),
		Capabilities:   capabilities,
	}
}

// redelivery says when a message comes again although no consumer fails.
func redelivery(_ system.Settings, d workload.Delivery) system.Redelivery {
	if d == workload.AtMostOnce {
		return system.Redelivery{Never: true,
			Why: "the group's offset is behind a message before it is handled"}
	}
	return system.Redelivery{Never: true, Why: "brokers have no time-out for a message that was " +
		"pulled: the group's offset decides, and it moves with the consumer's next pull"}
}

// Connect finds the masters through the name servers. It returns within ten seconds.
func (rocketSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "namesrv-1:9876"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, options: o, level: o.Durability,
		links: make(map[string]*conn)}
	brokers, err := c.brokers(ctx)
	if err == nil {
		err = c.reach(ctx, brokers)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	return c, nil
}

const askWithin = 5 * time.Second

var (
	_ driver.CompleteCluster = (*cluster)(nil)
	_ system.TopicFinder     = (*cluster)(nil)
	_ system.Replayer        = (*cluster)(nil)
)

// cluster is the connection to the name servers and brokers. Its methods may be called from any
// goroutine.
type cluster struct {
	system.Settings
	options system.Options
	level   workload.Level
	names   []string // of the brokers, sorted
	groups  driver.Groups[driver.Shares[*consumer]]
	clients driver.Clients

	mu     sync.Mutex
	links  map[string]*conn // by address, for requests that are not measured
	closed bool
}

// reach remembers the brokers' names, and tries a request that needs a login with each master.
func (c *cluster) reach(ctx context.Context, brokers map[string]broker) error {
	c.names = slices.Sorted(maps.Keys(brokers))
	for _, name := range c.names {
		at, err := brokers[name].master()
		if err == nil {
			_, err = c.ask(ctx, at, askTopic, fields{"topic": "plimsoll-none"}, nil)
		}
		if err != nil && !says(err, saysNoTopic) {
			return c.explain(err)
		}
	}
	return nil
}

// broker is a master and its slaves, which have one name.
type broker struct {
	Name      string            `json:"brokerName"`
	Addresses map[string]string `json:"brokerAddrs"` // by id: the master's is 0
}

func (b broker) master() (string, error) {
	if at := b.Addresses["0"]; at != "" {
		return at, nil
	}
	return "", fmt.Errorf("%w: the name server knows no master of broker %s", errUnsent, b.Name)
}

// slaves returns the addresses of the slaves, sorted.
func (b broker) slaves() []string {
	var all []string
	for id, at := range b.Addresses {
		if id != "0" {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all
}

// brokers asks the name servers in turn. Endpoints that are brokers do not know.
func (c *cluster) brokers(ctx context.Context) (map[string]broker, error) {
	var first error
	for _, at := range c.options.Endpoints {
		var table struct {
			Brokers map[string]broker `json:"brokerAddrTable"`
		}
		err := c.read(ctx, at, askCluster, nil, &table)
		if err == nil && len(table.Brokers) == 0 {
			err = fmt.Errorf("the name server %s knows no broker: start brokers whose "+
				"namesrvAddr names it", at)
		}
		if err == nil {
			return table.Brokers, nil
		}
		if says(err, saysNotSupported) {
			err = fmt.Errorf("%s is a broker: name the name servers among the endpoints, which "+
				"its namesrvAddr lists: %w", at, err)
		} else if err != nil && says(first, saysNotSupported) {
			first = nil // a name server's error says more
		}
		if first == nil {
			first = c.explain(err)
		}
	}
	return nil, first
}

// link returns the connection to a server for requests that are not measured.
func (c *cluster) link(ctx context.Context, address string) (*conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	if k := c.links[address]; k != nil && k.alive() {
		return k, nil
	}
	k, err := c.dial(ctx, address, c.options.Credentials.Admin(), nil)
	if err == nil {
		c.links[address] = k
	}
	return k, err
}

// ask sends a request that is not measured.
func (c *cluster) ask(ctx context.Context, address string, code int, with fields,
	body []byte) (frame, error) {
	k, err := c.link(ctx, address)
	if err != nil {
		return frame{}, err
	}
	return k.ask(ctx, code, with, body)
}

// read sends a request that is not measured, and reads the JSON of its answer.
func (c *cluster) read(ctx context.Context, address string, code int, with fields, into any) error {
	f, err := c.ask(ctx, address, code, with, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(standardJSON(f.body), into)
}

// master returns the address of a broker's master, as the name server knows it now.
func (c *cluster) master(ctx context.Context, name string) (string, error) {
	brokers, err := c.brokers(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnsent, err)
	}
	return broker{name, brokers[name].Addresses}.master()
}

// masters returns the addresses of all masters, in the order of the brokers' names.
func (c *cluster) masters(ctx context.Context) ([]string, error) {
	brokers, err := c.brokers(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]string, len(c.names))
	for i, name := range c.names {
		if all[i], err = (broker{name, brokers[name].Addresses}).master(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// explain returns an error that says in one sentence why no server can be used.
func (c *cluster) explain(err error) error {
	peer := driver.Peer{Endpoints: c.options.Endpoints, Protocol: "RocketMQ", Advertises: true,
		Encrypted: c.options.TLS != nil}
	if told := peer.Explain(err); told != nil {
		return told
	}
	var refused *refusal
	switch {
	case errors.As(err, &refused) && loginFailed(refused.remark):
		return peer.RefusesLogin(err, "")
	case errors.Is(err, errLost), driver.Broken(err):
		return peer.HungUp(err)
	}
	return err
}

// loginFailed reports whether a server's words are about the user, whose errors have no code.
func loginFailed(remark string) bool {
	for _, words := range []string{"AuthenticationException", "check signature failed",
		"username cannot be null", "User:"} {
		if strings.Contains(remark, words) {
			return true
		}
	}
	return false
}

// oneLine returns the first line of a server's words.
func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// Leader returns the master of the partition's broker.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	places, err := c.places(ctx, t.Name)
	if err != nil {
		return "", err
	}
	if partition >= len(places) {
		return "", fmt.Errorf("topic %s has no queue %d", t.Name, partition)
	}
	return c.master(ctx, places[partition].broker)
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.closed = true
		for _, k := range c.links {
			_ = k.close() // it never fails
		}
		return nil
	})
}
