package rabbitmq

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// at is the beginning of a sentence about a given setting.
const at = `t.yaml:3:5: setting `

var checks = []systemtest.Checked{
	{Level: workload.SyncSync, Delivery: workload.AtLeastOnce, Nodes: 3},
	{Level: workload.AsyncSync, Given: []string{setQueueType, classic}},
	{Level: workload.SyncSync, Given: []string{setQueueType, classic},
		Exactly: at + `"queue_type": a classic queue has one copy, and durability level 1 asks for a majority: take quorum or mirrored, or level 3`},
	{Level: workload.SyncSync, Nodes: 3, Given: []string{setQueueType, mirrored}},
	{Level: workload.AsyncSync, Given: []string{setQueueType, mirrored},
		Exactly: at + `"queue_type": a mirrored queue confirms when its copies have the message, which durability level 3 does not wait for: take classic, or level 1`},
	{Level: workload.SyncAsync,
		Given:   []string{setQueueType, mirrored, setDeliveryMode, persistent},
		Exactly: at + `"delivery_mode": persistent messages are synced before they are confirmed, which is durability level 1: remove it, or take that level`},
	{Level: workload.SyncAsync, Given: []string{setQueueType, mirrored,
		setDeliveryMode, persistent, setQueueVersion, "2"}},
	{Level: workload.AsyncSync, Given: []string{setQueueVersion, "2"},
		Exactly: at + `"queue_version": version 2 confirms before it syncs, and durability level 3 asks for the sync: take version 1, or level 4`},
	{Level: workload.AsyncSync, Given: []string{setDeliveryMode, transient},
		Exactly: at + `"delivery_mode": transient messages are not synced, and durability level 3 asks for it: remove it, or take level 4`},
	{Level: workload.SyncSync, Given: []string{setDeliveryMode, transient},
		Exactly: at + `"delivery_mode": a quorum queue writes every message: remove it, or take classic or mirrored`},
	{Level: workload.SyncSync, Given: []string{setQueueMode, lazy, setMaxPriority, "5"},
		Exactly: at + `"queue_mode": is for classic and mirrored queues, and these are of type quorum: remove it, or choose another queue_type` + "\n" +
			at + `"max_priority": is for classic and mirrored queues, and these are of type quorum: remove it, or choose another queue_type`},
	{Level: workload.SyncSync, Given: []string{setQueueType, streamed},
		Exactly: at + `"queue_type": a stream waits for a majority and never syncs, which is durability level 2: take that level, or another queue type`},
	{Level: workload.SyncAsync, Given: []string{setQueueType, streamed}},
	{Level: workload.SyncAsync, Nodes: 1,
		Exactly: `setting "replicas": the testbed has 1 node, and durability level 2 needs 3 copies of each message (replicas): add servers, or ask for --durability 3 or 4, for which a single copy suffices`},
	{Level: workload.AsyncSync, Nodes: 1},
	{Level: workload.SyncSync, Given: []string{setMemory, "1GB"},
		Exactly: at + `"vm_memory_high_watermark": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
	{Level: workload.SyncSync, Nodes: 3, Given: []string{setManagement, "http://rabbit:15672"},
		Exactly: at + `"management": is for a cluster that runs already, and plimsoll starts this one: remove it, or give endpoints`},
	{Level: workload.SyncSync, Nodes: 3, Given: []string{setReplicas, "1", setAckBatch, "1000",
		setHeartbeat, "1ms", setMemory, "1MB"},
		Exactly: at + `"replicas": must be from 3 to 9` + "\n" +
			at + `"heartbeat": must be from 1s to 1h` + "\n" +
			at + `"ack_batch": must be at most prefetch, which is 500` + "\n" +
			at + `"vm_memory_high_watermark": must be at least 128MB: with less a server blocks producers while it is idle`},
	{Level: workload.SyncSync, Given: []string{setManagement, "rabbit:15672"},
		Exactly: at + `"management": "rabbit:15672" is not a URL: write it like http://rabbit-1:15672`},
	{Level: workload.SyncSync, Given: []string{setManagement, "http://u:p@rabbit:15672"},
		Exactly: at + `"management": holds a user or password: give them as credentials, so that they stay out of results`},
}

// Check finds all errors of a request at once, before anything starts.
func TestCheck(t *testing.T) { systemtest.Checks(t, rabbitSystem{}, checks) }

func TestMissingServer(t *testing.T) {
	elsewhere := scripts
	elsewhere.Folders = []string{t.TempDir()}
	_, err := elsewhere.Find(system.Settings{})
	var missing *system.Missing
	if !errors.As(err, &missing) || !slices.Equal(missing.Packages, []string{"rabbitmq-server"}) {
		t.Errorf("without a server: %v", err)
	}
}

// What RabbitMQ 4 no longer does is refused, and nothing else.
func TestPlansThatVersion4Lacks(t *testing.T) {
	for _, c := range []struct {
		kind  string
		level workload.Level
		major int
		want  string // empty: it has it
	}{
		{classic, workload.AsyncSync, 4, "before it syncs them"},
		{classic, workload.AsyncSync, 3, ""},
		{classic, workload.AsyncSync, 0, ""}, // not known
		{classic, workload.AsyncAsync, 4, ""},
		{mirrored, workload.SyncAsync, 4, "no mirrored queues"},
		{mirrored, workload.SyncAsync, 3, ""},
		{quorum, workload.SyncSync, 4, ""},
		{streamed, workload.SyncAsync, 5, ""},
	} {
		got := plan{level: c.level, kind: c.kind, protocol: amqp091}.lacking(c.major)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s at level %d on version %d: %q, want %q", c.kind, c.level, c.major, got,
				c.want)
		}
	}
	idle := planOf(systemtest.Settings(t, rabbitSystem{}, setQueueMode, lazy), workload.AsyncAsync)
	if old, now := idle.lacking(3), idle.lacking(4); old != "" ||
		!strings.Contains(now, "no lazy queues") {
		t.Errorf("lazy queues on version 3: %q, on 4: %q", old, now)
	}
	for major, lacks := range map[int]bool{3: true, 4: false, 0: false} {
		got := plan{level: workload.SyncSync, kind: quorum, protocol: amqp10}.lacking(major)
		if strings.Contains(got, "take protocol amqp091") != lacks {
			t.Errorf("AMQP 1.0 on version %d: %q", major, got)
		}
	}
}

