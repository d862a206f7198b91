package activemq

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestProvisionedCluster(t *testing.T) {
	needJava(t)
	systemtest.Ahead(shared, secured, alone, leveled)
	c := clusterOf(t, shared)
	systemtest.RunsOnLoopback(t, c, 4, 4)
	systemtest.KeepsSecrets(t, c.Nodes(), c.Credentials().Password)
	password := c.Credentials().Password
	for _, n := range brokersOf(c) {
		if !strings.Contains(systemtest.IsPrivate(t, n.Path(configFile)), password) {
			t.Errorf("%s: the password is not where this test looks", n.Name)
		}
		systemtest.IsPrivate(t, n.Path(jolokiaFile))
	}
	encrypted := clusterOf(t, secured)
	systemtest.IsPrivate(t, encrypted.Members()[0].Path(keyStoreFile))
	if encrypted.TLS() == nil || c.TLS() != nil {
		t.Error("the wrong cluster is encrypted")
	}
}

func TestStartEndsWhenToldTo(t *testing.T) {
	needJava(t)
	systemtest.StartEndsWhenToldTo(t, activeSystem{})
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		level    workload.Level
		nodes    int
		settings []string
		want     []string
	}{
		{level: workload.SyncSync, nodes: 3},
		{level: workload.AsyncAsync, nodes: 5},
		{level: workload.SyncAsync},
		{level: workload.AsyncSync, nodes: 1, settings: []string{setStore, storeKahaDB}},
		{level: 5, nodes: 3, want: []string{"the levels are 1 to 4"}},
		{level: workload.SyncSync, settings: []string{setStore, storeKahaDB},
			want: []string{"one copy of each message", "level 3 or 4"}},
		{level: workload.SyncAsync, nodes: 1, want: []string{"3 or more brokers"}},
		{level: workload.AsyncSync, nodes: 1,
			settings: []string{setStore, storeKahaDB, setSyncStrategy, syncNever},
			want:     []string{"level 3 syncs always"}},
		{level: workload.SyncAsync, settings: []string{setHeap, "2GB"},
			want: []string{"these run already"}},
		{level: workload.SyncAsync, nodes: 3, settings: []string{
			setPrefetch, "0", setMemoryUsage, "99", setHeap, "1MB",
		}, want: []string{"from 1 to 100k", "from 10 to 90", "at least 128MB"}},
	} {
		err := activeSystem{}.Check(system.Check{
			Settings:   systemtest.Settings(t, activeSystem{}, c.settings...),
			Durability: c.level, Nodes: c.nodes,
		})
		if len(c.want) == 0 {
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %q", c, err, part)
			}
		}
	}
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, activeSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "connection of its consumer"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "connection of its consumer"},
	})
}

func TestNames(t *testing.T) {
	c := &cluster{Settings: systemtest.Settings(t, activeSystem{})}
	got := c.queues(system.Topic{Name: "a.b", Partitions: 2}, "x.y")
	if strings.Join(got, " ") !=
		"Consumer.x%2Ey.VirtualTopic.a.b.0 Consumer.x%2Ey.VirtualTopic.a.b.1" {
		t.Errorf("%q", got)
	}
	bean := "org.apache.activemq:brokerName=b,destinationName=a.b.0,type=Broker"
	if name := property(bean, "destinationName"); name != "a.b.0" {
		t.Errorf("%q", name)
	}
}
