package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// machine is the group of nodes that share a host.
type machine []system.Node

func (m machine) has(address string) bool {
	return slices.ContainsFunc(m, func(n system.Node) bool { return n.Address == address })
}

// machines groups the nodes by host, in the order of their first nodes.
func machines(nodes []system.Node) []machine {
	var all []machine
	at := map[string]int{}
	for _, n := range nodes {
		host, _, err := net.SplitHostPort(n.Address)
		if err != nil || host == "127.0.0.1" || host == "localhost" {
			host = n.Name // all nodes share this host, so each counts as a machine
		}
		if _, known := at[host]; !known {
			at[host] = len(all)
			all = append(all, nil)
		}
		all[at[host]] = append(all[at[host]], n)
	}
	return all
}

// Machines implements system.Roller.
func (i *Injector) Machines() []string {
	var names []string
	for _, m := range machines(i.bed.Cluster().Nodes()) {
		names = append(names, m[0].Name)
	}
	return names
}

// hitsMachine reports whether a fault hits all nodes of a machine.
func hitsMachine(do workload.FaultKind) bool {
	switch do {
	case workload.FaultPartition, workload.FaultCutClients, workload.FaultPowerCut,
		workload.FaultRollingRestart:
		return true
	}
	return false
}

// choose returns the nodes that a fault hits, in the order of nodes. leader is the address
// of the leading node, or "" when it is not known.
func choose(
	nodes []system.Node, f workload.Fault, leader string, draw *rand.Rand,
) ([]system.Node, error) {
	all := machines(nodes)
	i := slices.IndexFunc(nodes, func(n system.Node) bool { return n.Name == string(f.Target) })
	if i >= 0 {
		if !hitsMachine(f.Do) {
			return nodes[i : i+1], nil
		}
		at := slices.IndexFunc(all, func(m machine) bool { return m.has(nodes[i].Address) })
		return all[at], nil
	}
	var leads []int // at most one
	for i, m := range all {
		if leader != "" && m.has(leader) {
			leads = append(leads, i)
		}
	}
	switch f.Target {
	case workload.TargetLeader, workload.TargetFollower,
		workload.TargetMinority, workload.TargetMajority:
		if len(leads) == 0 {
			return nil, fmt.Errorf(
				"target %q needs the leader, which is not known: name a node, or use %q",
				f.Target, workload.TargetOne)
		}
	}
	picked, err := pick(f.Target, len(all), leads, draw)
	if err != nil {
		return nil, err
	}
	var chosen []system.Node
	for _, n := range nodes {
		if slices.ContainsFunc(picked, func(i int) bool { return all[i].has(n.Address) }) {
			chosen = append(chosen, n)
		}
	}
	if len(chosen) == 0 {
		return nil, unknownNode(f.Target, nodes)
	}
	return chosen, nil
}

// pick returns the indexes of the target among n machines. leads holds the index of the
// leading machine, or nothing.
func pick(target workload.FaultTarget, n int, leads []int, draw *rand.Rand) ([]int, error) {
	order := draw.Perm(n)
	follows := slices.DeleteFunc(slices.Clone(order), func(i int) bool {
		return slices.Contains(leads, i)
	})
	first := append(slices.Clone(leads), follows...)
	switch target {
	case workload.TargetAll:
		return first, nil
	case workload.TargetOne:
		return order[:1], nil
	case workload.TargetLeader:
		return first[:1], nil
	case workload.TargetFollower:
		if n < 2 {
			return nil, errors.New("one node has no follower: start more nodes")
		}
		return first[1:2], nil
	case workload.TargetMinority:
		if n < 3 {
			return nil, fmt.Errorf("a minority needs at least three nodes, not %d: start more", n)
		}
		return first[:(n-1)/2], nil
	case workload.TargetMajority:
		return first[:n/2+1], nil
	}
	return nil, nil
}

func unknownNode(target workload.FaultTarget, nodes []system.Node) error {
	return fmt.Errorf("there is no node %q: the nodes are %s", target,
		strings.Join(namesOf(nodes), ", "))
}
