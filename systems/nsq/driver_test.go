package nsq

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestProvisionedCluster(t *testing.T) {
	systemtest.RunsOnLoopback(t, shared.Get(t), 3, 3)
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, nsqSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, After: 66 * time.Second, Why: "msg_timeout (1m)"},
		{Delivery: workload.AtMostOnce, Given: []string{setMsgTimeout, "5s"},
			After: 11 * time.Second, Why: "msg_timeout (5s)"},
	})
}

// The probes find what NSQ is known to do.
func TestProbes(t *testing.T) {
	t.Parallel() // with TestConformance: both wait most of the time
	column, err := probe.On(t.Context(), probe.Subject{Name: "nsq", System: New(),
		Options: optionsOf(t, shared)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(map[string]probe.Answer{
		"time decoupling": probe.Yes, "competing consumers": probe.Yes, "multicast": probe.Yes,
		"at most once": probe.Yes, "at least once": probe.Yes, "redelivery": probe.Yes,
		"replay": probe.No, "routing: fanout": probe.Yes,
	}) {
		t.Error(wrong)
	}
}

// An answer waits for no sync, even if every message goes to the disk and each is synced: the level
// is 4 with all settings.
func TestAcknowledgementWaitsForNoSync(t *testing.T) {
	servers := systemtest.Provision[*driver.Cluster](t, nsqSystem{}, workload.AsyncAsync,
		setMemQueue, "0", setSyncEvery, "1")
	c := connect(t, systemtest.OptionsOf(t, nsqSystem{}, servers, workload.AsyncAsync))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, "synced", 1), 0, workload.AtLeastOnce)
	systemtest.NeedDelays(t)
	systemtest.Acks(t, p) // the first sends warm up
	server := servers.Nodes()[0].PID
	if systemtest.Syncs(t, server, func() { systemtest.Acks(t, p) }) == "" {
		t.Error("the server syncs nothing, so that an answer could wait for nothing")
	}
	systemtest.CheckSyncWait(t, p, systemtest.SyncWait{Of: "the server", PIDs: []int{server}})
}

// A killed server loses the messages in its memory and comes back with its topics; the clients
// follow it, and the other servers' partitions go on.
func TestKilledServerComesBack(t *testing.T) {
	servers := secured.Take(t)
	c := connect(t, systemtest.OptionsOf(t, nsqSystem{}, servers, workload.AsyncAsync))
	topic, got := systemtest.Topic(t, c, "killed", 3), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	send := func(partition int32, name string) error {
		m := systemtest.NewTestMessage(name)
		m.Partition = partition
		p.Send(&m.Message)
		return m.Await(t)
	}
	if err := send(1, "before"); err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, "before")
	if err := servers.Kill("n2"); err != nil {
		t.Fatal(err)
	}
	if err := send(1, "amid"); err == nil {
		t.Error("a killed server took a message")
	}
	if err := send(0, "beside"); err != nil {
		t.Error("another server did not take a message: ", err)
	}
	if err := servers.Restart("n2"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := send(1, "after")
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	got.AwaitAll(t, "beside", "after")
}

func TestRefusals(t *testing.T) {
	for want, c := range map[string]system.Check{
		"cannot give durability level 2, only 4: a message is on one server only": {
			Settings: systemtest.Settings(t, nsqSystem{}), Durability: workload.SyncAsync},
		"is below nsqd's least, 25ms": {
			Settings:   systemtest.Settings(t, nsqSystem{}, setOutput, "10ms"),
			Durability: workload.AsyncAsync},
		"shapes servers that plimsoll starts": {
			Settings:   systemtest.Settings(t, nsqSystem{}, setMemQueue, "0"),
			Durability: workload.AsyncAsync},
	} {
		began := time.Now()
		systemtest.Refused(t, began, nsqSystem{}.Check(c), want)
	}
}

func TestBadNames(t *testing.T) {
	c := connect(t, optionsOf(t, shared))
	began := time.Now()
	err := c.CreateTopic(t.Context(), system.Topic{Name: "a b", Partitions: 1})
	systemtest.Refused(t, began, err, `"a b.0" is no name of NSQ`)
}

// Whatever a server sends, reading it ends, and yields no more bytes than were sent.
func FuzzFrames(f *testing.F) {
	frame := func(kind uint32, body string) []byte {
		var b []byte
		b = binary.BigEndian.AppendUint32(b, uint32(4+len(body)))
		b = binary.BigEndian.AppendUint32(b, kind)
		return append(b, body...)
	}
	f.Add(frame(frameResponse, responseOK))
	f.Add(append(frame(frameMessage, "12345678121234567890123456body"), frame(frameError, "E_BAD")...))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2})
	f.Add([]byte{0, 0, 0, 3, 0, 0, 0, 0}) // shorter than its own kind
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &conn{in: bufio.NewReader(bytes.NewReader(raw))}
		total := 0
		for {
			if head, err := c.in.Peek(4); err == nil && binary.BigEndian.Uint32(head) < 4 {
				if _, _, err := c.next(); err == nil {
					t.Error("a frame that is shorter than its kind was read")
				}
				return
			}
			kind, body, err := c.next()
			if err != nil {
				break
			}
			total += 8 + len(body)
			if kind == frameMessage {
				if m, err := readMessage(body); err == nil && len(m.body) != len(body)-headerSize {
					t.Errorf("a message of %d bytes in a frame of %d", len(m.body), len(body))
				}
			}
		}
		if total > len(raw) {
			t.Errorf("%d bytes were read of %d", total, len(raw))
		}
	})
}
