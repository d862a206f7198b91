package activemq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// syncModes are the values of replicated LevelDB's sync, by level.
var syncModes = map[workload.Level]string{
	workload.SyncSync: "quorum_disk", workload.SyncAsync: "quorum_mem",
	workload.AsyncSync: "local_disk", workload.AsyncAsync: "local_mem",
}

// Values of KahaDB's journalDiskSyncStrategy.
const (
	syncAlways   = "always"
	syncPeriodic = "periodic"
	syncNever    = "never"
)

func levels() map[workload.Level]system.Guarantee {
	const (
		elected = "; the broker with the newest store among a majority becomes the master, so " +
			"that a failover loses nothing"
		alone = "; a failover may lose acknowledged messages"
		kaha  = "; kahadb: journalDiskSyncStrategy "
		none  = "; kahadb has one copy and refuses the level"
	)
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {How: "replicated LevelDB with sync=quorum_disk: the master and a " +
			"majority of the brokers in all have synced the message" + elected + none},
		workload.SyncAsync: {How: "replicated LevelDB with sync=quorum_mem: a majority has the " +
			"message, and the master has not synced it" + elected + none},
		workload.AsyncSync: {How: "replicated LevelDB with sync=local_disk: the master alone has " +
			"synced the message" + alone + kaha + syncAlways},
		workload.AsyncAsync: {How: "replicated LevelDB with sync=local_mem" + alone + kaha +
			syncPeriodic + " or " + syncNever},
	}
}

// storeReport holds the attributes of a broker's replicated LevelDB store.
type storeReport struct {
	Sync, NodeRole, Status string
	Replicas               int
	Slaves                 []struct {
		Attached bool
	}
}

func (b managed) readStore(ctx context.Context) (r storeReport, err error) {
	return r, b.read(ctx, storePattern,
		[]string{"Sync", "NodeRole", "Status", "Replicas", "Slaves"}, &r)
}

// attached returns the number of attached slaves.
func (r storeReport) attached() int {
	n := 0
	for _, s := range r.Slaves {
		if s.Attached {
			n++
		}
	}
	return n
}

// ReadDurability reads how every broker's store syncs, and how many slaves are attached.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	for _, t := range topics {
		if _, err := c.Leader(ctx, t, 0); err != nil {
			return system.Evidence{}, err
		}
	}
	r := &driver.Reading{Level: c.level}
	if err := c.check(ctx, r); err != nil {
		return system.Evidence{}, err
	}
	r.Add("producers", "header", "durable", "set by this client")
	return r.Evidence(), nil
}

// check compares the brokers' stores with the level.
func (c *cluster) check(ctx context.Context, r *driver.Reading) error {
	if c.Text(setStore) == storeKahaDB {
		return c.checkKahaDB(ctx, r)
	}
	return c.checkLevelDB(ctx, r)
}

// checkLevel refuses brokers that do not give the level. It checks once, because the level does
// not depend on the topic.
func (c *cluster) checkLevel(ctx context.Context) error {
	return c.given.Once(func() error { return c.check(ctx, &driver.Reading{Level: c.level}) })
}

const fromJMX = "JMX"

// checkLevelDB compares every broker's store with the level.
func (c *cluster) checkLevelDB(ctx context.Context, r *driver.Reading) error {
	masters, want := 0, syncModes[r.Level]
	for _, b := range c.jolokia.brokers {
		s, err := b.readStore(ctx)
		if errors.Is(err, errNoBean) || err == nil && s.Sync == "" {
			return fmt.Errorf("%s has no replicated LevelDB: set %s, or name other endpoints: %w",
				b.endpoint, setStore, errNoBean)
		}
		if err != nil {
			return err
		}
		r.Add(b.endpoint, "NodeRole", s.NodeRole, fromJMX)
		r.Add(b.endpoint, "sync", s.Sync, fromJMX)
		r.Add(b.endpoint, "replicas", strconv.Itoa(s.Replicas), fromJMX)
		if s.Sync != want {
			return r.Contradicts("sync="+want, "%s has sync=%s", b.endpoint, s.Sync)
		}
		r.Copies(s.Replicas)
		if s.Replicas < 3 {
			return r.Contradicts("3 replicas or more", "%s has replicas=%d", b.endpoint, s.Replicas)
		}
		if s.NodeRole != roleMaster {
			continue
		}
		masters++
		r.Add(b.endpoint, "slaves attached", strconv.Itoa(s.attached()), fromJMX)
		if least := driver.Majority(s.Replicas) - 1; r.Level.Majority() && s.attached() < least {
			return r.Contradicts(fmt.Sprintf("%d slaves", least), "%s has %d attached",
				b.endpoint, s.attached())
		}
	}
	if masters != 1 {
		return fmt.Errorf("%d of the endpoints are masters, instead of one: name every broker of "+
			"one cluster", masters)
	}
	return nil
}

