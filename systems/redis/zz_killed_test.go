package redis

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file break the shared cluster, so they run last.

const (
	killedPartitions = 2
	// readAtOnce is the number of entries of a partition that a consumer reads at once, and
	// acknowledges with its next read: those may arrive twice.
	readAtOnce = 5
)

// Killing the primary's process loses no acknowledged message: it returns as the primary, with its
// data, and clients wait for it.
func TestKilledPrimary(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	c := connect(t, systemtest.OptionsOf(t, redisSystem{}, servers, workload.SyncAsync,
		setCount, strconv.Itoa(readAtOnce)))
	topic, got := systemtest.Topic(t, c, "killed", killedPartitions), systemtest.NewInbox()
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
	killReplica(t, servers, c, topic)
	most := killedPartitions * readAtOnce
	if forgetsAcknowledgements(t, c) {
		most = len(acked)
	}
	if again := len(got.Contents()) - len(acked); again > most {
		t.Errorf("%d messages arrived twice, at most %d may", again, most)
	}
}

// forgetsAcknowledgements reports whether the primary is of the version whose groups get again,
// once, what they had acknowledged before the primary was killed (doc.go).
func forgetsAcknowledgements(t *testing.T, c *cluster) bool {
	t.Helper()
	lines, err := c.ServerVersions(t.Context())
	if err != nil || len(lines) == 0 {
		t.Fatal(lines, err)
	}
	return strings.HasSuffix(lines[0], " 8.0.2")
}

// A replica that was killed catches up with the primary.
func killReplica(t *testing.T, servers *driver.Cluster, c *cluster, topic system.Topic) {
	t.Helper()
	replica := servers.Nodes()[1].Name
	if err := servers.Kill(replica); err != nil {
		t.Fatal(err)
	}
	if err := servers.Restart(replica); err != nil {
		t.Fatal(err)
	}
	awaitDurable(t, c, topic)
}

// awaitDurable waits until all replicas are online.
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
