package artemis

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file break the clusters, so they run last.

// When the primary is killed, its backup takes over with all acknowledged messages, and clients
// follow. When the primary returns, it copies the backup and is the primary again.
func TestKilledPrimary(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	o := systemtest.OptionsOf(t, artemisSystem{}, servers, workload.SyncAsync)
	c := connect(t, o)
	topic, got := systemtest.Topic(t, c, "killed", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	var killed time.Time
	acked := systemtest.SendAmidKill(t, p, func() {
		killed = time.Now()
		if err := servers.Kill("n1"); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("the backup took over within %s", time.Since(killed))
	if at, err := c.Leader(t.Context(), topic, 0); err != nil || at != o.Endpoints[1] {
		t.Errorf("the active server is %s, %v", at, err)
	}
	back := time.Now()
	if err := servers.Restart("n1"); err != nil {
		t.Fatal(err)
	}
	err := driver.Until(t.Context(), 100*time.Millisecond, func() (bool, error) {
		_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
		at := ""
		if err == nil {
			at, err = c.Leader(t.Context(), topic, 0)
		}
		again := (err != nil || at != o.Endpoints[0]) && time.Since(back) < time.Minute
		return again, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the primary was back and had its backup within %s", time.Since(back))
	after := systemtest.NewTestMessage("after")
	p.Send(&after.Message)
	switch err := after.Await(t); {
	case err == nil:
		acked = append(acked, "after")
	case !errors.Is(err, system.ErrUnknown):
		t.Error(err)
	}
	got.AwaitAll(t, acked...)
}

// At level 1, a mirror that is killed while messages are sent has all acknowledged messages when
// it returns. Nothing is acknowledged while it is away.
func TestKilledMirror(t *testing.T) {
	o := optionsOf(t, secured, workload.SyncSync, setTimeout, "1s")
	servers := secured.Take(t)
	c := connect(t, systemtest.OptionsOf(t, artemisSystem{}, servers, workload.SyncSync))
	topic := systemtest.Topic(t, c, "mirror-killed", 1)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	impatient := systemtest.Producer(t, connect(t, o), topic, 1, workload.AtLeastOnce)
	all := make([]*systemtest.TestMessage, 1000)
	for i := range all {
		all[i] = systemtest.NewTestMessage(fmt.Sprint("amid-", i))
	}
	underWay := make(chan struct{})
	go func() {
		for i, m := range all {
			p.Send(&m.Message)
			if i == len(all)/2 {
				close(underWay)
			}
		}
	}()
	<-underWay
	if err := servers.Kill("n2"); err != nil {
		t.Fatal(err)
	}
	alone := systemtest.NewTestMessage("alone")
	impatient.Send(&alone.Message)
	if err := alone.Await(t); !errors.Is(err, system.ErrUnknown) {
		t.Errorf("without the mirror a message ended with %v", err)
	}
	if err := servers.Restart("n2"); err != nil {
		t.Fatal(err)
	}
	acked := 0
	for i, m := range all {
		switch err := m.Await(t); {
		case err == nil:
			acked++
		case !errors.Is(err, system.ErrUnknown):
			t.Errorf("message %d: %v", i, err)
		}
	}
	t.Logf("%d of %d messages were acknowledged", acked, len(all))
	awaitMessages(t, o, o.Endpoints[1], queue(topic, unread, 0), acked)
}

// awaitMessages waits until a server's queue has as many messages as wanted.
func awaitMessages(t *testing.T, o system.Options, server, of string, want int) {
	t.Helper()
	there := newManagement(dialer(o, server))
	defer there.close()
	count, began := 0, time.Now()
	err := driver.Until(t.Context(), 100*time.Millisecond, func() (bool, error) {
		err := there.attribute(t.Context(), "queue."+of, "MessageCount", &count)
		return (err != nil || count < want) && time.Since(began) < 30*time.Second, err
	})
	if err != nil || count < want {
		t.Errorf("%s has %d of %d acknowledged messages, %v", server, count, want, err)
	}
}
