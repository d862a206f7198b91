package nsq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type nsqSystem struct{}

// New returns the NSQ system.
func New() driver.CompleteSystem { return nsqSystem{} }

// Describe returns NSQ's terms, durability levels and settings.
func (nsqSystem) Describe() system.Description {
	return system.Description{
		Name: "nsq",
		Summary: "NSQ: queues in memory that overflow to disk, on servers that know nothing of " +
			"each other; no copies",
		Client: "in NSQ's protocol, version 2",
		Terms: driver.Terms{
			Topic:           "topics, one for each partition",
			Partition:       "topic, called topic.partition, on one of the servers in turn",
			Key:             "not sent; it chooses the partition",
			Subscription:    "channel of each of these topics",
			Consumer:        "a connection to each of these channels, which it shares with others",
			Acknowledgement: "the answer to MPUB, one for several messages",
			Backlog:         "depth of the channels, and messages in flight",
		}.List(),
		Levels:         levels(),
		Delivery:       []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:       slices.Concat(clientSettings, serverSettings),
		Clients:        aims,
		Waits:          settingWaits,
		Redelivery:     redelivery,
		RefuseReturns:  system.Always(""), // REQ
		Unordered:      system.Always("NSQ delivers in any order"),
		RefuseExisting: system.Always(system.Destructive),
		Capabilities:   capabilities,
	}
}

// redelivery says when a message comes again although no consumer fails.
func redelivery(s system.Settings, _ workload.Delivery) system.Redelivery {
	// nsqd looks at 20 channels in 100ms, and finds new channels within 5s.
	const scan = 6 * time.Second
	return system.Redelivery{After: s.Duration(setMsgTimeout) + scan,
		Why: "a server delivers a message again that was not ended within " + setMsgTimeout + " (" +
			s.Text(setMsgTimeout) + "), also while it waits in a consumer's buffer"}
}

func levels() map[workload.Level]system.Guarantee {
	const alone = "a message is on one server only"
	return map[workload.Level]system.Guarantee{
		workload.SyncSync:  {Refusal: alone + ", which answers before it syncs"},
		workload.SyncAsync: {Refusal: alone},
		workload.AsyncSync: {Refusal: "nsqd answers before it syncs, with all settings"},
		workload.AsyncAsync: {How: "in the memory of one server, or beyond mem_queue_size in its " +
			"file, which is synced after the answer"},
	}
}

// askWithin bounds a question that is not measured.
const askWithin = 5 * time.Second

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the knowledge of the servers at the endpoints. Its methods may be called from any
// goroutine.
type cluster struct {
	system.Settings
	options  system.Options
	admin    []*driver.API // by endpoint
	versions []string      // by endpoint
	clients  driver.Clients
}

// Connect reaches every server. It returns within ten seconds.
func (nsqSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "nsqd-1:4150"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, options: o,
		versions: make([]string, len(o.Endpoints))}
	for _, address := range o.Endpoints {
		host, _, _ := net.SplitHostPort(address) // CheckOptions did
		base := "http://" + driver.At(host, int(c.Count(setHTTP)))
		c.admin = append(c.admin, &driver.API{Bases: []string{base},
			Client: driver.NewHTTPClient(nil, askWithin)})
	}
	err := system.Each(ctx, len(o.Endpoints), len(o.Endpoints), nil,
		func(ctx context.Context, i int) error {
			k, err := c.dial(ctx, i, identity{HeartbeatMs: -1})
			if err != nil {
				return err
			}
			k.cut()
			c.versions[i] = k.features.Version
			return nil
		})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// dial connects to an endpoint, with an error that says what to do.
func (c *cluster) dial(ctx context.Context, endpoint int, who identity) (*conn, error) {
	address := c.options.Endpoints[endpoint]
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	k, err := dial(ctx, address, c.options.TLS, who)
	if err != nil {
		return nil, c.explain(address, err)
	}
	return k, nil
}

func (c *cluster) explain(address string, err error) error {
	peer := driver.Peer{Endpoints: []string{address}, Protocol: "NSQ",
		Encrypted: c.options.TLS != nil}
	switch told := peer.Explain(err); {
	case told != nil:
		return told
	case driver.Broken(err):
		return peer.HungUp(err)
	}
	return fmt.Errorf("%s: %w", address, err)
}

// home returns the number of the endpoint that has a partition.
func (c *cluster) home(partition int) int { return partition % len(c.options.Endpoints) }

// topicOf returns the NSQ topic of a partition.
func topicOf(topic string, partition int) string { return topic + "." + strconv.Itoa(partition) }

