package rocketmq

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names and values of the brokers' configuration that decides the levels.
const (
	confRole       = "brokerRole"
	confFlush      = "flushDiskType"
	confInSync     = "inSyncReplicas"
	confAutoInSync = "enableAutoInSyncReplicas"
	confDuplicate  = "duplicationEnable"

	syncMaster  = "SYNC_MASTER"
	asyncMaster = "ASYNC_MASTER"
	slaveRole   = "SLAVE"
	syncFlush   = "SYNC_FLUSH"
	asyncFlush  = "ASYNC_FLUSH"
)

func levels() map[workload.Level]system.Guarantee {
	const without = "brokerRole ASYNC_MASTER, which waits for no slave"
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {Refusal: "a slave answers its master when a message is in its " +
			"memory, and syncs later, whatever its flushDiskType: SYNC_MASTER with SYNC_FLUSH " +
			"is one disk and one memory, which is level 2 with flushDiskType: SYNC_FLUSH"},
		workload.SyncAsync: {How: "brokerRole SYNC_MASTER and inSyncReplicas a majority of the " +
			"copies (SYNC_MASTER alone waits for no slave); no slave takes a lost master's " +
			"place, and what a master loses with its power it does not get back from its slaves"},
		workload.AsyncSync:  {How: "flushDiskType SYNC_FLUSH on the master; " + without},
		workload.AsyncAsync: {How: "flushDiskType ASYNC_FLUSH; " + without},
	}
}

// server is a broker with its configuration.
type server struct {
	address, role string
	config        map[string]string
}

// readServer reads a broker's configuration.
func (c *cluster) readServer(ctx context.Context, address, role string) (server, error) {
	s := server{address: address, role: role, config: map[string]string{}}
	f, err := c.ask(ctx, address, askConfig, nil, nil)
	if err != nil {
		return s, fmt.Errorf("read the configuration of the %s %s: %w", role, address,
			c.explain(err))
	}
	for line := range strings.Lines(string(f.body)) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), "="); is {
			s.config[name] = value
		}
	}
	return s, nil
}

// inSync asks a master how many slaves follow it closely.
func (c *cluster) inSync(ctx context.Context, master string) (int, error) {
	var state struct {
		Slaves int `json:"inSyncSlaveNums"`
	}
	if err := c.read(ctx, master, askReplicas, nil, &state); err != nil {
		return 0, fmt.Errorf("ask the master %s for its slaves: %w", master, c.explain(err))
	}
	return state.Slaves, nil
}

// enough returns an error if a master's slaves are too few for the copies.
func (c *cluster) enough(master string, slaves int) error {
	return copiesOf(c.Settings, c.level).Enough(slaves+1, master+" has "+
		quantity.Plural(slaves, "slave", "slaves")+" in sync")
}

// enoughNow returns an error if a master has too few slaves for a level that waits for them.
func (c *cluster) enoughNow(ctx context.Context) error {
	if !c.level.Majority() {
		return nil
	}
	masters, err := c.masters(ctx)
	if err != nil {
		return err
	}
	for _, at := range masters {
		slaves, err := c.inSync(ctx, at)
		if err != nil {
			return err
		}
		if err := c.enough(at, slaves); err != nil {
			return err
		}
	}
	return nil
}

// ReadDurability reads the configuration of every broker, and how many slaves follow each master.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	r := &driver.Reading{Level: c.level}
	for _, t := range topics {
		have, err := c.places(ctx, t.Name)
		if err != nil {
			return system.Evidence{}, err
		}
		if len(have) != t.Partitions {
			return system.Evidence{}, fmt.Errorf("topic %s: the masters have %d of %d queues",
				t.Name, len(have), t.Partitions)
		}
	}
	brokers, err := c.brokers(ctx)
	if err != nil {
		return system.Evidence{}, err
	}
	for _, name := range c.names {
		if err := c.readBroker(ctx, r, broker{name, brokers[name].Addresses}); err != nil {
			return system.Evidence{}, err
		}
	}
	return r.Evidence(), nil
}

