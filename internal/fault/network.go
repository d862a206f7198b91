package fault

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/system"
)

// partition cuts the chosen nodes off from the others, and the others from them. When all
// nodes are chosen, it separates all machines from one another.
func (i *Injector) partition(chosen []system.Node) error {
	members, err := i.sides(chosen)
	if err != nil {
		return err
	}
	return i.raise(func(table string) error { return firewall.Separate(table, members) })
}

// sides returns the parts into which a partition divides the nodes.
func (i *Injector) sides(chosen []system.Node) ([][]firewall.Member, error) {
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
		return nil, ErrAlone
	}
	var members [][]firewall.Member
	for _, side := range sides {
		all, err := i.members(side)
		if err != nil {
			return nil, err
		}
		members = append(members, all)
	}
	return members, nil
}

// cutClients lets only the cluster's nodes reach the chosen nodes.
func (i *Injector) cutClients(chosen []system.Node) error {
	inside, err := i.members(chosen)
	if err != nil {
		return err
	}
	var groups []int
	for _, n := range i.bed.Cluster().Nodes() {
		groups = append(groups, i.bed.Group(n.Name))
	}
	return i.raise(func(table string) error {
		return firewall.Enclose(table, inside, groups)
	})
}

// raise sets up the testbed's firewall, and registers its removal first.
func (i *Injector) raise(set func(table string) error) error {
	table, err := i.bed.Firewall()
	if err != nil {
		return err
	}
	i.undo = append(i.undo, func(context.Context) error { return firewall.Remove(table) })
	return set(table)
}

// members translates nodes for the firewall.
func (i *Injector) members(nodes []system.Node) ([]firewall.Member, error) {
	var all []firewall.Member
	for _, n := range nodes {
		at, err := netip.ParseAddrPort(n.Address)
		shared := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		if err != nil || !at.Addr().Is4() || at.Addr() == shared {
			return nil, fmt.Errorf("%s listens on %s, which is not an IPv4 address of its own: "+
				"a firewall cannot tell its packets from those of other nodes: use another fault",
				n.Name, n.Address)
		}
		all = append(all, firewall.Member{
			Group: i.bed.Group(n.Name), Hosts: []netip.Addr{at.Addr()},
		})
	}
	return all, nil
}