// checkKahaDB compares the single broker's store with the level.
func (c *cluster) checkKahaDB(ctx context.Context, r *driver.Reading) error {
	b, err := c.jolokia.master(ctx)
	if err != nil {
		return err
	}
	var s struct {
		JournalDiskSyncStrategy          string
		JournalDiskSyncInterval          int64
		ConcurrentStoreAndDispatchQueues bool
	}
	err = b.ask(ctx, map[string]any{"type": "read", "mbean": storeBean, "attribute": []string{
		"JournalDiskSyncStrategy", "JournalDiskSyncInterval", "ConcurrentStoreAndDispatchQueues",
	}}, &s)
	if errors.Is(err, errNoBean) {
		return fmt.Errorf("%s does not show how its journal syncs: export the kahaDB bean of "+
			"activemq.xml to JMX as %s with Spring's MBeanExporter, or set %s: %w",
			b.endpoint, storeBean, setStore, err)
	}
	if err != nil {
		return err
	}
	r.Copies(1)
	strategy := strings.ToLower(s.JournalDiskSyncStrategy)
	r.Add(b.endpoint, "journalDiskSyncStrategy", strategy, fromJMX)
	if strategy == syncPeriodic {
		r.Add(b.endpoint, "journalDiskSyncInterval",
			strconv.FormatInt(s.JournalDiskSyncInterval, 10)+"ms", fromJMX)
	}
	r.Add(b.endpoint, "concurrentStoreAndDispatchQueues",
		strconv.FormatBool(s.ConcurrentStoreAndDispatchQueues), fromJMX)
	want := []string{syncPeriodic, syncNever}
	if r.Level.Synced() {
		want = []string{syncAlways}
	}
	if !slices.Contains(want, strategy) {
		return r.Contradicts("journalDiskSyncStrategy "+strings.Join(want, " or "), "%s has %s",
			b.endpoint, strategy)
	}
	return nil
}

const roleMaster = "master"

// brokerReport holds the attributes of a broker.
type brokerReport struct {
	BrokerVersion string
	Slave         bool
}

// readBroker reads the broker's own bean.
func (b managed) readBroker(ctx context.Context) (r brokerReport, err error) {
	err = b.read(ctx, brokerPattern, []string{"BrokerVersion", "Slave"}, &r)
	return r, err
}

// master finds the broker that accepts messages.
func (j *jolokia) master(ctx context.Context) (managed, error) {
	all, errs := driver.AskAll(len(j.brokers), func(i int) (brokerReport, error) {
		return j.brokers[i].readBroker(ctx)
	})
	for i, b := range j.brokers {
		if errs[i] == nil && !all[i].Slave {
			return b, nil
		}
	}
	return managed{}, cmp.Or(cmp.Or(errs...), errors.New("none of the endpoints is the master: "+
		"name every broker, and wait until they have elected one"))
}

// ServerVersions returns a line for each broker.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	var lines []string
	for _, b := range c.jolokia.brokers {
		r, err := b.readBroker(ctx)
		if err != nil {
			return nil, err
		}
		role := "master"
		if r.Slave {
			role = "slave"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", role, b.endpoint, r.BrokerVersion))
	}
	return lines, nil
}

// hasJoined returns nil when the broker is a member of the election.
func (b managed) hasJoined(ctx context.Context) error {
	s, err := b.readStore(ctx)
	if err == nil && s.NodeRole == "" {
		err = errors.New("it has not joined the others")
	}
	return err
}

// hasSlaves returns nil when the master has the wanted number of slaves.
func (j *jolokia) hasSlaves(ctx context.Context, want int) error {
	b, err := j.master(ctx)
	if err != nil {
		return err
	}
	s, err := b.readStore(ctx)
	if err == nil && s.attached() < want {
		err = fmt.Errorf("%d of %d slaves are attached", s.attached(), want)
	}
	return err
}