// validName matches the names that nsqd accepts.
var validName = regexp.MustCompile(`^[.a-zA-Z0-9_-]{1,64}$`)

// do sends a request about a partition's topic to its server.
func (c *cluster) do(ctx context.Context, method, path string, t system.Topic, partition int,
	more url.Values, into any) error {
	query := url.Values{"topic": {topicOf(t.Name, partition)}}
	for name, values := range more {
		query[name] = values
	}
	at := c.admin[c.home(partition)]
	err := at.Do(ctx, method, path+"?"+query.Encode(), nil, into)
	var refused *driver.Refused
	if err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("the HTTP interface of nsqd at %s (%s) does not answer: %w", at.Bases[0],
			setHTTP, err)
	}
	return err
}

// found is what a server reports of a topic.
type found struct {
	Channels []channel `json:"channels"`
}

type channel struct {
	Name string `json:"channel_name"`
}

// look returns what the server has of a partition; there is false if it has nothing.
func (c *cluster) look(ctx context.Context, t system.Topic, partition int) (one found, there bool,
	err error) {
	var answer struct {
		Topics []found `json:"topics"`
	}
	err = c.do(ctx, http.MethodGet, "/stats", t, partition,
		url.Values{"format": {"json"}, "include_clients": {"false"}, "include_mem": {"false"}},
		&answer)
	if err != nil || len(answer.Topics) == 0 {
		return one, false, err
	}
	return answer.Topics[0], true, nil
}

// CreateTopic creates the topic of each partition.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	if last := topicOf(t.Name, t.Partitions-1); !validName.MatchString(last) {
		return fmt.Errorf("%q is no name of NSQ: take letters, digits and .-_, at most 64 of them",
			last)
	}
	for partition := range t.Partitions {
		_, there, err := c.look(ctx, t, partition)
		if there {
			err = errors.New("a topic of that name exists already: delete it, or choose another " +
				"name")
		}
		if err != nil {
			return err
		}
	}
	if err := c.each(ctx, t, "/topic/create", nil); err != nil {
		return &system.Unready{Err: err} // some may exist
	}
	return nil
}

// each posts a request about each partition, also after an error.
func (c *cluster) each(ctx context.Context, t system.Topic, path string, more url.Values) error {
	var errs []error
	for partition := range t.Partitions {
		if err := c.do(ctx, http.MethodPost, path, t, partition, more, nil); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	return errors.Join(errs...)
}

// DeleteTopic deletes the topic of each partition, with its channels.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	var errs []error
	for partition := range t.Partitions {
		err := c.do(ctx, http.MethodPost, "/topic/delete", t, partition, nil, nil)
		if err != nil && !driver.HasStatus(err, http.StatusNotFound) {
			errs = append(errs, fmt.Errorf("delete %s: %w", topicOf(t.Name, partition), err))
		}
	}
	return errors.Join(errs...)
}

// Leader returns the server of a partition.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	if partition < 0 || partition >= t.Partitions {
		return "", fmt.Errorf("topic %s has no partition %d", t.Name, partition)
	}
	_, there, err := c.look(ctx, t, partition)
	if err == nil && !there {
		err = fmt.Errorf("there is no topic %s", topicOf(t.Name, partition))
	}
	if err != nil {
		return "", err
	}
	return c.options.Endpoints[c.home(partition)], nil
}

// ServerVersions returns a line for each server.
func (c *cluster) ServerVersions(context.Context) ([]string, error) {
	var lines []string
	for i, address := range c.options.Endpoints {
		lines = append(lines, "nsqd "+address+" "+c.versions[i])
	}
	return lines, nil
}

// ReadDurability checks that the servers have the topics. That an answer waits for no sync is in
// nsqd's source and in no setting.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (system.Evidence,
	error) {
	r := &driver.Reading{Level: c.options.Durability}
	for _, t := range topics {
		for partition := range t.Partitions {
			_, there, err := c.look(ctx, t, partition)
			if err == nil && !there {
				err = errors.New("it does not exist")
			}
			if err != nil {
				return system.Evidence{}, fmt.Errorf("topic %s: %w", topicOf(t.Name, partition),
					err)
			}
		}
		r.Add(t.Name, "topics", strconv.Itoa(t.Partitions), "/stats")
	}
	r.Copies(1)
	r.State("nsqd", "an answer waits for", "memory or a file, and no sync", "nsqd's source")
	if c.options.Durability != workload.AsyncAsync {
		return system.Evidence{}, r.Contradicts("more", "nsqd gives level 4 only")
	}
	return r.Evidence(), nil
}

// Close closes every producer and consumer that is open.
func (c *cluster) Close(ctx context.Context) error { return c.clients.Close(ctx) }
