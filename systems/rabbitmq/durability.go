package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// How RabbitMQ 3.10 gives the levels. Delayed syncs on each node showed what a confirm waits for;
// TestConfirmWaitsForSync repeats the proof.
//
// A quorum queue confirms when a majority of its members has the message in the Raft log. Each
// member syncs that log first, unless the server's configuration sets ra's wal_sync_method to
// none: that is level 2, for all quorum queues of the server.
//
// A stream confirms when a majority of its members has written the message,
// and never syncs.
//
// A classic queue of version 1 confirms a persistent message when it is synced, and a transient
// message when it is in memory. A mirrored queue confirms when every mirror has done so too.
// Version 2 confirms before it syncs.
//
// No queue type replicates asynchronously, as levels 3 and 4 do elsewhere. A classic queue comes
// closest, and is no weaker at the moment of the acknowledgement: one node has the message, synced
// or not. But there is never a copy, so the queue is down while its node is down.

// plan is the kind of topic that follows from settings and level.
type plan struct {
	system.Settings
	level      workload.Level
	kind       string // classic, mirrored, quorum or streamed
	protocol   string // amqp091 or amqp10
	persistent bool
	copies     driver.Copies // of quorum queues and streams
}

func planOf(s system.Settings, l workload.Level) plan {
	p := plan{Settings: s, level: l, kind: s.Text(setQueueType), protocol: s.Text(setProtocol),
		copies: driver.Copies{Settings: s, Setting: setReplicas, Level: l}}
	if p.kind == auto {
		p.kind = quorum
		if !l.Majority() {
			p.kind = classic
		}
	}
	switch s.Text(setDeliveryMode) {
	case auto:
		p.persistent = l.Synced() || p.ofLog()
	case persistent:
		p.persistent = true
	}
	return p
}

// lacking says what servers of a major version lack for the plan, and what to do, as a part of a
// sentence; empty: nothing. Delayed syncs showed that version 4.0 confirms a message of a classic
// queue at once, whatever x-queue-version says.
func (p plan) lacking(major int) string {
	switch {
	case major < 4 && major > 0 && p.protocol == amqp10:
		return "does not speak AMQP 1.0 by itself: take " + setProtocol + " " + amqp091
	case major < 4:
		return ""
	case p.kind == mirrored:
		return "has no mirrored queues: take " + setQueueType + " " + quorum
	case p.Text(setQueueMode) == lazy:
		return "has no lazy queues: remove " + setQueueMode
	case p.kind == classic && p.level.Synced():
		return "confirms a classic queue's messages before it syncs them: take durability level " +
			"4, or level 1 with " + setQueueType + " " + quorum
	}
	return ""
}

// replicas returns the number of copies of a quorum queue or a stream.
func (p plan) replicas() int64 { return p.Count(setReplicas) }

func (p plan) replicated() bool { return p.kind != classic }

// ofLog reports whether the queues keep their messages in a replicated log.
func (p plan) ofLog() bool { return p.kind == quorum || p.kind == streamed }

// syncRaft reports whether servers sync the log of quorum queues.
func (p plan) syncRaft() bool { return p.kind != quorum || p.level == workload.SyncSync }

func levels() map[workload.Level]system.Guarantee {
	return map[workload.Level]system.Guarantee{
		workload.SyncSync: {
			How: "quorum queue with 3 members whose Raft log is synced, or mirrored queue " +
				"(ha-mode all) with persistent messages; publisher confirms"},
		workload.SyncAsync: {
			How: "quorum queue with 3 members on servers with wal_sync_method none, or stream " +
				"with 3 members, or mirrored queue with transient messages; publisher confirms"},
		workload.AsyncSync: {
			How: "classic queue with persistent messages; publisher confirms; one copy, which no " +
				"other node ever gets"},
		workload.AsyncAsync: {
			How: "classic queue with transient messages; publisher confirms; one copy, which no " +
				"other node ever gets"},
	}
}

// levelProblems returns the reasons why the settings cannot give the level.
func levelProblems(s system.Settings, l workload.Level) strict.Violations {
	if bad := driver.CheckLevel(rabbitSystem{}.Describe(), l); bad != nil {
		return bad
	}
	p := planOf(s, l)
	wrong := func(name, format string, args ...any) strict.Violations {
		return strict.Violations{s.Wrong(name, fmt.Sprintf(format, args...))}
	}
	switch {
	case p.kind == classic && l.Majority():
		return wrong(setQueueType,
			"a classic queue has one copy, and durability level %d asks for a majority: take "+
				"quorum or mirrored, or level %d", l, l+2)
	case p.kind == streamed && l != workload.SyncAsync:
		return wrong(setQueueType,
			"a stream waits for a majority and never syncs, which is durability level 2: take "+
				"that level, or another queue type")
	case (p.kind == mirrored || p.kind == quorum) && !l.Majority():
		return wrong(setQueueType,
			"a %s queue confirms when its copies have the message, which durability level %d "+
				"does not wait for: take classic, or level %d", p.kind, l, l-2)
	case p.ofLog():
		if s.Text(setDeliveryMode) == transient {
			return wrong(setDeliveryMode,
				"a %s queue writes every message: remove it, or take %s or %s", p.kind, classic,
				mirrored)
		}
		return nil
	}
	version2 := s.Text(setQueueVersion) == "2"
	switch {
	case l.Synced() && version2:
		return wrong(setQueueVersion,
			"version 2 confirms before it syncs, and durability level %d asks for the sync: take "+
				"version 1, or level %d", l, l+1)
	case l.Synced() && !p.persistent:
		return wrong(setDeliveryMode,
			"transient messages are not synced, and durability level %d asks for it: remove it, "+
				"or take level %d", l, l+1)
	case !l.Synced() && p.persistent && !version2:
		return wrong(setDeliveryMode,
			"persistent messages are synced before they are confirmed, which is durability level "+
				"%d: remove it, or take that level", l-1)
	}
	return nil
}

