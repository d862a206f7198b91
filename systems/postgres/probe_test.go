package postgres

import (
	"maps"
	"testing"

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
			wrong, err := probe.Differ(t.Context(),
				probe.Subject{Name: "postgres", System: New(), Options: options}, want)
			if err != nil || len(wrong) > 0 {
				t.Errorf("%q, %v", wrong, err)
			}
		})
	}
	left, err := connect(t, optionsOf(t, workload.SyncAsync)).ask(t.Context(),
		"SELECT relname FROM pg_stat_user_tables WHERE relname LIKE 'plimsoll-probe%'")
	if err != nil || len(left) > 0 {
		t.Errorf("these are left: %v, %v", left, err)
	}
}
