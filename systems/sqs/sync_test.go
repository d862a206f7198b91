package sqs

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The acknowledgement comes from the server: while it is paused there is none.
func TestAcknowledgementWaitsForTheServer(t *testing.T) {
	c, pid := connect(t, setRequest, "300ms"), server(t).Nodes()[0].PID
	topic := systemtest.Topic(t, c, "waits", 1)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	resume := systemtest.Pause(t, pid)
	m := systemtest.NewTestMessage("while it is paused")
	p.Send(&m.Message)
	if err := m.Await(t); !errors.Is(err, system.ErrUnknown) {
		t.Errorf("while the server is paused: %v", err)
	}
	resume()
	systemtest.Acks(t, p)
}

// ElasticMQ syncs no message, not even when its database writes to its file. Now and then the
// database syncs before it shortens the file.
func TestServerSyncsNoMessage(t *testing.T) {
	systemtest.NeedDelays(t)
	c, node := connect(t), server(t).Members()[0]
	topic := systemtest.Topic(t, c, "never", 1)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	const writes = 5
	calls := systemtest.Syncs(t, node.PID(), func() {
		for range writes {
			for range 10 {
				systemtest.Ack(t, p)
			}
			awaitWritten(t, node)
		}
	})
	if n := strings.Count(calls, "sync("); n > writes/2 {
		t.Errorf("%d syncs in %d writes: %s", n, writes, calls)
	}
}

// awaitWritten waits until the database has written all messages so far to its file.
func awaitWritten(t *testing.T, node *driver.Node) {
	t.Helper()
	const ahead = 50 * time.Millisecond // for a write that began before
	began := time.Now().Add(ahead)
	err := driver.Until(t.Context(), ahead, func() (bool, error) {
		info, err := os.Stat(node.Path("messages.mv.db"))
		return err == nil && info.ModTime().Before(began), err
	})
	if err != nil {
		t.Fatal(err)
	}
}
