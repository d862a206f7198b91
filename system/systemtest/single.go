package systemtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// SingleCopy starts a cluster of one node at a level that needs no copies, with settings in turn
// with their values. The node must carry messages and report one copy of each. At the level with a
// majority it must be refused, with what was found (a server, a number of replicas) and what is
// needed, before and after it is started.
func SingleCopy(
	t *testing.T, s system.System, level workload.Level, found string, settings ...string,
) {
	t.Helper()
	servers := provision[system.Provisioned](t, s, level, 1, settings...)
	c := Connect[system.Cluster](t, s, OptionsOf(t, s, servers, level, settings...))
	topic := SendAndReceive(t, c, "single")
	evidence, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil {
		t.Fatal(err)
	}
	if evidence.Copies != 1 || evidence.Level != level {
		t.Errorf("the durability is %+v", evidence)
	}
	majority := level - workload.AsyncSync + workload.SyncSync
	needed := []string{fmt.Sprintf("durability level %d ", majority),
		"ask for --durability 3 or 4"}
	refused := OptionsOf(t, s, servers, majority, settings...)
	began := time.Now()
	other, err := s.Connect(t.Context(), refused)
	if err == nil {
		topic := system.Topic{Name: "majority", Partitions: 1}
		if err = other.CreateTopic(t.Context(), topic); err == nil {
			_, err = other.ReadDurability(t.Context(),
				[]system.Topic{topic})
		}
		closeCluster(t, other)
	}
	Refused(t, began, err, slices.Concat(needed, []string{found})...)
	err = s.Check(system.Check{Settings: Settings(t, s, settings...),
		Durability: majority, Delivery: workload.AtLeastOnce, Nodes: 1})
	Refused(t, time.Now(), err, slices.Concat(needed, []string{"the testbed has 1 "})...)
	copies := s.Describe().Copies
	if len(copies) == 0 {
		return
	}
	asked := slices.Concat(settings, []string{copies[0], "3"})
	err = s.Check(system.Check{Settings: Settings(t, s, asked...),
		Durability: level, Delivery: workload.AtLeastOnce, Nodes: 1})
	if err == nil || !strings.Contains(err.Error(), "asks for 3 copies") {
		t.Errorf("3 copies on one node: %v", err)
	}
}
