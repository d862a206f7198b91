package pulsar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// settleWithin bounds the creation and the deletion of a topic, also with thousands of partitions.
const settleWithin = time.Minute

// settlePoll is the interval between checks of a condition.
const settlePoll = 50 * time.Millisecond

// namespace returns the namespace of the connection's level.
func (c *cluster) namespace() string {
	return fmt.Sprintf("%s/%s-level-%d", c.Text(setTenant), c.Text(setNamespace), c.level)
}

// fullName returns the topic's name with its namespace.
func (c *cluster) fullName(topic string) string {
	return "persistent://" + c.namespace() + "/" + safeName(topic)
}

// adminPath returns the topic's path in the admin API.
func (c *cluster) adminPath(topic string) string {
	return "/admin/v2/persistent/" + c.namespace() + "/" + safeName(topic)
}

// safeName returns a topic's name in a form that is safe in a path. Pulsar takes a name with a
// partition's suffix for a partition, so such a suffix is changed.
func safeName(name string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(name, "-partition-", "-partition.") {
		if validName(string(r)) || r == '.' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, ".%x.", r)
		}
	}
	return b.String()
}

// policies holds the namespace policies that the driver sets and compares.
type policies struct {
	Persistence *persistence    `json:"persistence,omitempty"`
	Bundles     bundles         `json:"bundles"`
	Retention   *retention      `json:"retention_policies,omitempty"`
	AutoTopics  *autoTopics     `json:"autoTopicCreationOverride,omitempty"`
	Inactive    *inactiveTopics `json:"inactive_topic_policies,omitempty"`
}

type persistence struct {
	Ensemble       int     `json:"bookkeeperEnsemble"`
	WriteQuorum    int     `json:"bookkeeperWriteQuorum"`
	AckQuorum      int     `json:"bookkeeperAckQuorum"`
	MarkDeleteRate float64 `json:"managedLedgerMaxMarkDeleteRate"`
}

type bundles struct {
	Number int `json:"numBundles"`
}

type retention struct {
	Minutes   int `json:"retentionTimeInMinutes"`
	Megabytes int `json:"retentionSizeInMB"`
}

type autoTopics struct {
	Allow bool `json:"allowAutoTopicCreation"`
}

type inactiveTopics struct {
	Mode    string `json:"inactiveTopicDeleteMode"`
	Seconds int    `json:"maxInactiveDurationSeconds"`
	Delete  bool   `json:"deleteWhileInactive"`
}

// wanted returns the policies of the level's namespace.
func (c *cluster) wanted() policies {
	p := policies{
		Persistence: c.persistence(), Bundles: bundles{int(c.Count(setBundles))},
		Retention: &retention{},
		// A client that reconnects would recreate a deleted topic, with one partition.
		AutoTopics: &autoTopics{},
		// A topic must not vanish while it has no clients.
		Inactive: &inactiveTopics{Mode: "delete_when_no_subscriptions", Seconds: 60},
	}
	if c.Text(setRetention) == infinite {
		p.Retention = &retention{-1, -1}
	}
	return p
}

// ensureNamespace creates the namespace, or checks an existing one.
func (c *cluster) ensureNamespace(ctx context.Context) error {
	path := "/admin/v2/namespaces/" + c.namespace()
	err := c.admin.do(ctx, http.MethodPut, path, c.wanted(), nil)
	switch {
	case err == nil:
		c.made.Store(true)
		return nil
	case driver.HasStatus(err, http.StatusNotFound):
		return fmt.Errorf("no tenant %s: create it, or set %s to another: %w", c.Text(setTenant),
			setTenant, err)
	case !driver.HasStatus(err, http.StatusConflict):
		return fmt.Errorf("make namespace %s: %w", c.namespace(), c.explainAdmin(err))
	}
	var have policies
	if err := c.admin.get(ctx, path, &have); err != nil {
		return fmt.Errorf("read namespace %s: %w", c.namespace(), c.explainAdmin(err))
	}
	if err := c.compare(have); err != nil {
		return fmt.Errorf("namespace %s exists and %w: delete it, or name another as %s",
			c.namespace(), err, setNamespace)
	}
	return nil
}

// compare returns the difference between a namespace and its request.
func (c *cluster) compare(have policies) error {
	want := c.wanted()
	if have.Persistence == nil {
		return errors.New("has no persistence policy")
	}
	if h, w := *have.Persistence, *want.Persistence; h.Ensemble != w.Ensemble ||
		h.WriteQuorum != w.WriteQuorum || h.AckQuorum != w.AckQuorum {
		return fmt.Errorf("has %s, not %s", h, w)
	}
	if have.Bundles.Number < want.Bundles.Number { // brokers may have split some
		return fmt.Errorf("has %d bundles, not %d", have.Bundles.Number, want.Bundles.Number)
	}
	if have.Retention == nil || *have.Retention != *want.Retention {
		return errors.New("has another retention")
	}
	return nil
}

