package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// How nats-server 2.15 gives the levels:
//
// A publish to a stream with replicas is acknowledged when a majority of them has the entry in its
// Raft log. With sync_interval "always" each replica syncs that log first; the stream's own files
// are synced only now and then, because the log restores them. Otherwise the log is in the page
// cache until the interval ends, and a power cut of a majority loses acknowledged messages.
//
// A publish to a stream with one replica is acknowledged when that server has written it and, with
// "always", synced it. Mirrors fetch it later; the server does not wait for them. Such a stream
// syncs each message separately, while the Raft log syncs many messages at once: under load level
// 3 is slower than level 1.

const (
	factSync   = "sync_interval"
	syncAlways = "always"
	unreadable = "not readable"
	fromStream = "stream info"
	fromVarz   = "$SYS.REQ.SERVER.PING.VARZ"
	// readWithin bounds the reading, and each topic adds readTopicWithin.
	readWithin      = 10 * time.Second
	readTopicWithin = 20 * time.Millisecond
	adminToGive     = "give admin_user and admin_password of the system account"
	anyOtherSync    = "anything but always"
)

func levels() map[workload.Level]system.Guarantee {
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {
			How: "stream with num_replicas 3 on disk, sync_interval always on every server"},
		workload.SyncAsync: {How: "stream with num_replicas 3, sync_interval 2m on every server"},
		workload.AsyncSync: {
			How: "stream with num_replicas 1 on disk and two mirrors on other servers, or " +
				"without them on a server of its own, sync_interval always; no failover"},
		workload.AsyncAsync: {
			How: "stream with num_replicas 1 and two mirrors on other servers, or without " +
				"them on a server of its own, sync_interval 2m; no failover"},
	}
}

// levelProblems returns the reasons why the settings cannot give the level.
func levelProblems(s system.Settings, l workload.Level) strict.Violations {
	if bad := driver.CheckLevel(natsSystem{}.Describe(), l); bad != nil {
		return bad
	}
	switch {
	case l.Synced() && s.Text(setStorage) == valueMemory:
		return strict.Violations{s.Wrong(setStorage,
			fmt.Sprintf("durability level %d syncs to disk, which %s does not: use %s, or level %d",
				l, valueMemory, valueFile, l+1))}
	case !l.Majority() && s.Text(setRetention) == valueInterest:
		return strict.Violations{s.Wrong(setRetention,
			fmt.Sprintf("durability level %d copies through mirrors, which do not follow the "+
				"deletions of %s: use limits", l, valueInterest))}
	}
	return nil
}

// ReadDurability reads the streams' copies from stream info and every server's
// sync_interval through the system account.
//
// The sync_interval can be read only with the credentials of a system account user. Without them
// levels 1 and 3 are refused, because nothing shows that messages are synced. Levels 2 and 4 are
// accepted, and a fact says so: the servers may sync more than requested, which makes them slower
// and never less durable than reported.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (system.Evidence,
	error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin+time.Duration(len(topics))*readTopicWithin)
	defer cancel()
	servers, err := c.askServers(ctx)
	if err != nil && (c.level.Synced() || !errors.Is(err, errNotSystemAccount)) {
		return system.Evidence{}, fmt.Errorf(
			"durability level %d asks for %s %s, which could not be read: %w", c.level, factSync,
			syncAlways, err)
	}
	r := reading{Reading: driver.Reading{Level: c.level}, servers: servers,
		hosts: make(map[string]bool)}
	read := make(map[string]bool)
	for _, t := range topics {
		stream := homeOf(c.Settings, t.Name).stream
		if read[stream] {
			continue // several topics share it
		}
		read[stream] = true
		if err := c.readTopic(ctx, &r, stream); err != nil {
			return system.Evidence{}, fmt.Errorf("topic %s: %w", t.Name, err)
		}
	}
	if err := r.readSync(); err != nil {
		return system.Evidence{}, err
	}
	return r.Evidence(), nil
}