// readBroker reads a master and its slaves.
func (c *cluster) readBroker(ctx context.Context, r *driver.Reading, b broker) error {
	at, err := b.master()
	if err != nil {
		return err
	}
	slaves, err := c.inSync(ctx, at)
	if err != nil {
		return err
	}
	r.Add(at, "slaves in sync", strconv.Itoa(slaves), "GET_BROKER_HA_STATUS")
	r.Copies(slaves + 1)
	if err := c.enough(at, slaves); err != nil {
		return err
	}
	copies := int(c.Count(setReplication))
	if copiesOf(c.Settings, c.level).Fixed() && slaves+1 != copies {
		asked := fmt.Sprintf("%d copies (%s), so for %d slaves", copies, setReplication, copies-1)
		return r.Contradicts(asked, "%s has %d slaves in sync", at, slaves)
	}
	master, err := c.readServer(ctx, at, "master")
	if err != nil {
		return err
	}
	if err := master.check(r, copies); err != nil {
		return err
	}
	for _, address := range b.slaves() {
		s, err := c.readServer(ctx, address, "slave")
		if err != nil {
			return err
		}
		s.note(r)
		if s.config[confRole] != slaveRole {
			return r.Contradicts("slaves", "%s has brokerRole %s", address, s.config[confRole])
		}
	}
	return nil
}

// note adds what decides the level to the facts.
func (s server) note(r *driver.Reading) {
	for _, name := range []string{confRole, confFlush, confInSync, confAutoInSync, confDuplicate} {
		r.Add(s.address, s.role+"'s "+name, s.config[name], "GET_BROKER_CONFIG")
	}
}

// check compares a master's configuration with the level.
func (s server) check(r *driver.Reading, copies int) error {
	s.note(r)
	asks := func(name string, values ...string) error {
		if slices.Contains(values, s.config[name]) {
			return nil
		}
		asked := fmt.Sprintf("%s %s on the master", name, strings.Join(values, " or "))
		return r.Contradicts(asked, "%s has %s %s", s.address, name, s.config[name])
	}
	role, flush := asyncMaster, []string{asyncFlush}
	switch {
	case r.Level.Majority():
		role, flush = syncMaster, []string{asyncFlush, syncFlush}
	case r.Level.Synced():
		flush = []string{syncFlush}
	}
	if err := asks(confRole, role); err != nil {
		return err
	}
	if err := asks(confFlush, flush...); err != nil || !r.Level.Majority() {
		return err
	}
	// With either of these a master may wait for fewer slaves, or for none.
	for _, name := range []string{confAutoInSync, confDuplicate} {
		if err := asks(name, "false"); err != nil {
			return err
		}
	}
	need := driver.Majority(copies)
	if have, err := strconv.Atoi(s.config[confInSync]); err != nil || have < need {
		return r.Contradicts(fmt.Sprintf("%s %d on the master", confInSync, need), "%s has %s %s",
			s.address, confInSync, s.config[confInSync])
	}
	return nil
}

// ServerVersions returns a line for each broker.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	brokers, err := c.brokers(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, name := range c.names {
		b := broker{name, brokers[name].Addresses}
		at, err := b.master()
		if err != nil {
			return nil, err
		}
		for i, address := range append([]string{at}, b.slaves()...) {
			var state struct {
				Table map[string]string `json:"table"`
			}
			if err := c.read(ctx, address, askRuntime, nil, &state); err != nil {
				return nil, fmt.Errorf("ask %s for its version: %w", address, c.explain(err))
			}
			role := "master"
			if i > 0 {
				role = "slave"
			}
			version := strings.TrimPrefix(state.Table["brokerVersionDesc"], "V")
			lines = append(lines, fmt.Sprintf("%s %s %s", role, address,
				strings.ReplaceAll(version, "_", ".")))
		}
	}
	return lines, nil
}
