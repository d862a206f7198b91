package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		level    workload.Level
		nodes    int
		settings []string
		want     []string
	}{
		{level: workload.SyncSync, nodes: 3},
		{level: workload.AsyncAsync, nodes: 5, settings: []string{setReplication, "5"}},
		{level: workload.SyncAsync},
		{level: 5, nodes: 3, want: []string{"the levels are 1 to 4"}},
		{level: workload.SyncAsync, nodes: 1,
			want: []string{"the testbed has 1 node, and durability level 2 needs 3 copies"}},
		{level: workload.AsyncSync, nodes: 1},
		{level: workload.SyncAsync, nodes: 2, settings: []string{setReplication, "2"},
			want: []string{"is 2, and durability level 2 needs 3 copies or more"}},
		{level: workload.SyncAsync, settings: []string{setBuffers, "1GB"},
			want: []string{"these run already"}},
		{level: workload.SyncAsync, nodes: 3, settings: []string{
			setLinger, "2m", setBatch, "0", setPoll, "0s", setBuffers, "1MB", setConnections, "3",
			setDatabase, "",
		}, want: []string{"from 0s to 1m", "from 1 to 1M", "from 1ms to 1h", "at least 16MB",
			"from 100 to 10k", "names no database"}},
	} {
		err := postgresSystem{}.Check(system.Check{
			Settings:   systemtest.Settings(t, postgresSystem{}, c.settings...),
			Durability: c.level, Nodes: c.nodes,
		})
		if len(c.want) == 0 && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %q", c, err, part)
			}
		}
	}
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, postgresSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "before they are handled"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no time-out ends"},
		{Delivery: workload.AtLeastOnce, Given: []string{setShape, shapeLog}, Never: true,
			Why: "consumer's connection"},
	})
}

func TestAwaited(t *testing.T) {
	for names, want := range map[string]int{
		"": 0, " ": 0, "*": 1, "a, b": 1, "2 (a, b, c)": 2, "FIRST 1 (a)": 1, "any 2 (a,b,c)": 2,
		"ANY 3 (*)": 3,
	} {
		if got := awaited(names); got != want {
			t.Errorf("%q waits for %d, want %d", names, got, want)
		}
	}
}

func TestChoosePrimary(t *testing.T) {
	primary := func(identity string) server { return server{identity: identity} }
	standby := func(identity string) server {
		return server{identity: identity, standby: true, follows: "h:1"}
	}
	away := errors.New("nothing listens")
	for _, c := range []struct {
		found []server
		errs  []error
		want  string // the primary, or a part of the error
	}{
		{[]server{{}, standby("x"), primary("x")}, []error{away, nil, nil}, "c"},
		{[]server{primary("x"), primary("y")}, []error{nil, nil}, "a and b are both primaries"},
		{[]server{primary("x"), standby("y")}, []error{nil, nil}, "b is a standby of another"},
		{[]server{{}, standby("x")}, []error{away, nil}, "b is a read-only standby of h:1"},
		{[]server{{}, {}}, []error{away, errors.New("later")}, "nothing listens"},
	} {
		var of cluster
		for i := range c.found {
			c.found[i].address = string(rune('a' + i))
		}
		err := of.choosePrimary(c.found, c.errs)
		if err == nil && of.primary != c.want ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %q, %v", c.found, of.primary, err)
		}
	}
}
