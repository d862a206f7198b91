package postgres

import (
	"errors"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file break the shared cluster, so they run last.

// Killing the primary's process loses no acknowledged message: it returns as the primary, with its
// data, and clients wait for it.
func TestKilledPrimary(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	for _, shape := range []string{shapeQueue, shapeLog} {
		t.Run(shape, func(t *testing.T) { killedPrimary(t, servers, shape) })
	}
}

// fetched is the number of messages that a consumer takes at once, and so the number that it may
// receive twice.
const fetched = 5

func killedPrimary(t *testing.T, servers *driver.Cluster, shape string) {
	c := connect(t, systemtest.OptionsOf(t, postgresSystem{}, servers, workload.SyncAsync,
		setShape, shape, setFetch, strconv.Itoa(fetched)))
	topic, got := systemtest.Topic(t, c, "killed-"+shape, 2), systemtest.NewInbox()
	unused := systemtest.Topic(t, c, "unused-"+shape, 1)
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	var killed time.Time
	back, primary := make(chan error, 1), servers.Nodes()[0].Name
	acked := systemtest.SendAmidKill(t, p, func() {
		killed = time.Now()
		if err := servers.Kill(primary); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(500 * time.Millisecond)
			back <- servers.Restart(primary)
		}()
	})
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	sent := time.Since(killed)
	got.AwaitAll(t, acked...)
	received := time.Since(killed)
	awaitDurable(t, c, topic)
	t.Logf("after the kill all was sent in %s, received in %s, and replicated in %s",
		sent, received, time.Since(killed))
	killStandby(t, servers, c, topic)
	if again := len(got.Contents()) - len(acked); again > fetched {
		t.Errorf("%d messages arrived twice", again)
	}
	// The connection that created the topics broke unnoticed when the primary was killed.
	if err := c.DeleteTopic(t.Context(), unused); err != nil {
		t.Error(err)
	}
}

// A standby that was killed catches up with the primary.
func killStandby(t *testing.T, servers *driver.Cluster, c *cluster, topic system.Topic) {
	t.Helper()
	standby := servers.Nodes()[1].Name
	if err := servers.Kill(standby); err != nil {
		t.Fatal(err)
	}
	if err := servers.Restart(standby); err != nil {
		t.Fatal(err)
	}
	awaitDurable(t, c, topic)
}

// awaitDurable waits until all standbys are online.
func awaitDurable(t *testing.T, c *cluster, topic system.Topic) {
	t.Helper()
	err := driver.Until(t.Context(), 50*time.Millisecond, func() (bool, error) {
		_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
		return err != nil && t.Context().Err() == nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A server that gets its node's signal, as in the fault restart, ends despite connected clients,
// and no acknowledged message is lost.
func TestRestartedPrimary(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	c := connect(t, systemtest.OptionsOf(t, postgresSystem{}, servers, workload.SyncAsync))
	topic, got := systemtest.Topic(t, c, "restarted", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	send := func(name string) error {
		m := systemtest.NewTestMessage(name)
		p.Send(&m.Message)
		return m.Await(t)
	}
	if err := send("before"); err != nil {
		t.Fatal(err)
	}
	primary := servers.Nodes()[0]
	asked := time.Now()
	if err := syscall.Kill(primary.PID, primary.Quit); err != nil {
		t.Fatal(err)
	}
	for syscall.Kill(primary.PID, 0) == nil {
		if time.Since(asked) > quickEnd {
			t.Fatalf("the primary runs %s after %s", quickEnd, primary.Quit)
		}
		time.Sleep(10 * time.Millisecond) // the test cannot wait for its end
	}
	t.Logf("the primary ended after %s", time.Since(asked))
	if err := servers.Restart(primary.Name); err != nil {
		t.Fatal(err)
	}
	// The first message may have been sent to the old connection.
	if err := send("at the end"); err != nil && !errors.Is(err, system.ErrUnknown) {
		t.Error(err)
	}
	if err := send("after"); err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, "before", "after")
	awaitDurable(t, c, topic)
}

// quickEnd is well below the 30 s after which the fault restart kills a server.
const quickEnd = 10 * time.Second
