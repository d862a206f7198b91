package pulsar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type pulsarSystem struct{}

var (
	_ system.Provisioner      = pulsarSystem{}
	_ system.Checker          = pulsarSystem{}
	_ system.DurabilityReader = (*cluster)(nil)
	_ system.VersionReader    = (*cluster)(nil)
	_ system.TopicDeleter     = (*cluster)(nil)
)

// New returns the Pulsar system. It is a system.Provisioner too, and its
// clusters read their durability and versions back and delete topics.
func New() system.System { return pulsarSystem{} }

const library = "github.com/apache/pulsar-client-go"

// Describe says what Pulsar's words and capabilities are.
func (pulsarSystem) Describe() system.Description {
	return system.Description{
		Name:    "pulsar",
		Summary: "Apache Pulsar: brokers that keep nothing, and bookies that keep ledgers with a quorum of copies",
		Client:  "pulsar-client-go " + libraryVersion(),
		Terms: []system.Term{
			{Word: "topic", Means: "partitioned topic in a namespace of the level's own"},
			{Word: "partition", Means: "partition; each is a managed ledger that one broker owns"},
			{Word: "key", Means: "the message's key; plimsoll chooses the partition by it, the same way for every system"},
			{Word: "subscription", Means: "durable subscription, which begins at the earliest message"},
			{Word: "consumer", Means: "consumer of the subscription"},
			{Word: "acknowledgement of a publish", Means: "the broker's send receipt, when the ack quorum of bookies has the entry"},
			{Word: "backlog", Means: "msgBacklog of the subscription"},
		},
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: declared(),
	}
}

func libraryVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == library {
				return strings.TrimPrefix(d.Version, "v")
			}
		}
	}
	return "of an unknown version"
}

// Check says all that is wrong with what is asked, before anything starts.
func (pulsarSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	bad = append(bad, checkNodes(c.Settings, c.Durability, c.Nodes)...)
	if c.Delivery == workload.ExactlyOnce {
		bad = append(bad, strict.Violation{Message: "delivery exactly_once: it is not offered for Pulsar, because transactions of its Go client were not found to hold: take at_least_once"})
	}
	if len(bad) > 0 {
		return bad
	}
	return nil
}

// Connect reaches the brokers at the endpoints, and their admin API. It returns
// within ten seconds.
func (pulsarSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if bad := problems(o.Settings, o.Durability); len(bad) > 0 {
		return nil, bad
	}
	if err := checkEndpoints(o.Endpoints); err != nil {
		return nil, err
	}
	cfg := readConfig(o.Settings)
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := probe(ctx, o, cfg); err != nil {
		return nil, explain(err, o)
	}
	token := o.Credentials.AdminPassword
	if token == "" {
		token = o.Credentials.Password
	}
	c := &cluster{
		cfg: cfg, options: o, level: o.Durability, groups: make(map[string]*group),
		admin: newAdmin(adminOf(o.Endpoints, cfg.adminEndpoints, o.TLS != nil), o.TLS, token),
	}
	if err := c.admin.get(ctx, "/admin/v2/clusters", nil); err != nil {
		c.admin.close()
		return nil, c.explainAdmin(err)
	}
	lib, _, err := newClient(o, cfg)
	if err != nil {
		c.admin.close()
		return nil, err
	}
	c.client = lib
	return c, nil
}

// cluster is a connection to running brokers. Its methods may be called from
// any goroutine.
type cluster struct {
	cfg     config
	options system.Options
	level   workload.Level
	client  client.Client // for what is not measured
	admin   *admin

	clients driver.Clients

	mu     sync.Mutex
	made   bool // this connection made the namespace
	groups map[string]*group
}

// explainAdmin is explain for what the admin API says.
func (c *cluster) explainAdmin(err error) error {
	var r *refusal
	if errors.As(err, &r) {
		return c.explain(err)
	}
	o := c.options
	o.Endpoints = nil
	for _, base := range c.admin.bases {
		_, address, _ := strings.Cut(base, "://")
		o.Endpoints = append(o.Endpoints, address)
	}
	return fmt.Errorf("the brokers' admin API (setting %s): %w", setAdminEndpoints, explain(err, o))
}

// ServerVersions returns a line for each broker whose admin API is known.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var lines []string
	for _, base := range c.admin.bases {
		_, address, _ := strings.Cut(base, "://")
		var version text
		if _, err := c.admin.once(ctx, http.MethodGet, base+"/admin/v2/brokers/version", nil, &version); err != nil {
			lines = append(lines, fmt.Sprintf("broker %s does not tell: %v", address, err))
			continue
		}
		lines = append(lines, fmt.Sprintf("broker %s runs Pulsar %s", address, version))
	}
	return lines, nil
}

// Close closes every producer and consumer that is open, deletes the namespace
// when this connection made it and nothing is left in it, and closes the
// connections.
func (c *cluster) Close(ctx context.Context) error {
	first, err := c.clients.Close(ctx)
	if !first {
		return err
	}
	err = errors.Join(err, c.removeNamespace(ctx), closeClient(ctx, c.client))
	c.admin.close()
	return err
}

// closeClient closes a client and what it opened. The library waits for the
// brokers' answers, each for operation_timeout at most; what takes longer than
// closeWithin is left to end by itself.
func closeClient(ctx context.Context, lib client.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	_, err := within(ctx, func() (struct{}, error) { lib.Close(); return struct{}{}, nil }, nil)
	if err != nil {
		return fmt.Errorf("the brokers did not answer the closing within %s: see whether they still run: %w", closeWithin, err)
	}
	return nil
}
