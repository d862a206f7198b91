package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func levels() map[workload.Level]system.Guarantee {
	const (
		only = "; MongoDB's own server only, in a replica set; refused with a server that " +
			"merely speaks the protocol"
		rolled = "; an election may roll back acknowledged messages"
	)
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {How: "w: majority, j: true, and " +
			"writeConcernMajorityJournalDefault: true" + only},
		workload.SyncAsync: {How: "w: majority, j: false, and " +
			"writeConcernMajorityJournalDefault: false" + only},
		workload.AsyncSync: {How: "w: 1, j: true" + rolled + "; MongoDB's own server only"},
		workload.AsyncAsync: {How: "w: 1, j: false" + rolled + ", and the primary's end may " +
			"lose what its journal, synced every 100 ms, does not have; a server that merely " +
			"speaks the protocol promises less, and the result names it"},
	}
}

// concern prints a level's write concern as MongoDB does.
func concern(l workload.Level) string {
	w := "1"
	if l.Majority() {
		w = "majority"
	}
	return fmt.Sprintf("w: %s, j: %t", w, l.Synced())
}

// configuration is the answer to replSetGetConfig.
type configuration struct {
	Config struct {
		ID             string           `bson:"_id"`
		JournalDefault *bool            `bson:"writeConcernMajorityJournalDefault"`
		Members        []memberSettings `bson:"members"`
	} `bson:"config"`
}

// memberSettings is a member's part of the configuration.
type memberSettings struct {
	Host    string `bson:"host"`
	Arbiter bool   `bson:"arbiterOnly"`
	Votes   *int   `bson:"votes"`
}

// member is a live member of the replica set.
type member struct {
	host       string
	server     server
	engine     string // of its storage
	persistent bool
}

// status is the answer to serverStatus.
type status struct {
	Engine struct {
		Name       string `bson:"name"`
		Persistent bool   `bson:"persistent"`
	} `bson:"storageEngine"`
}

// administer calls do with the administrator's client.
func (c *cluster) administer(do func(*mongo.Client) error) error {
	client, err := c.dial(c.options.Endpoints, c.options.Credentials.Admin())
	if err != nil {
		return err
	}
	return errors.Join(do(client), disconnect(client))
}

// only returns a cluster that connects to a single server of any kind.
func (c *cluster) only(host string) *cluster {
	one := &cluster{Settings: c.Settings, options: c.options, direct: true}
	one.options.Endpoints = []string{host}
	return one
}

// readConfiguration reads the replica set's configuration and its default write concern
// from the primary.
func (c *cluster) readConfiguration(ctx context.Context) (
	set configuration, defaults bson.Raw, err error,
) {
	err = c.administer(func(client *mongo.Client) error {
		if err := run(ctx, client, "replSetGetConfig", &set); err != nil {
			return fmt.Errorf("read rs.conf(), which needs the role clusterMonitor: %w",
				c.explain(err))
		}
		var all struct {
			Default bson.Raw `bson:"defaultWriteConcern"`
		}
		// Servers before 4.4 have no defaults.
		if err := run(ctx, client, "getDefaultRWConcern", &all); err == nil {
			defaults = all.Default
		}
		return nil
	})
	return set, defaults, err
}

// readMembers queries each member that holds data.
func (c *cluster) readMembers(ctx context.Context) ([]member, error) {
	set, _, err := c.readConfiguration(ctx)
	if err != nil {
		return nil, err
	}
	var all []member
	for _, m := range set.Config.Members {
		if m.Arbiter {
			continue
		}
		one, err := c.only(m.Host).readMember(ctx, m.Host)
		if err != nil {
			return nil, fmt.Errorf("ask the member %s, which must be reachable from here: %w",
				m.Host, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func (c *cluster) readMember(ctx context.Context, host string) (m member, err error) {
	m.host = host
	err = c.administer(func(client *mongo.Client) (err error) {
		var s status
		if m.server, err = identify(ctx, client); err == nil {
			err = run(ctx, client, "serverStatus", &s)
		}
		m.engine, m.persistent = s.Engine.Name, s.Engine.Persistent
		return err
	})
	if err != nil {
		return m, c.explain(err)
	}
	return m, nil
}

// ReadDurability reads the configuration of the replica set and asks every member.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (
	system.Evidence, error,
) {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	for _, t := range topics {
		have, err := c.readTopic(ctx, t.Name)
		if err == nil && have.Partitions != t.Partitions {
			err = fmt.Errorf("topic %s has %d partitions instead of %d", t.Name, have.Partitions,
				t.Partitions)
		}
		if err != nil {
			return system.Evidence{}, err
		}
	}
	r := &driver.Reading{Level: c.level}
	if err := c.server.gives(c.level); err != nil {
		return system.Evidence{}, err
	}
	r.Add(c.options.Endpoints[0], "server", c.server.String(), "buildInfo")
	if c.server.kind != kindMongod {
		r.Add(c.options.Endpoints[0], system.StandIn, c.server.String(), "buildInfo")
	}
	r.Add("producers", "write concern", concern(c.level), "set by this client")
	if c.server.set == "" {
		r.Add(c.options.Endpoints[0], "replica set", "none", "hello")
		r.Copies(1)
		return r.Evidence(), nil
	}
	return c.readSet(ctx, r)
}

func (c *cluster) readSet(ctx context.Context, r *driver.Reading) (system.Evidence, error) {
	set, defaults, err := c.readConfiguration(ctx)
	if err != nil {
		return system.Evidence{}, err
	}
	if defaults != nil {
		r.Add(set.Config.ID, "default write concern", defaults.String(), "getDefaultRWConcern")
	}
	members, err := c.readMembers(ctx)
	if err == nil {
		err = checkSet(r, set, members, int(c.Count(setReplication)))
	}
	return r.Evidence(), err
}

// checkSet compares a replica set with the level.
func checkSet(r *driver.Reading, set configuration, members []member, replicas int) error {
	const journalDefault = "writeConcernMajorityJournalDefault"
	// The default if the configuration lacks it.
	journal := set.Config.JournalDefault == nil || *set.Config.JournalDefault
	r.Add(set.Config.ID, journalDefault, strconv.FormatBool(journal), "replSetGetConfig")
	for _, m := range members {
		r.Add(m.host, "server", m.server.String(), "buildInfo")
		r.Add(m.host, "storage engine", fmt.Sprintf("%s, persistent: %t", m.engine, m.persistent),
			"serverStatus")
		if err := m.server.gives(r.Level); err != nil {
			return err
		}
		if !m.persistent {
			return r.Contradicts("a persistent storage engine", "%s has %s", m.host, m.engine)
		}
	}
	r.Copies(len(members))
	if !r.Level.Majority() {
		return nil
	}
	for _, m := range set.Config.Members {
		if m.Arbiter || m.Votes != nil && *m.Votes == 0 {
			return r.Contradicts("members that hold data and vote", "%s does not: it is an "+
				"arbiter or has votes: 0", m.Host)
		}
	}
	if len(members) != replicas {
		return r.Contradicts(fmt.Sprintf("%d members (%s)", replicas, setReplication),
			"the replica set %s has %d", set.Config.ID, len(members))
	}
	if journal != r.Level.Synced() {
		return r.Contradicts(fmt.Sprintf("%s: %t", journalDefault, r.Level.Synced()),
			"the replica set %s has %t: change it with rs.reconfig()", set.Config.ID, journal)
	}
	return nil
}
