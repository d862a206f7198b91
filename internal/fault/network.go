package fault

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/system"
)

// partition keeps the chosen from all others, and the others from them. Where
// all are chosen each machine is on its own.
func (i *Injector) partition(chosen []system.Node) error {
	nodes := i.bed.Cluster().Nodes()
	var rest machine
	for _, n := range nodes {
		if !machine(chosen).has(n.Address) {
			rest = append(rest, n)
		}
	}
	sides := []machine{chosen, rest}
	if len(rest) == 0 {
		sides = machines(nodes)
	}
	if len(sides) < 2 {
		return errors.New("one node has no others to be cut off from: start more nodes")
	}
	var members [][]firewall.Member
	for _, side := range sides {
		all, err := i.members(side)
		if err != nil {
			return err
		}
		members = append(members, all)
	}
	return i.raise(func(table string) error { return firewall.Separate(table, members) })
}

// cutClients lets only nodes reach the chosen.
func (i *Injector) cutClients(chosen []system.Node) error {
	inside, err := i.members(chosen)
	if err != nil {
		return err
	}
	var groups []int
	for _, n := range i.bed.Cluster().Nodes() {
		groups = append(groups, i.bed.Group(n.Name))
	}
	return i.raise(func(table string) error { return firewall.Enclose(table, inside, groups) })
}

// raise sets up the testbed's firewall.
func (i *Injector) raise(set func(table string) error) error {
	table, err := i.bed.Firewall()
	if err != nil {
		return err
	}
	i.undo = append(i.undo, func(context.Context) error { return firewall.Remove(table) })
	return set(table)
}

// members are nodes as the firewall knows them.
func (i *Injector) members(nodes []system.Node) ([]firewall.Member, error) {
	var all []firewall.Member
	for _, n := range nodes {
		at, err := netip.ParseAddrPort(n.Address)
		if err != nil || !at.Addr().Is4() || at.Addr() == netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
			return nil, fmt.Errorf("%s listens on %s and not on an IPv4 address of its own, so it cannot be told from the others", n.Name, n.Address)
		}
		all = append(all, firewall.Member{Group: i.bed.Group(n.Name), Hosts: []netip.Addr{at.Addr()}})
	}
	return all, nil
}
