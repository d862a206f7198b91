package mongodb

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// This test breaks the shared server, so it runs last. When a server is killed during a batch, the
// batch's outcome is unknown; messages sent while the server is down wait for it. At level 4
// messages acknowledged just before may be lost, because mongo-java-server writes its file once a
// second, so the test awaits only later messages.
func TestKilledServer(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	c := connect(t, systemtest.OptionsOf(t, mongoSystem{}, servers, workload.AsyncAsync))
	topic, got := systemtest.Topic(t, c, "killed", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	send := func(name string) error {
		m := systemtest.NewTestMessage(name)
		p.Send(&m.Message)
		return m.Await(t)
	}
	for i := range 20 {
		if err := send(fmt.Sprint("before-", i)); err != nil {
			t.Fatal(err)
		}
	}
	got.Await(t, 20)
	awaitOnDisk(t, servers.Members()[0].Path(dataFolder, "h2.mv"))
	name := servers.Nodes()[0].Name
	if err := servers.Kill(name); err != nil {
		t.Fatal(err)
	}
	back := make(chan error, 1)
	go func() { back <- servers.Restart(name) }()
	var acked []string
	killed := time.Now()
	for i := range 20 {
		content := fmt.Sprint("during-", i)
		switch err := send(content); {
		case err == nil:
			acked = append(acked, content)
		case !errors.Is(err, system.ErrUnknown):
			t.Errorf("message %d: %v", i, err)
		default:
			t.Logf("message %d: %v", i, err)
		}
	}
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	if len(acked) < 15 {
		t.Errorf("only %d of 20 messages were acknowledged", len(acked))
	}
	got.AwaitAll(t, acked...)
	t.Logf("after the kill all was received in %s", time.Since(killed))
}

// awaitOnDisk waits until the server has written its file.
func awaitOnDisk(t *testing.T, path string) {
	t.Helper()
	began := time.Now()
	err := driver.Until(t.Context(), 20*time.Millisecond, func() (bool, error) {
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		return info.ModTime().Before(began) && time.Since(began) < 10*time.Second, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
