package kafka

import (
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Servers that start again in a newer version keep their messages. It runs last, because the
// cluster has another version afterwards.
func TestUpgrade(t *testing.T) {
	servers := securedCluster(t)
	newer := systemtest.Settings(t, kafkaSystem{}).Text(system.SettingVersion)
	// With acks=all, so that every copy has what a killed server acknowledged.
	c := systemtest.Connect[*cluster](t, kafkaSystem{}, optionsOf(t, servers, workload.SyncAsync,
		setSASL, mechanismSCRAM512))
	topic, got := systemtest.Topic(t, c, "upgraded", 3), systemtest.NewInbox()
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	send := func(text string) {
		t.Helper()
		m := systemtest.NewTestMessage(text)
		p.Send(&m.Message)
		if err := m.Await(t); err != nil {
			t.Fatal(err)
		}
	}
	send("before")
	before := versions(t, c)
	for _, n := range servers.Nodes() {
		awaitSync(t, c, topic)
		if err := servers.Kill(n.Name); err != nil {
			t.Fatal(err)
		}
		if err := servers.Upgrade(t.Context(), n.Name, newer); err != nil {
			t.Fatal(err)
		}
		if err := servers.Restart(n.Name); err != nil {
			t.Fatal(err)
		}
		send("after " + n.Name)
	}
	awaitSync(t, c, topic)
	if now := versions(t, c); slices.Equal(now, before) {
		t.Errorf("the servers still have the versions %v", now)
	}
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	got.AwaitAll(t, "before", "after n1", "after n2", "after n3")
}

func versions(t *testing.T, c *cluster) []string {
	t.Helper()
	all, err := c.ServerVersions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(all)
	return all
}

// awaitSync waits until every copy of the topic is complete.
func awaitSync(t *testing.T, c *cluster, topic system.Topic) {
	t.Helper()
	err := driver.Until(t.Context(), 50*time.Millisecond, func() (bool, error) {
		err := c.InSync(t.Context(), []system.Topic{topic})
		return err != nil && t.Context().Err() == nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
}