// The addresses of AMQP 1.0 are those of RabbitMQ 4, and clients begin at endpoints in turn.
func TestLinks(t *testing.T) {
	with := func(name, value string) plan {
		return planOf(systemtest.Settings(t, rabbitSystem{}, name, value), workload.SyncSync)
	}
	topic := system.Topic{Name: "a/b", Partitions: 2}
	for exchange, want := range map[string]string{
		direct: "/exchanges/a%2Fb/1", "topic": "/exchanges/a%2Fb/partition.1",
	} {
		if got := with(setExchangeType, exchange).targets(topic); got[1].Address != want {
			t.Errorf("%s: %+v, want %s", exchange, got, want)
		}
	}
	one := system.Topic{Name: "one", Partitions: 1}
	if got := with(setExchangeType, fanout).targets(one); got[0].Address != "/exchanges/one" {
		t.Errorf("%+v", got)
	}
	if got := sources(topic, "s"); got[1].Address != "/queues/a%2Fb.s.1" {
		t.Errorf("%+v", got)
	}
	c := &cluster{options: system.Options{Endpoints: []string{"a:1", "b:1", "c:1"}},
		cfg: with(setVhost, "orders")}
	d := c.linkDialer(4)
	if !slices.Equal(d.Endpoints, []string{"b:1", "c:1", "a:1"}) || d.HostName != "vhost:orders" {
		t.Errorf("%+v", d)
	}
}

// What AMQP 1.0 is not written for is refused.
func TestProtocolProblems(t *testing.T) {
	for _, c := range [][]string{
		{setQueueType, streamed}, {setExchangeType, headers}, {setSASL, "external"},
		{setChannels, "2"}, {setAckBatch, "1"},
	} {
		s := systemtest.Settings(t, rabbitSystem{}, append(c, setProtocol, amqp10)...)
		if bad := problems(s, workload.SyncAsync); len(bad) != 1 {
			t.Errorf("%v: %v", c, bad)
		}
	}
	s := systemtest.Settings(t, rabbitSystem{}, setProtocol, amqp10, setQueueType, quorum)
	if bad := problems(s, workload.SyncSync); len(bad) > 0 {
		t.Error(bad)
	}
}
