package mqtt

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestProvisionedServer(t *testing.T) {
	optionsOf(t, shared)
	c := secured.Get(t)
	systemtest.RunsOnLoopback(t, c, 1, 1)
	systemtest.IsPrivate(t, c.Members()[0].Path(configFile)) // it has the key store's password
	systemtest.IsPrivate(t, c.Members()[0].Path(keyStoreFile))
	systemtest.IsPrivate(t, c.Members()[0].Path(driver.KeyFile))
	if c.TLS() == nil || shared.Get(t).TLS() != nil {
		t.Error("the wrong server is encrypted")
	}
	for servers, want := range map[*testServers]bool{shared: true, secured: false} {
		queues := servers.Get(t).Members()[0].Path("data", "persistence", "client_queue")
		if _, err := os.Stat(queues); (err == nil) != want {
			t.Errorf("queues in files: want %t, got %v", want, err)
		}
	}
}

// A queue without a consumer keeps more messages than HiveMQ's default bound.
func TestQueueIsLong(t *testing.T) {
	c := connect(t, optionsOf(t, shared))
	topic, got := systemtest.Topic(t, c, "long", 1), systemtest.NewInbox()
	r := systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	all := make([]*systemtest.TestMessage, 1500)
	for i := range all {
		all[i] = systemtest.NewTestMessage(strconv.Itoa(i))
		p.Send(&all[i].Message)
	}
	for _, m := range all {
		if err := m.Await(t); err != nil {
			t.Fatal(err)
		}
	}
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	got.Await(t, len(all))
}

// A server that ends while it starts is an error with its last words, and leaves nothing.
func TestFailedStart(t *testing.T) {
	optionsOf(t, shared) // downloads the server if necessary
	data := filepath.Join(t.TempDir(), "data")
	_, err := mqttSystem{}.Provision(t.Context(), system.Provision{
		Nodes: 1, DataDir: data, LogDir: t.TempDir(), Durability: workload.AsyncAsync,
		Settings: systemtest.Settings(t, mqttSystem{}, setHeap, "100TB"),
	})
	systemtest.Refused(t, time.Now(), err, "ended while it was started")
	if left, _ := filepath.Glob(filepath.Join(data, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The probes find what MQTT is known to do.
func TestProbes(t *testing.T) {
	t.Parallel()
	column, err := probe.On(t.Context(), probe.Subject{Name: "mqtt", System: New(),
		Options: optionsOf(t, shared)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(map[string]probe.Answer{
		"time decoupling": probe.Yes, "competing consumers": probe.Yes, "multicast": probe.Yes,
		"at most once": probe.Yes, "at least once": probe.Yes, "replay": probe.No,
		"routing: fanout": probe.Yes,
	}) {
		t.Error(wrong)
	}
}
