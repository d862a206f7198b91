package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Handled messages of a queue are dead rows until VACUUM removes them.
func TestGaugesShowDeadRows(t *testing.T) {
	c := connect(t, optionsOf(t, workload.SyncAsync))
	topic, got := systemtest.Topic(t, c, "gauged", 1), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	systemtest.Acks(t, systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce))
	got.Await(t, 9)
	var names map[string]float64
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := driver.Until(ctx, 50*time.Millisecond, func() (bool, error) {
		all, err := c.ReadGauges(t.Context(), []system.Topic{topic})
		names = map[string]float64{}
		for _, g := range all {
			names[g.Name] = g.Value
		}
		return err == nil && names["dead rows"] < 9, err
	})
	if err != nil || names["tables and indexes"] < 8192 {
		t.Errorf("%v, %v", names, err)
	}
	if _, known := names["since the last autovacuum"]; known {
		t.Errorf("an autovacuum that has not happened has a time: %v", names)
	}
}
