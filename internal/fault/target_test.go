package fault

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// nodes makes nodes from texts of the form name=address.
func nodes(all ...string) (n []system.Node) {
	for _, text := range all {
		name, address, _ := strings.Cut(text, "=")
		n = append(n, system.Node{Name: name, Address: address})
	}
	return n
}

var (
	five = nodes("n1=127.9.9.1:9092", "n2=127.9.9.2:9092", "n3=127.9.9.3:9092",
		"n4=127.9.9.4:9092", "n5=127.9.9.5:9092")
	shared = nodes("n1=127.0.0.1:1", "n2=127.0.0.1:2", "n3=127.0.0.1:3")
	pulsar = nodes("zookeeper=127.9.9.1:2181", "bookie-1=127.9.9.1:3181",
		"bookie-2=127.9.9.2:3181", "bookie-3=127.9.9.3:3181", "broker-1=127.9.9.1:6650",
		"broker-2=127.9.9.2:6650", "broker-3=127.9.9.3:6650")
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		nodes          []system.Node
		do             workload.FaultKind
		target, leader string
		want           string // names that are always hit
		count          int
	}{
		{five, "kill", "all", "", "n1 n2 n3 n4 n5", 5},
		{five, "kill", "one", "", "", 1},
		{five, "kill", "leader", "127.9.9.4:9092", "n4", 1},
		{five, "kill", "follower", "127.9.9.4:9092", "", 1},
		{five, "kill", "minority", "127.9.9.4:9092", "n4", 2},
		{five, "kill", "majority", "127.9.9.4:9092", "n4", 3},
		{five, "kill", "n2", "", "n2", 1},
		{shared, "kill", "minority", "127.0.0.1:2", "n2", 1},
		{shared, "partition", "n3", "", "n3", 1},
		// A machine includes all nodes that run on it.
		{pulsar, "kill", "leader", "127.9.9.2:6650", "bookie-2 broker-2", 2},
		{pulsar, "pause", "majority", "127.9.9.1:6650", "zookeeper bookie-1 broker-1", 5},
		{pulsar, "kill", "bookie-2", "", "bookie-2", 1},
		{pulsar, "power-cut", "bookie-2", "", "bookie-2 broker-2", 2},
		{pulsar, "cut-clients", "zookeeper", "", "zookeeper bookie-1 broker-1", 3},
	} {
		f := workload.Fault{Do: c.do, Target: workload.FaultTarget(c.target)}
		before := func(a, b system.Node) int {
			return slices.Index(c.nodes, a) - slices.Index(c.nodes, b)
		}
		ever := map[string]bool{}
		for seed := range uint64(50) {
			got, err := choose(c.nodes, f, c.leader, rand.New(rand.NewPCG(seed, 0)))
			if err != nil || len(got) != c.count {
				t.Fatalf("%s %s: %v, %v", c.do, c.target, namesOf(got), err)
			}
			for _, name := range strings.Fields(c.want) {
				if !slices.Contains(namesOf(got), name) {
					t.Errorf("%s %s: %v without %s", c.do, c.target, namesOf(got), name)
				}
			}
			if !slices.IsSortedFunc(got, before) {
				t.Errorf("%s %s: %v out of order", c.do, c.target, namesOf(got))
			}
			for _, n := range got {
				ever[n.Name] = true
				if c.target == "follower" && n.Address == c.leader {
					t.Errorf("the leader was taken for a follower")
				}
			}
			again, _ := choose(c.nodes, f, c.leader, rand.New(rand.NewPCG(seed, 0)))
			if !slices.Equal(got, again) {
				t.Errorf("%s %s: one seed gave %v and %v",
					c.do, c.target, namesOf(got), namesOf(again))
			}
		}
		drawn := c.count < len(c.nodes) && len(strings.Fields(c.want)) < c.count
		if drawn && len(ever) <= c.count {
			t.Errorf("%s %s: 50 seeds always gave %v", c.do, c.target, ever)
		}
	}
}

func TestChooseRefusesMissingTargets(t *testing.T) {
	for _, c := range []struct {
		nodes          []system.Node
		target, leader string
		want           string
	}{
		{five, "leader", "", `target "leader" needs the leader, which is not known: ` +
			`name a node, or use "one"`},
		{five, "minority", "127.9.9.9:9092", `needs the leader, which is not known`},
		{five, "n6", "", `there is no node "n6": the nodes are n1, n2, n3, n4, n5`},
		{five[:2], "minority", "127.9.9.1:9092", `a minority needs at least three nodes, not 2`},
		{five[:1], "follower", "127.9.9.1:9092", `one node has no follower`},
	} {
		f := workload.Fault{Do: "kill", Target: workload.FaultTarget(c.target)}
		_, err := choose(c.nodes, f, c.leader, rand.New(rand.NewPCG(1, 0)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.target, err, c.want)
		}
	}
}

func TestARollingRestartHitsTheWholeMachine(t *testing.T) {
	f := workload.Fault{Do: workload.FaultRollingRestart, Target: "zookeeper"}
	got, err := choose(pulsar, f, "", rand.New(rand.NewPCG(1, 0)))
	want := []string{"zookeeper", "bookie-1", "broker-1"}
	if err != nil || !slices.Equal(namesOf(got), want) {
		t.Errorf("%v: %v", namesOf(got), err)
	}
}
