package activemq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/zookeeper"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// waits says which brokers an acknowledgement waits for.
type waits struct{ master, slaves, majority bool }

// TestAcknowledgementWaitsFor for level 4.
func TestAcknowledgementWaitsForNothing(t *testing.T) {
	servers := clusterOf(t, shared)
	showWaits(t, servers, optionsOf(t, shared, setRequest, "1s"), waits{})
}

// The test delays syncs on the master and on the slaves and pauses slaves, to see which of them an
// acknowledgement waits for. With quorum_mem a slave syncs before it answers, which is more than
// the level requires. The loop ends at level 1.
func TestAcknowledgementWaitsFor(t *testing.T) {
	t.Parallel() // with TestConformance, on its own brokers, which it reconfigures and breaks
	servers := clusterOf(t, leveled)
	for _, one := range []struct {
		level workload.Level
		waits
	}{
		{workload.AsyncSync, waits{master: true}},
		{workload.SyncAsync, waits{slaves: true, majority: true}},
		{workload.SyncSync, waits{true, true, true}},
	} {
		if one.level != leveled.Level {
			setLevel(t, servers, one.level)
		}
		t.Run(fmt.Sprintf("level %d", one.level), func(t *testing.T) {
			o := systemtest.OptionsOf(t, activeSystem{}, servers, one.level, setRequest, "1s")
			showWaits(t, servers, o, one.waits)
		})
	}
	t.Run("killed master", func(t *testing.T) { killMaster(t, servers) })
}