// ReadDurability reads queue types, copies and policies of the topics, and the
// servers' configuration files, through the management API.
func (c *cluster) ReadDurability(ctx context.Context, topics []system.Topic) (system.Evidence,
	error) {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	r := newReading(c.cfg)
	if err := c.readServers(ctx, r); err != nil {
		return system.Evidence{}, err
	}
	for _, t := range topics {
		queues, err := c.settledQueues(ctx, t)
		if err == nil {
			err = r.topic(t, queues)
		}
		if err != nil {
			return system.Evidence{}, fmt.Errorf("topic %s: %w", t.Name, err)
		}
	}
	const client = "set by this client"
	r.Add("producers", "publisher confirms", "true", client)
	if c.cfg.kind != streamed {
		mode := "2 (persistent)"
		if !c.cfg.persistent {
			mode = "1 (transient)"
		}
		r.Add("producers", "delivery mode", mode, client)
		r.Add("producers", "mandatory", "true", client)
	}
	return r.Evidence(), nil
}

// readServers compares the servers' own configuration with the level, where the level depends on
// it. The management API reports a newly started server bit by bit, so readServers repeats the
// request.
func (c *cluster) readServers(ctx context.Context, r *reading) error {
	if c.cfg.kind != quorum {
		return nil
	}
	return driver.Until(ctx, settlePoll, func() (bool, error) {
		nodes, err := c.api.nodes(ctx)
		if err != nil {
			return false, fmt.Errorf("read the servers' configuration: %w", err)
		}
		if slices.ContainsFunc(nodes, func(n nodeReport) bool {
			return n.Running && n.ConfigFiles == nil
		}) {
			return true, errors.New("read the servers' configuration: a server does not show " +
				"which files it has read: check whether it is still starting")
		}
		return false, r.raft(nodes)
	})
}

// settledQueues reads a topic's queues until the servers report every copy: they report a new queue
// bit by bit.
func (c *cluster) settledQueues(ctx context.Context, t system.Topic) ([]queueReport, error) {
	var queues []queueReport
	err := driver.Until(ctx, settlePoll, func() (again bool, err error) {
		queues, err = c.api.queues(ctx, c.cfg.Text(setVhost), t.Name)
		var refused *driver.Refused
		if errors.As(err, &refused) && !busy(err) {
			return false, err
		}
		if err == nil && c.cfg.kind == streamed {
			err = c.streamCopies(ctx, queues)
		}
		if err == nil {
			err = unsettled(t, queues)
		}
		return err != nil, err
	})
	return queues, err
}

// unsettled returns an error that says what is missing, or nil when every queue has reported its
// copies.
func unsettled(t system.Topic, queues []queueReport) error {
	if len(queues) < t.Partitions {
		return fmt.Errorf("it has %d queues for %d partitions", len(queues), t.Partitions)
	}
	for _, q := range queues {
		have, inSync := q.copies()
		if q.Type == "" || q.State == "" || q.copied() && (have == 0 || inSync < have) ||
			q.mirrored() && have < 2 {
			return fmt.Errorf("queue %s has %d copies in sync of %d", q.Name, inSync, have)
		}
	}
	return nil
}

// copied reports whether the servers report copies of the queue.
func (q queueReport) copied() bool { return q.Type != classic || q.mirrored() }

func (q queueReport) mirrored() bool { _, is := q.definition["ha-mode"]; return is }

// copies returns the number of the queue's copies, and how many of them are in sync or at least
// online.
func (q queueReport) copies() (all, inSync int) {
	if q.Type == classic {
		return 1 + len(q.Mirrors), 1 + len(q.InSync)
	}
	return len(q.Members), len(q.Online)
}

// leads returns the node of the queue's leader.
func (q queueReport) leads() string {
	if q.Leader != "" {
		return q.Leader
	}
	return q.Node
}

// reading collects the facts of the live cluster and compares them with the
// level.
type reading struct {
	driver.Reading
	config plan
}

func newReading(p plan) *reading {
	return &reading{Reading: driver.Reading{Level: p.level}, config: p}
}

const (
	fromNodes  = "management API, nodes"
	fromQueues = "management API, queues"
)

