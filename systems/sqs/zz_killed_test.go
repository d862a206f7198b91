package sqs

import (
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The test of this file breaks the shared server, so it runs last.

// A server that was killed comes back with its file, and clients wait for it. Messages that it had
// acknowledged and not written are lost, as level 4 allows.
func TestKilledServer(t *testing.T) {
	server(t)
	servers := shared.Take(t)
	c, node := connect(t, setVisibility, "2s"), servers.Members()[0]
	topic, got := systemtest.Topic(t, c, "killed", 2), systemtest.NewInbox()
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
	got.AwaitAll(t, "before")
	awaitWritten(t, node) // the queues too
	killed := time.Now()
	if err := servers.Kill(node.Name); err != nil {
		t.Fatal(err)
	}
	back := make(chan error, 1)
	go func() { back <- servers.Restart(node.Name) }()
	var acknowledged []string
	for i := 0; len(acknowledged) < 100 && time.Since(killed) < time.Minute; i++ {
		name := fmt.Sprint("during-", i)
		switch err := send(name); {
		case err == nil:
			acknowledged = append(acknowledged, name)
		case len(acknowledged) > 0:
			t.Errorf("message %d: %v", i, err)
		default: // the server was ending, or had not loaded its queues yet
			time.Sleep(50 * time.Millisecond)
		}
	}
	if len(acknowledged) == 0 {
		t.Fatal("nothing was acknowledged after the restart")
	}
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, acknowledged...)
	t.Logf("%d of 100 acknowledged, all received %s after the kill", len(acknowledged),
		time.Since(killed).Round(time.Millisecond))
}