// reading collects the facts of the live servers.
type reading struct {
	driver.Reading
	servers []serverReport // nil: not readable
	hosts   map[string]bool
}

// readTopic reads the copies of one stream and compares them with the level.
func (c *cluster) readTopic(ctx context.Context, r *reading, name string) error {
	info, err := c.readStream(ctx, r, name)
	if err != nil {
		return err
	}
	if c.Duration(setLinger) > 0 && !info.Config.AllowAtomicPublish {
		return fmt.Errorf("stream %s takes no atomic batches, for which %s asks, as clients: "+
			"throughput does: allow them (allow_atomic, from nats-server 2.12), or set %s: 0s",
			name, setLinger, setLinger)
	}
	if r.Level.Majority() {
		r.Copies(info.Config.Replicas)
		if have, least := info.Config.Replicas, driver.LeastCopies(r.Level); have < least {
			return r.Contradicts(fmt.Sprintf("num_replicas %d or more", least),
				"the stream has num_replicas %d", have)
		}
		return nil
	}
	if have := info.Config.Replicas; have != 1 {
		return r.Contradicts("num_replicas 1 with mirrors", "the stream has num_replicas %d", have)
	}
	places := map[string]bool{info.Cluster.Leader: true}
	for n := 1; n < c.copies; n++ {
		mirror, err := c.readStream(ctx, r, mirrorOf(name, n))
		if err != nil {
			return err
		}
		if mirror.Mirror == nil || mirror.Mirror.Name != name {
			return fmt.Errorf("stream %s is not a mirror of %s", mirror.Config.Name, name)
		}
		places[mirror.Cluster.Leader] = true
	}
	r.Copies(len(places))
	if len(places) < c.copies {
		return fmt.Errorf("asked for %d copies on servers of their own, and they are on %d",
			c.copies, len(places))
	}
	return nil
}

// readStream records one stream's facts.
func (c *cluster) readStream(ctx context.Context, r *reading, name string) (*jetstream.StreamInfo,
	error) {
	if _, err := c.streamInfo(ctx, name); err != nil {
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	// Under load a replica may briefly be behind.
	info, err := c.settleStream(ctx, name)
	if err != nil {
		return nil, err
	}
	storage, persist := info.Config.Storage, info.Config.PersistMode
	r.Add(name, setReplicas, strconv.Itoa(info.Config.Replicas), fromStream)
	r.Add(name, setStorage, storage.String(), fromStream)
	r.Add(name, "persist_mode", persist.String(), fromStream)
	r.Add(name, "leader", info.Cluster.Leader, fromStream)
	r.hosts[info.Cluster.Leader] = true
	for _, peer := range info.Cluster.Replicas {
		r.Add(name, "current replica", peer.Name, fromStream)
		r.hosts[peer.Name] = true
	}
	if m := info.Mirror; m != nil {
		r.Add(name, "mirror of", m.Name, fromStream)
	}
	if r.Level.Synced() && (storage != jetstream.FileStorage ||
		persist != jetstream.DefaultPersistMode) {
		return nil, r.Contradicts("storage file with persist_mode default",
			"stream %s has storage %v with persist_mode %v", name, storage, persist)
	}
	return info, nil
}

// readSync compares the sync_interval of every hosting server with the level.
func (r *reading) readSync() error {
	if r.servers == nil {
		r.Add("every server", factSync, unreadable+": "+adminToGive, fromVarz)
		return nil
	}
	want := syncAlways
	if !r.Level.Synced() {
		want = anyOtherSync
	}
	found := 0
	for _, s := range r.servers {
		if !r.hosts[s.Name] {
			continue
		}
		found++
		r.Add(s.Name, factSync, s.sync(), fromVarz)
		if (s.sync() == syncAlways) != r.Level.Synced() {
			return r.Contradicts(factSync+" "+want, "server %s reports %s", s.Name, s.sync())
		}
	}
	if found < len(r.hosts) {
		return fmt.Errorf("%d servers keep the topics and only %d reported their %s", len(r.hosts),
			found, factSync)
	}
	return nil
}