// setLevel restarts the brokers with another configuration.
func setLevel(t *testing.T, servers *driver.Cluster, level workload.Level) {
	t.Helper()
	began := time.Now()
	for _, n := range brokersOf(servers) {
		text, err := os.ReadFile(n.Path(configFile))
		if err != nil {
			t.Fatal(err)
		}
		config := string(text)
		for _, mode := range syncModes {
			config = strings.ReplaceAll(config, ` sync="`+mode+`"`, ` sync="`+syncModes[level]+`"`)
		}
		if err := servers.Kill(n.Name); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n.Path(configFile), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range brokersOf(servers) {
		if err := servers.Restart(n.Name); err != nil {
			t.Fatal(err)
		}
		awaitJoined(t, servers, n)
	}
	awaitSlaves(t, servers)
	t.Logf("the brokers took %s to start with sync=%s", time.Since(began).Round(time.Millisecond),
		syncModes[level])
}

func brokersOf(servers *driver.Cluster) []*driver.Node {
	var all []*driver.Node
	for _, n := range servers.Members() {
		if n.Name != zookeeper.Name {
			all = append(all, n)
		}
	}
	return all
}

// awaitJoined waits until a broker is a member of the election.
func awaitJoined(t *testing.T, servers *driver.Cluster, n *driver.Node) {
	t.Helper()
	b := ask(t, servers, n).brokers[0]
	await(t, servers, b.hasJoined, n)
}

// awaitSlaves waits until the master has all slaves.
func awaitSlaves(t *testing.T, servers *driver.Cluster) {
	t.Helper()
	all := brokersOf(servers)
	j := ask(t, servers, all...)
	await(t, servers, func(ctx context.Context) error {
		return j.hasSlaves(ctx, len(all)-1)
	}, all...)
}

func ask(t *testing.T, servers *driver.Cluster, nodes ...*driver.Node) *jolokia {
	o := systemtest.OptionsOf(t, activeSystem{}, servers, workload.SyncSync)
	o.Endpoints = nil
	for _, n := range nodes {
		o.Endpoints = append(o.Endpoints, n.Address)
	}
	return newJolokia(o)
}

// await repeats a question until it has no error, for at most three minutes. A broker that reads
// another's unfinished entry in ZooKeeper exits, or runs and never follows (doc.go). So await
// restarts brokers that have exited at once, and every 20 s one that still runs.
func await(t *testing.T, servers *driver.Cluster, question func(context.Context) error,
	brokers ...*driver.Node,
) {
	t.Helper()
	const patience = 20 * time.Second
	began, suspect := time.Now(), 0
	again := began.Add(patience)
	err := driver.Until(t.Context(), 50*time.Millisecond, func() (bool, error) {
		err := question(t.Context())
		if err == nil || time.Since(began) > 9*patience {
			return false, err
		}
		for _, n := range brokers {
			if n.PID() <= 0 || syscall.Kill(n.PID(), 0) != nil {
				t.Logf("%s has ended and is started again: %s", n.Name, err)
				err = errors.Join(err, servers.Restart(n.Name))
			}
		}
		if time.Now().After(again) {
			n := brokers[suspect%len(brokers)]
			t.Logf("%s is killed and started again: %s", n.Name, err)
			suspect, again = suspect+1, time.Now().Add(patience)
			err = errors.Join(err, servers.Kill(n.Name), servers.Restart(n.Name))
		}
		return true, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sides returns the processes of the master and of the slaves.
func sides(t *testing.T, c *cluster, servers *driver.Cluster) (master *driver.Node, slaves []int) {
	t.Helper()
	b, err := c.jolokia.master(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range brokersOf(servers) {
		if n.Address == b.endpoint {
			master = n
		} else {
			slaves = append(slaves, n.PID())
		}
	}
	return master, slaves
}

func showWaits(t *testing.T, servers *driver.Cluster, o system.Options, want waits) {
	c := connect(t, o)
	topic := systemtest.Topic(t, c, fmt.Sprintf("waits-%d", o.Durability), 1)
	if _, err := c.ReadDurability(t.Context(), []system.Topic{topic}); err != nil {
		t.Error(err)
	}
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	master, slaves := sides(t, c, servers)
	t.Run("syncs", func(t *testing.T) {
		systemtest.NeedDelays(t)
		systemtest.CheckSyncWait(t, p,
			systemtest.SyncWait{Of: "the master", PIDs: []int{master.PID()}, Waits: want.master},
			systemtest.SyncWait{Of: "the slaves", PIDs: slaves, Waits: want.slaves})
	})
	t.Run("slaves", func(t *testing.T) {
		for i, pid := range slaves {
			defer systemtest.Pause(t, pid)()
			l := systemtest.NewTestMessage("replicated?")
			p.Send(&l.Message)
			err := l.Await(t)
			needed := want.majority && i == len(slaves)-1
			if needed != errors.Is(err, system.ErrUnknown) || !needed && err != nil {
				t.Errorf("with %d slaves paused: %v", i+1, err)
			}
		}
	})
	awaitSlaves(t, servers)
}

// killMaster kills the master at level 1 while messages are sent: a slave takes over, clients
// follow, and no acknowledged message is lost.
func killMaster(t *testing.T, servers *driver.Cluster) {
	c := connect(t, systemtest.OptionsOf(t, activeSystem{}, servers, workload.SyncSync))
	topic, got := systemtest.Topic(t, c, "killed", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	all := make([]*systemtest.TestMessage, 300)
	for i := range all {
		all[i] = systemtest.NewTestMessage(fmt.Sprint("amid-", i))
	}
	master, _ := sides(t, c, servers)
	underWay := make(chan struct{})
	go func() {
		for i, m := range all {
			p.Send(&m.Message)
			if i == len(all)/2 { // a hundred of them are in flight
				close(underWay)
			}
		}
	}()
	<-underWay
	killed := time.Now()
	if err := servers.Kill(master.Name); err != nil {
		t.Fatal(err)
	}
	var acked []string
	for i, m := range all {
		switch err := m.Await(t); {
		case err == nil:
			acked = append(acked, string(m.Payload))
		case !errors.Is(err, system.ErrUnknown):
			t.Errorf("message %d: %v", i, err)
		}
	}
	sent := time.Since(killed)
	before := len(acked)
	for i := range 20 {
		m := systemtest.NewTestMessage(fmt.Sprint("after-", i))
		p.Send(&m.Message)
		if err := m.Await(t); err != nil {
			t.Fatalf("message %d after the kill: %v", i, err)
		}
		acked = append(acked, string(m.Payload))
	}
	got.AwaitAll(t, acked...)
	if now, _ := sides(t, c, servers); now.Name == master.Name {
		t.Errorf("%s is the master still", now.Name)
	}
	if err := servers.Restart(master.Name); err != nil {
		t.Fatal(err)
	}
	awaitJoined(t, servers, master)
	awaitSlaves(t, servers)
	t.Logf("%d of %d messages were acknowledged; after the kill all were sent in %s, and all "+
		"brokers followed in %s", before, len(all), sent, time.Since(killed))
}
