package activemq

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestProvisionedCluster(t *testing.T) {
	systemtest.NeedJava(t)
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
	systemtest.NeedJava(t)
	systemtest.StartEndsWhenToldTo(t, activeSystem{})
}

func TestCheck(t *testing.T) {
	systemtest.Checks(t, activeSystem{}, []systemtest.Checked{
		{Level: workload.SyncSync, Nodes: 3},
		{Level: workload.AsyncAsync, Nodes: 5},
		{Level: workload.SyncAsync},
		{Level: workload.AsyncSync, Nodes: 1, Given: []string{setStore, storeKahaDB}},
		{Level: 5, Nodes: 3, Says: []string{"the levels are 1 to 4"}},
		{Level: workload.SyncSync, Given: []string{setStore, storeKahaDB},
			Says: []string{"one copy of each message", "level 3 or 4"}},
		{Level: workload.SyncAsync, Nodes: 1, Says: []string{"3 or more brokers"}},
		{Level: workload.AsyncSync, Nodes: 1,
			Given: []string{setStore, storeKahaDB, setSyncStrategy, syncNever},
			Says:  []string{"level 3 syncs always"}},
		{Level: workload.SyncAsync, Given: []string{setHeap, "2GB"},
			Says: []string{"these run already"}},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{
			setPrefetch, "0", setMemoryUsage, "99", setHeap, "1MB",
		}, Says: []string{"from 1 to 100k", "from 10 to 90", "at least 128MB"}},
	})
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