// raft compares the servers' configuration files with the level. The API does not show
// wal_sync_method, but it names the files that a server has read, and only an advanced
// configuration can set it. A server that syncs more than requested is slower, and never less
// durable than reported.
func (r *reading) raft(nodes []nodeReport) error {
	for _, n := range nodes {
		if !n.Running {
			continue
		}
		advanced := ""
		for _, file := range n.ConfigFiles {
			if strings.HasSuffix(file, ".config") {
				advanced = path.Base(file)
			}
		}
		switch {
		case r.config.level == workload.SyncSync && advanced != "":
			return fmt.Errorf(
				"durability level 1 needs a synced Raft log, which is RabbitMQ's "+
					"default, and %s has an advanced configuration (%s) that may set "+
					"wal_sync_method otherwise: remove it, or take level 2", n.Name, advanced)
		case r.config.level == workload.SyncAsync && advanced == "":
			return fmt.Errorf(
				"durability level 2 asks for wal_sync_method none, and %s has no advanced "+
					"configuration, so that it syncs: give it one with %s, or take level 1", n.Name,
				strings.TrimSpace(noSyncRaft))
		case advanced == "":
			r.Add(n.Name, "wal_sync_method",
				"datasync (the default: there is no advanced configuration)", fromNodes)
		default:
			r.Add(n.Name, "wal_sync_method", "not readable; set in "+advanced, fromNodes)
		}
	}
	return nil
}

// topic compares a topic's queues with the level.
func (r *reading) topic(t system.Topic, queues []queueReport) error {
	leaders := make(map[string]int)
	fewest, fewestInSync := 0, 0
	for i, q := range queues {
		if err := r.queue(q); err != nil {
			return fmt.Errorf("queue %s: %w", q.Name, err)
		}
		all, inSync := q.copies()
		if i == 0 {
			fewest, fewestInSync = all, inSync
		}
		fewest, fewestInSync = min(fewest, all), min(fewestInSync, inSync)
		leaders[q.leads()]++
	}
	first := queues[0]
	r.Copies(fewest)
	r.Add(t.Name, "queues", strconv.Itoa(len(queues)), fromQueues)
	r.Add(t.Name, "type", first.Type, fromQueues)
	r.Add(t.Name, "durable", strconv.FormatBool(first.Durable), fromQueues)
	r.Add(t.Name, "copies", strconv.Itoa(fewest), fromQueues+", the queue with the fewest")
	r.Add(t.Name, "copies in sync", strconv.Itoa(fewestInSync),
		fromQueues+", the queue with the fewest")
	if first.Type == classic {
		for _, name := range storageArguments {
			if _, has := first.Arguments[name]; has {
				r.Add(t.Name, name, argument(first.Arguments, name), fromQueues)
			}
		}
		r.Add(t.Name, "ha-mode", mirrorMode(first), fromQueues+", effective policy")
	}
	r.Add(t.Name, "leaders", counted(leaders), fromQueues)
	return nil
}

// queue compares a queue with the level.
func (r *reading) queue(q queueReport) error {
	want := r.config.kind
	if want == mirrored {
		want = classic
	}
	if q.Type != want {
		return r.Contradicts(setQueueType+" "+r.config.kind, "it is a %s queue", q.Type)
	}
	if !q.Durable {
		return r.Contradicts("a durable queue", "it is not")
	}
	all, inSync := q.copies()
	if r.config.replicated() {
		found := "it has " + quantity.Plural(all, "copy", "copies")
		if err := r.config.copies.Enough(all, found); err != nil {
			return err
		}
	}
	if r.config.replicated() && inSync < driver.Majority(all) {
		return r.Contradicts(fmt.Sprintf("a majority of %d copies", all), "%d are in sync", inSync)
	}
	if want != classic {
		return nil
	}
	switch mode := mirrorMode(q); {
	case r.config.kind == mirrored && mode != "all":
		return r.Contradicts("ha-mode all", "its policy has ha-mode %s", mode)
	case r.config.kind == classic && mode != none:
		return r.Contradicts("a queue with one copy", "its policy %s mirrors it (ha-mode %s): "+
			"remove the policy, or take %s mirrored and level %d", q.Policy, mode, setQueueType,
			r.Level-2)
	}
	for _, name := range storageArguments {
		asked := argument(r.config.arguments(), name)
		if has := argument(q.Arguments, name); has != asked {
			return r.Contradicts(name+" "+asked, "it has %s", has)
		}
	}
	return nil
}

// argument returns an argument of a queue as text.
func argument(all map[string]any, name string) string {
	value, has := all[name]
	if !has {
		return "not set"
	}
	return fmt.Sprint(value)
}

// mirrorMode returns which servers have a mirror, by the queue's policy.
func mirrorMode(q queueReport) string {
	value, has := q.definition["ha-mode"]
	if !has {
		return none
	}
	return fmt.Sprint(value)
}

// counted prints counts like "n1: 2, n2: 1", sorted by name.
func counted(all map[string]int) string {
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		names[i] = fmt.Sprintf("%s: %d", name, all[name])
	}
	return strings.Join(names, ", ")
}
