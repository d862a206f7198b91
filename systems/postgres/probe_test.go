package postgres

import (
	"maps"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The probes find the capabilities that PostgreSQL is known to have.
func TestProbes(t *testing.T) {
	both := map[string]probe.Answer{
		"time decoupling": probe.Yes, "at most once": probe.Yes, "at least once": probe.Yes,
		"redelivery":      probe.Yes,
		"routing: fanout": probe.Yes,
	}
	for shape, own := range map[string]map[string]probe.Answer{
		shapeQueue: {"competing consumers": probe.Yes, "replay": probe.No},
		shapeLog:   {"replay": probe.Conditional},
	} {
		t.Run(shape, func(t *testing.T) {
			// Not in parallel: a slow consumer of a queue holds back all logs.
			options := optionsOf(t, workload.SyncAsync, setShape, shape)
			want := maps.Clone(both)
			maps.Copy(want, own)
			var rows []string
			for name := range want {
				rows = append(rows, name)
			}
			began := time.Now()
			subject := probe.Subject{Name: "postgres", System: New(), Options: options, Rows: rows}
			column, err := probe.On(t.Context(), subject, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range column.Differences(want) {
				t.Error(wrong)
			}
			t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
		})
	}
	left, err := connect(t, optionsOf(t, workload.SyncAsync)).ask(t.Context(),
		"SELECT relname FROM pg_stat_user_tables WHERE relname LIKE 'plimsoll-probe%'")
	if err != nil || len(left) > 0 {
		t.Errorf("these are left: %v, %v", left, err)
	}
}
