package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	systemtest.Checks(t, postgresSystem{}, []systemtest.Checked{
		{Level: workload.SyncSync, Nodes: 3},
		{Level: workload.AsyncAsync, Nodes: 5, Given: []string{setReplication, "5"}},
		{Level: workload.SyncAsync},
		{Level: 5, Nodes: 3, Says: []string{"the levels are 1 to 4"}},
		{Level: workload.SyncAsync, Nodes: 1,
			Says: []string{"the testbed has 1 node, and durability level 2 needs 3 copies"}},
		{Level: workload.AsyncSync, Nodes: 1},
		{Level: workload.SyncAsync, Nodes: 2, Given: []string{setReplication, "2"},
			Says: []string{"is 2, and durability level 2 needs 3 copies or more"}},
		{Level: workload.SyncAsync, Given: []string{setBuffers, "1GB"},
			Says: []string{"these run already"}},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{
			setLinger, "2m", setBatch, "0", setPoll, "0s", setBuffers, "1MB", setConnections, "3",
			setDatabase, "",
		}, Says: []string{"from 0s to 1m", "from 1 to 1M", "from 1ms to 1h", "at least 16MB",
			"from 100 to 10k", "names no database"}},
	})
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
