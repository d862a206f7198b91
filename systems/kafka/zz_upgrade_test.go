package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A server that starts again in a newer version keeps its messages. The test runs last, because the
// cluster has two versions afterwards.
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
	awaitSync(t, c, topic)
	node := servers.Nodes()[0].Name
	if err := servers.Kill(node); err != nil {
		t.Fatal(err)
	}
	if err := servers.Upgrade(t.Context(), node, newer); err != nil {
		t.Fatal(err)
	}
	if err := servers.Restart(node); err != nil {
		t.Fatal(err)
	}
	send("after")
	var now []string
	want := " " + newer[:strings.LastIndex(newer, ".")] + ","
	err := driver.Until(within(t), 100*time.Millisecond, func() (again bool, err error) {
		now, err = c.ServerVersions(t.Context())
		return err != nil || !strings.Contains(now[0], want), err
	})
	if err != nil || !strings.Contains(now[0], want) || strings.Contains(now[1], want) {
		t.Errorf("the versions are %v: %v", now, err)
	}
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	got.AwaitAll(t, "before", "after")
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
