package redis

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	systemtest.Checks(t, redisSystem{}, []systemtest.Checked{
		{Level: workload.SyncSync, Nodes: 3},
		{Level: workload.AsyncAsync, Nodes: 5, Given: []string{setReplication, "5"}},
		{Level: workload.SyncAsync},
		{Level: 5, Nodes: 3, Says: []string{"the levels are 1 to 4"}},
		{Level: workload.SyncAsync, Nodes: 1,
			Says: []string{"the testbed has 1 node, and durability level 2 needs 3 copies"}},
		{Level: workload.SyncAsync, Nodes: 2, Given: []string{setReplication, "2"},
			Says: []string{"is 2, and durability level 2 needs 3 copies or more"}},
		{Level: workload.SyncAsync, Nodes: 4,
			Says: []string{"asks for 3 servers, one of them the primary"}},
		{Level: workload.AsyncSync, Nodes: 1},
		{Level: workload.AsyncAsync, Nodes: 1, Given: []string{setReplication, "1"}},
		{Level: workload.AsyncAsync, Nodes: 2},
		{Level: workload.AsyncAsync, Given: []string{setReplication, "10"},
			Says: []string{"from 1 to 9"}},
		{Level: workload.SyncAsync, Given: []string{setMaxMemory, "2GB"},
			Says: []string{"these run already"}},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{
			setLinger, "2m", setPipeline, "0", setBlock, "0s", setMaxMemory, "1MB",
		}, Says: []string{"from 0s to 1m", "from 1 to 1M", "from 1ms to 1h", "at least 64MB"}},
	})
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, redisSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "NOACK"},
		{Delivery: workload.AtLeastOnce, After: 31 * time.Second, Why: "claim_after (30s)"},
		{Delivery: workload.AtLeastOnce, Given: []string{setClaimAfter, "200ms"},
			After: 400 * time.Millisecond, Why: "claim_after (200ms)"},
	})
}

func TestChoosePrimary(t *testing.T) {
	primary := func(run string) info { return info{"role": "master", "run_id": run} }
	replica := info{"role": "slave", "master_host": "h", "master_port": "1"}
	away := errors.New("nothing listens")
	for _, c := range []struct {
		found []info
		errs  []error
		want  string // the primary, or a part of the error
	}{
		{[]info{nil, replica, primary("x")}, []error{away, nil, nil}, "c"},
		{[]info{primary("x"), primary("x")}, []error{nil, nil}, "b"}, // one under two names
		{[]info{primary("x"), primary("y")}, []error{nil, nil}, "a and b are primaries"},
		{[]info{nil, replica}, []error{away, nil}, "b is a read-only replica of h:1"},
		{[]info{nil, nil}, []error{away, errors.New("later")}, "nothing listens"},
		{[]info{{"role": "master", "cluster_enabled": "1"}}, []error{nil},
			"a is a node of Redis Cluster"},
	} {
		got, err := choosePrimary([]string{"a", "b", "c"}[:len(c.found)], c.found, c.errs)
		if got != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %q, %v", c, got, err)
		}
	}
}

func TestReplicas(t *testing.T) {
	all, online := info{
		"slave0": "ip=127.0.0.2,port=6379,state=online,offset=1,lag=0",
		"slave1": "ip=::1,port=6380,state=wait_bgsave,offset=0,lag=0",
	}.replicas()
	if strings.Join(all, " ") != "127.0.0.2:6379 [::1]:6380" || online != 1 {
		t.Errorf("%v, %d online", all, online)
	}
}
