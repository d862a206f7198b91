package rocketmq

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file break the shared cluster, so they run last.

// Killing the master's process loses no acknowledged message: it returns as the master, with its
// data, clients wait for it, and its slaves follow it again.
func TestKilledMaster(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	c := connect(t, systemtest.OptionsOf(t, rocketSystem{}, servers, workload.SyncAsync))
	topic, got := systemtest.Topic(t, c, "killed", 2), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	at, err := c.Leader(t.Context(), topic, 0)
	master := servers.Members()[0]
	if err != nil || at != master.Address {
		t.Errorf("the leader is %s, %v", at, err)
	}
	var killed time.Time
	back := make(chan error, 1)
	acked := systemtest.SendAmidKill(t, p, func() {
		killed = time.Now()
		if err := servers.Kill(master.Name); err != nil {
			t.Fatal(err)
		}
		go func() { back <- servers.Restart(master.Name) }()
	})
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	sent := time.Since(killed)
	got.AwaitAll(t, acked...)
	received := time.Since(killed)
	err = driver.Until(t.Context(), 50*time.Millisecond, func() (bool, error) {
		_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
		return err != nil && t.Context().Err() == nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("after the kill all was sent in %s, received in %s, and replicated in %s; %d of %d "+
		"messages arrived again", sent, received, time.Since(killed),
		len(got.Contents())-len(acked), len(acked))
}
