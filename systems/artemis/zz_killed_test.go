package artemis

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The test of this file breaks the shared cluster, so it runs last.

// A backup takes the place of a primary that is killed, with all that was acknowledged, and
// clients follow. When the primary comes back, it copies the backup and is the primary again.
func TestKilledPrimary(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	o := systemtest.OptionsOf(t, artemisSystem{}, servers, workload.SyncAsync)
	c := connect(t, o)
	topic, got := systemtest.Topic(t, c, "killed", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	var acked []string
	send := func(name string) error {
		l := systemtest.NewTestMessage(name)
		p.Send(&l.Message)
		err := l.Await(t)
		if err == nil {
			acked = append(acked, name)
		}
		return err
	}
	for i := range 100 {
		if err := send(fmt.Sprint("before-", i)); err != nil {
			t.Fatal(err)
		}
	}
	killed := time.Now()
	if err := servers.Kill("n1"); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		err := send(fmt.Sprint("during-", i))
		if err != nil && (i > 0 || !errors.Is(err, system.ErrUnknown)) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	t.Logf("the backup took over within %s", time.Since(killed))
	if at, err := c.Leader(t.Context(), topic, 0); err != nil || at != o.Endpoints[1] {
		t.Errorf("the active server is %s, %v", at, err)
	}
	back := time.Now()
	if err := servers.Restart("n1"); err != nil {
		t.Fatal(err)
	}
	err := driver.Until(t.Context(), 100*time.Millisecond, func() (bool, error) {
		_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
		at := ""
		if err == nil {
			at, err = c.Leader(t.Context(), topic, 0)
		}
		again := (err != nil || at != o.Endpoints[0]) && time.Since(back) < time.Minute
		return again, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the primary was back and had its backup within %s", time.Since(back))
	if err := send("after"); err != nil && !errors.Is(err, system.ErrUnknown) {
		t.Error(err)
	}
	got.AwaitAll(t, acked...)
}
