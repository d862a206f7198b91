package firewall

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// elementsAtOnce keeps a message to the kernel within its bound of 64 KB.
const elementsAtOnce = 500

// Separate keeps those of each side from reaching those of any other; clients
// reach all. It replaces what the table held.
func Separate(table string, sides [][]Member) error {
	var groups []int
	for _, side := range sides {
		groups = append(groups, groupsOf(side)...)
	}
	return put(table, apart(sides), groups, func(all []connection) []flow { return across(sides, all) })
}

// Enclose lets nobody reach the members but those of the groups, which are
// theirs and those of other servers. It replaces what the table held.
func Enclose(table string, members []Member, groups []int) error {
	return put(table, []block{{groups: groups, others: true, to: hostsOf(members)}}, groups,
		func(all []connection) []flow { return outside(members, groups, all) })
}

// put makes a table of the blocks, and then adds what they leave of the
// connections that there are: looked for after new ones have become impossible.
func put(table string, blocks []block, groups []int, left func([]connection) []flow) error {
	if err := Remove(table); err != nil {
		return err
	}
	err := func() error {
		flows, err := addBlocks(table, blocks)
		if err != nil {
			return err
		}
		all, err := connections(groups)
		if err != nil {
			return err
		}
		return flows.add(left(all))
	}()
	if err != nil {
		return errors.Join(fmt.Errorf("setting up firewall table %s: %w", table, err), Remove(table))
	}
	return nil
}

// flowSet is the part of a table that holds single connections.
type flowSet struct {
	nft *nftables.Conn
	set *nftables.Set
}

func (f flowSet) add(flows []flow) error {
	for len(flows) > 0 {
		n := min(len(flows), elementsAtOnce)
		var elements []nftables.SetElement
		for _, f := range flows[:n] {
			elements = append(elements, nftables.SetElement{Key: append(endKey(f.from), endKey(f.to)...)})
		}
		if err := f.nft.SetAddElements(f.set, elements); err != nil {
			return err
		}
		if err := f.nft.Flush(); err != nil {
			return err
		}
		flows = flows[n:]
	}
	return nil
}

// endKey is an address and a port as the kernel compares them: in pieces of four bytes.
func endKey(a netip.AddrPort) []byte {
	ip := a.Addr().As4()
	return append(ip[:], byte(a.Port()>>8), byte(a.Port()), 0, 0)
}

// addBlocks makes the table in one step.
func addBlocks(name string, blocks []block) (flowSet, error) {
	nft, err := nftables.New()
	if err != nil {
		return flowSet{}, err
	}
	table := nft.AddTable(&nftables.Table{Name: name, Family: nftables.TableFamilyIPv4})
	accept := nftables.ChainPolicyAccept
	// As they are sent: later the kernel does not know any more by whom.
	chain := nft.AddChain(&nftables.Chain{
		Name: "sent", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookOutput,
		Priority: nftables.ChainPriorityFilter, Policy: &accept,
	})
	for _, b := range blocks {
		rule, err := b.expressions(nft, table)
		if err != nil {
			return flowSet{}, err
		}
		nft.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: rule})
	}
	end := []nftables.SetDatatype{nftables.TypeIPAddr, nftables.TypeInetService}
	key, err := nftables.ConcatSetType(append(end, end...)...)
	if err != nil {
		return flowSet{}, err
	}
	flows := &nftables.Set{Table: table, Name: "flows", KeyType: key, Concatenation: true}
	if err := nft.AddSet(flows, nil); err != nil {
		return flowSet{}, err
	}
	nft.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: flowExpressions(flows)})
	return flowSet{nft, flows}, nft.Flush()
}

// Where IPv4 has its addresses and TCP its ports, and the first of the kernel's
// registers of four bytes.
const (
	ipSource, ipTarget, ipLength       = 12, 16, 4
	portSource, portTarget, portLength = 0, 2, 2
	firstRegister                      = unix.NFT_REG32_00
)

func (b block) expressions(nft *nftables.Conn, table *nftables.Table) ([]expr.Any, error) {
	var groups, hosts []nftables.SetElement
	for _, g := range b.groups {
		groups = append(groups, nftables.SetElement{Key: binaryutil.NativeEndian.PutUint32(uint32(g))})
	}
	for _, h := range b.to {
		ip := h.As4()
		hosts = append(hosts, nftables.SetElement{Key: ip[:]})
	}
	from := &nftables.Set{Table: table, Anonymous: true, Constant: true, KeyType: nftables.TypeGID}
	to := &nftables.Set{Table: table, Anonymous: true, Constant: true, KeyType: nftables.TypeIPAddr}
	if err := errors.Join(nft.AddSet(from, groups), nft.AddSet(to, hosts)); err != nil {
		return nil, err
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeySKGID, Register: firstRegister},
		&expr.Lookup{SourceRegister: firstRegister, SetID: from.ID, SetName: from.Name, Invert: b.others},
		&expr.Payload{DestRegister: firstRegister, Base: expr.PayloadBaseNetworkHeader, Offset: ipTarget, Len: ipLength},
		&expr.Lookup{SourceRegister: firstRegister, SetID: to.ID, SetName: to.Name},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}, nil
}

func flowExpressions(flows *nftables.Set) []expr.Any {
	network, transport := expr.PayloadBaseNetworkHeader, expr.PayloadBaseTransportHeader
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: firstRegister},
		&expr.Cmp{Op: expr.CmpOpEq, Register: firstRegister, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: firstRegister, Base: network, Offset: ipSource, Len: ipLength},
		&expr.Payload{DestRegister: firstRegister + 1, Base: transport, Offset: portSource, Len: portLength},
		&expr.Payload{DestRegister: firstRegister + 2, Base: network, Offset: ipTarget, Len: ipLength},
		&expr.Payload{DestRegister: firstRegister + 3, Base: transport, Offset: portTarget, Len: portLength},
		&expr.Lookup{SourceRegister: firstRegister, SetID: flows.ID, SetName: flows.Name},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

// Remove removes a table, if it is there.
func Remove(table string) error {
	nft, err := nftables.New()
	if err != nil {
		return fmt.Errorf("removing firewall table %s: %w", table, err)
	}
	there, err := nft.ListTablesOfFamily(nftables.TableFamilyIPv4)
	if err != nil {
		return fmt.Errorf("looking for firewall table %s: %w", table, err)
	}
	for _, t := range there {
		if t.Name != table {
			continue
		}
		nft.DelTable(t)
		if err := nft.Flush(); err != nil {
			return fmt.Errorf("removing firewall table %s: %w", table, err)
		}
	}
	return nil
}

// Check says in a sentence why no table can be made here, or nothing: it makes
// one and removes it.
func Check() error {
	if os.Geteuid() != 0 {
		return errors.New("only root may set up a firewall between nodes: run plimsoll as root")
	}
	nobody := Member{Group: 1 << 30, Hosts: []netip.Addr{netip.AddrFrom4([4]byte{127, 255, 255, 254})}}
	table := "plimsoll-check-" + strconv.Itoa(os.Getpid())
	if err := errors.Join(Enclose(table, []Member{nobody}, []int{nobody.Group}), Remove(table)); err != nil {
		return fmt.Errorf("the kernel takes no firewall between nodes (it needs nf_tables, and CAP_NET_ADMIN): %w", err)
	}
	return nil
}
