package systemtest

import (
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// disturbing is held while the suite pauses servers or delays their syncs, because several runs of
// the suite may share a cluster.
var disturbing sync.Mutex

// acknowledged checks what an acknowledgement at a level waits for, by what is done to the servers
// and not by what the driver says: for an answer, and at a level with syncs for these. The syncs of
// single servers are for the system's own tests.
func (s *suite) acknowledged(t *testing.T, l workload.Level) {
	o := s.optionsFor(t, l)
	pids := s.processes(t, l)
	c := s.connectWith(t, o)
	p := Producer(t, c, s.topic(t, c, 1), 0, s.delivery)
	Acks(t, p) // the first messages make connections
	disturbing.Lock()
	defer disturbing.Unlock()
	t.Run("answer", func(t *testing.T) {
		CheckPauseWait(t, p, "every server", true, pids...)
		if t.Failed() {
			t.Error("system.Producer: a message ends without an error only after a server has " +
				"answered")
		}
	})
	if !l.Synced() {
		return
	}
	t.Run("sync", func(t *testing.T) {
		NeedDelays(t)
		CheckSyncWait(t, p, SyncWait{Of: "all servers", PIDs: pids, Waits: true,
			Space: 3 * SyncDelay})
		if t.Failed() {
			t.Errorf("level %d: an acknowledged message is %s", l, l.Meaning())
		}
	})
}

// processes returns the servers' processes.
func (s *suite) processes(t *testing.T, l workload.Level) []int {
	t.Helper()
	var pids []int
	for _, n := range s.nodes[l] {
		if n.PID <= 0 {
			t.Fatalf("Harness.Options names %q without its process", n.Name)
		}
		pids = append(pids, n.PID)
	}
	_, embedded := s.System.(system.Embedded)
	switch {
	case embedded, slices.Contains(pids, os.Getpid()):
		t.Skip("the servers are part of this process, which cannot pause itself")
	case len(pids) == 0:
		t.Fatal("Harness.Options names no servers, so none can be paused")
	}
	return pids
}

// unhandled closes a connection without time while its consumer handles a message. That message
// is not acknowledged, so another consumer must receive it.
func (s *suite) unhandled(t *testing.T) {
	if _, embedded := s.System.(system.Embedded); embedded {
		t.Skip("the system is embedded: each connection is a cluster of its own")
	}
	o := s.options[s.level]
	first := s.connect(t)
	second, err := s.System.Connect(s.context(t), o)
	must(t, "connecting", err)
	handling, release := make(chan struct{}), make(chan struct{})
	defer func() {
		close(release)
		_ = second.Close(s.context(t)) // it may have been closed
	}()
	topic := s.topic(t, first, 1)
	var once sync.Once
	_, err = second.OpenConsumer(s.context(t), system.ConsumerOptions{
		Topic: topic, Subscription: "unhandled", Delivery: workload.AtLeastOnce,
		Receive: func(system.Received) { once.Do(func() { close(handling) }); <-release },
		Failed:  func(error) {}, // its connection ends while it handles a message
	})
	must(t, "opening a consumer", err)
	p := s.sender(t, first, topic, 0)
	must(t, "sending", p.sendMany(s.context(t), 1))
	must(t, "waiting for the acknowledgement", p.await(s.context(t)))
	p.mustAll(t)
	select {
	case <-handling:
	case <-s.context(t).Done():
		t.Fatal("the message did not arrive")
	}
	_ = second.Close(ended(s.context(t)))
	again := newArrivals()
	s.consumer(t, first, topic, "unhandled", 1, workload.AtLeastOnce, again)
	patience := comesAgainWithin
	if redelivery := s.System.Describe().Redelivery; redelivery != nil {
		patience += redelivery(o.Settings, workload.AtLeastOnce).After
	}
	if err := again.awaitEach(1, patience); err != nil {
		t.Errorf("a message whose consumer was closed without time while it handled it did not "+
			"come again within %s (%v); system.ConsumerOptions: the consumer acknowledges a "+
			"message after Receive returns, and with at_most_once only before it", patience, err)
	}
}

// comesAgainWithin bounds the time until another consumer gets the next message of one that has
// closed. It is below the time-outs after which servers take such messages back themselves.
const comesAgainWithin = 25 * time.Second
