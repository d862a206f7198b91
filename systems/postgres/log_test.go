package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// logOf opens a log of a topic's subscription that no goroutine reads.
func logOf(t *testing.T, c *cluster, topic system.Topic) *log {
	t.Helper()
	table, err := c.open(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	link := c.link(nil)
	t.Cleanup(link.drop)
	g, err := c.newLog(t.Context(), table, system.ConsumerOptions{Topic: topic,
		Subscription: "s"}, link, &batch{})
	if err != nil {
		t.Fatal(err)
	}
	link.statements = g.statements()
	if err := link.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// The server reads no row of a partition for a consumer that does not hold it.
func TestNoRowsOfAPartitionThatIsNotHeld(t *testing.T) {
	c := connect(t, optionsOf(t, workload.SyncAsync, setShape, shapeLog))
	topic := systemtest.Topic(t, c, "held", 1)
	first, second := logOf(t, c, topic), logOf(t, c, topic)
	systemtest.Acks(t, systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce))
	take := func(g *log) int {
		t.Helper()
		if _, err := g.take(); err != nil {
			t.Fatal(err)
		}
		return len(g.batch.all)
	}
	// EXPLAIN plans the statement as in the consumer's session.
	executed := func(g *log) string {
		t.Helper()
		rows, err := g.link.ask(t.Context(), "EXPLAIN (ANALYZE, TIMING off) "+
			g.statements()[stTake], "s", "0", "5")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(rows)
	}
	if n := take(first); n == 0 {
		t.Fatal("the first consumer got nothing")
	}
	if n := take(second); n != 0 {
		t.Errorf("the second consumer got %d messages of a partition that the first one holds", n)
	}
	if plan := executed(second); !strings.Contains(plan, "never executed") {
		t.Errorf("rows were read for the second consumer: %s", plan)
	}
	if plan := executed(first); strings.Contains(plan, "never executed") {
		t.Errorf("no rows were read for the first consumer: %s", plan)
	}
	// It gets them if they were not acknowledged and the partition is free.
	if err := first.rest(); err != nil {
		t.Fatal(err)
	}
	if n := take(second); n == 0 {
		t.Error("the second consumer got nothing of a partition that is free")
	}
}
