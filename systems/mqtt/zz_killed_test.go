package mqtt

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file break the shared server, so they run last.

// A server that was killed comes back with its files: with the messages that it had acknowledged,
// its topics and their subscriptions. Clients follow it.
func TestKilledServer(t *testing.T) {
	optionsOf(t, shared)
	servers := shared.Take(t)
	c := connect(t, systemtest.OptionsOf(t, mqttSystem{}, servers, workload.AsyncAsync))
	topic, got := systemtest.Topic(t, c, "killed", 2), systemtest.NewInbox()
	first := systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	if err := first.Close(t.Context()); err != nil { // the messages stay in the queue
		t.Fatal(err)
	}
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	var acknowledged []string
	send := func(name string) error {
		m := systemtest.NewTestMessage(name)
		p.Send(&m.Message)
		err := m.Await(t)
		if err == nil {
			acknowledged = append(acknowledged, name)
		}
		return err
	}
	for i := range 100 {
		if err := send(fmt.Sprint("before-", i)); err != nil {
			t.Fatal(err)
		}
	}
	killed := time.Now()
	if err := servers.Kill(nodeName); err != nil {
		t.Fatal(err)
	}
	if err := send("amid"); err == nil {
		t.Error("a killed server took a message")
	}
	if err := servers.Restart(nodeName); err != nil {
		t.Fatal(err)
	}
	for time.Since(killed) < time.Minute {
		if err := send("after"); err == nil {
			break
		}
		time.Sleep(dialPause)
	}
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	got.AwaitAll(t, acknowledged...)
	t.Logf("%d messages, all received %s after the kill", len(acknowledged),
		time.Since(killed).Round(time.Millisecond))
	if _, err := c.Leader(t.Context(), topic, 1); err != nil {
		t.Error(err)
	}
}

// What was on its way to a consumer when the server was killed comes to nobody, and its queue wakes
// no idle consumer any more (HiveMQ CE 2025.5). If this test fails, HiveMQ has become better: then
// change doc.go.
func TestKilledServerForgetsWhatWasUnderWay(t *testing.T) {
	optionsOf(t, shared)
	servers := shared.Take(t)
	c := connect(t, systemtest.OptionsOf(t, mqttSystem{}, servers, workload.AsyncAsync))
	topic, got := systemtest.Topic(t, c, "under-way", 1), systemtest.NewInbox()
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	send := func(name string) {
		t.Helper()
		m := systemtest.NewTestMessage(name)
		err := driver.Retry(t.Context(), dialPause, func() error {
			p.Send(&m.Message)
			return m.Await(t)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	handling, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	first, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{Topic: topic,
		Subscription: "s", Delivery: workload.AtLeastOnce, Failed: func(error) {},
		Receive: func(system.Received) { close(handling); <-release }})
	if err != nil {
		t.Fatal(err)
	}
	send("under way")
	<-handling
	send("behind it")
	if err := servers.Kill(nodeName); err != nil {
		t.Fatal(err)
	}
	first.(*consumer).cut()
	if err := servers.Restart(nodeName); err != nil {
		t.Fatal(err)
	}
	send("afterwards")
	second := systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	got.AwaitAll(t, "behind it", "afterwards")
	time.Sleep(time.Second) // until the server has its acknowledgements
	send("to an idle consumer")
	time.Sleep(time.Second)
	if all := got.Contents(); len(all) != 2 {
		t.Errorf("received %q", all)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	got.AwaitAll(t, "to an idle consumer")
	if slices.Contains(got.Contents(), "under way") {
		t.Error("a message that was under way came again")
	}
}