func (p persistence) String() string {
	return fmt.Sprintf("ensemble %d, write quorum %d, ack quorum %d", p.Ensemble, p.WriteQuorum,
		p.AckQuorum)
}

// removeNamespace deletes the namespace that this connection created, unless it has topics.
func (c *cluster) removeNamespace(ctx context.Context) {
	if !c.made.Swap(false) || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var topics []string
	if err := c.admin.get(ctx, "/admin/v2/persistent/"+c.namespace()+"/partitioned",
		&topics); err != nil || len(topics) > 0 {
		return
	}
	// A client that creates a topic in it at this moment keeps the namespace.
	_ = c.admin.do(ctx, http.MethodDelete, "/admin/v2/namespaces/"+c.namespace(), nil, nil)
}

// CreateTopic makes a partitioned topic in the level's namespace and opens
// every partition once, so that each has a broker that owns it and a ledger.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	if c.bookies > 0 && c.options.Settings.Text(setTopology) != standalone {
		found := quantity.Plural(c.bookies, "bookie", "bookies") + " in the cluster"
		err := copiesOf(c.options.Settings, c.level).Enough(c.bookies, found)
		if err != nil {
			return err
		}
	}
	namespace, err := c.addTopic(ctx, t)
	switch {
	case namespace != nil:
		return namespace
	case driver.HasStatus(err, http.StatusConflict):
		return errors.New("a topic of that name exists already: delete it, or choose another name")
	case err != nil:
		return c.explainAdmin(err)
	}
	if err := c.touch(ctx, t); err != nil {
		return &system.Unready{Err: c.explain(err)}
	}
	return nil
}

// addTopic makes a partitioned topic, and the level's namespace before it; each has an error of its
// own. A broker may refuse topics in a namespace for a moment after another one of that name was
// deleted.
func (c *cluster) addTopic(ctx context.Context, t system.Topic) (namespace, topic error) {
	topic = driver.Until(ctx, settlePoll, func() (again bool, err error) {
		if namespace = c.ensureNamespace(ctx); namespace != nil {
			return false, namespace
		}
		err = c.admin.do(ctx, http.MethodPut, c.adminPath(t.Name)+"/partitions", t.Partitions, nil)
		return err != nil && strings.Contains(err.Error(), "Namespace is deleted"), err
	})
	return namespace, topic
}

// touch opens a producer on every partition and closes it again.
func (c *cluster) touch(ctx context.Context, t system.Topic) error {
	open := func() (client.Producer, error) {
		return c.client.CreateProducer(client.ProducerOptions{Topic: c.fullName(t.Name),
			DisableBatching: true, SendTimeout: -1})
	}
	return driver.Until(ctx, settlePoll, func() (bool, error) {
		p, err := within(ctx, open, client.Producer.Close)
		if err != nil {
			return true, err
		}
		p.Close()
		return false, nil
	})
}

// DeleteTopic deletes a topic and its subscriptions.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	err := driver.Until(ctx, settlePoll, func() (bool, error) {
		err := c.admin.do(ctx, http.MethodDelete, c.adminPath(t.Name)+"/partitions?force=true", nil,
			nil)
		// A partition that is just being opened or closed refuses.
		var r *driver.Refused
		busy := errors.As(err, &r) && (r.Status >= 500 || r.Status == http.StatusConflict ||
			r.Status == http.StatusPreconditionFailed)
		return busy, err
	})
	if err != nil {
		return fmt.Errorf("delete topic %s: %w", t.Name, c.explainAdmin(err))
	}
	return nil
}

// splitList reads a, b, c.
func splitList(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// owner is a broker's answer that names the owner of a topic.
type owner struct {
	BrokerURL    string `json:"brokerUrl"`
	BrokerURLTLS string `json:"brokerUrlTls"`
}

// Leader returns the address of the broker that owns the partition. The lookup assigns an owner if
// there is none.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var told owner
	path := "/lookup/v2/topic/persistent/" + c.namespace() + "/" + safeName(t.Name) +
		"-partition-" + strconv.Itoa(partition)
	if err := c.admin.do(ctx, http.MethodGet, path, nil, &told); err != nil {
		return "", c.explainAdmin(err)
	}
	return told.address(c.options.TLS != nil)
}

// address returns host and port of the owner.
func (o owner) address(encrypted bool) (string, error) {
	at := o.BrokerURL
	if encrypted {
		at = cmp.Or(o.BrokerURLTLS, o.BrokerURL)
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", fmt.Errorf("read the owner's address: %w", err)
	}
	if u.Host == "" {
		return "", errors.New("no broker owns the partition now")
	}
	return u.Host, nil
}
