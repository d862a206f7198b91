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

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
)

// elementsAtOnce keeps a message to the kernel below its bound of 64 KB.
const elementsAtOnce = 500

// Separate stops the members of each side from reaching the members of any other side.
// Clients still reach all members. It replaces the table's rules.
func Separate(table string, sides [][]Member) error {
	var groups []int
	for _, side := range sides {
		groups = append(groups, groupsOf(side)...)
	}
	left := func(all []connection) []flow { return across(sides, all) }
	return put(table, separate(sides), groups, left)
}

// Enclose lets only processes of the groups reach the members. The groups must include the
// members' own. It replaces the table's rules.
func Enclose(table string, members []Member, groups []int) error {
	others := block{groups: groups, others: true, to: hostsOf(members)}
	left := func(all []connection) []flow { return outside(members, groups, all) }
	return put(table, []block{others}, groups, left)
}

// put makes a table of the blocks, and then adds the existing connections that left selects. It
// lists them only once the blocks prevent new ones.
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
		err = fmt.Errorf("set up firewall table %s: %w", table, err)
		return errors.Join(err, Remove(table))
	}
	return nil
}

// flowSet is the set in a table that holds single connections.
type flowSet struct {
	nft *nftables.Conn
	set *nftables.Set
}

func (f flowSet) add(flows []flow) error {
	for len(flows) > 0 {
		n := min(len(flows), elementsAtOnce)
		var elements []nftables.SetElement
		for _, f := range flows[:n] {
			key := append(endKey(f.from), endKey(f.to)...)
			elements = append(elements, nftables.SetElement{Key: key})
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

// endKey encodes an address and a port as the kernel compares them, in pieces of 4 bytes.
func endKey(a netip.AddrPort) []byte {
	ip := a.Addr().As4()
	return append(ip[:], byte(a.Port()>>8), byte(a.Port()), 0, 0)
}

// addBlocks makes the table in one transaction.
func addBlocks(name string, blocks []block) (flowSet, error) {
	nft, err := nftables.New()
	if err != nil {
		return flowSet{}, err
	}
	table := nft.AddTable(&nftables.Table{Name: name, Family: nftables.TableFamilyIPv4})
	accept := nftables.ChainPolicyAccept
	// The hook is output, because the kernel knows the sender's group only there.
	chain := nft.AddChain(&nftables.Chain{
		Name: "sent", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityFilter,
		Policy: &accept,
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

// Offsets and lengths of IPv4 addresses and TCP ports in their headers, in bytes, and the
// first of the kernel's 4-byte registers.
const (
	ipSource, ipTarget, ipLength       = 12, 16, 4
	portSource, portTarget, portLength = 0, 2, 2
	firstRegister                      = unix.NFT_REG32_00
)

// expressions returns the rule that drops the block's packets.
func (b block) expressions(nft *nftables.Conn, table *nftables.Table) ([]expr.Any, error) {
	var groups, hosts []nftables.SetElement
	for _, g := range b.groups {
		key := binaryutil.NativeEndian.PutUint32(uint32(g))
		groups = append(groups, nftables.SetElement{Key: key})
	}
	for _, h := range b.to {
		ip := h.As4()
		hosts = append(hosts, nftables.SetElement{Key: ip[:]})
	}
	from := &nftables.Set{
		Table: table, Anonymous: true, Constant: true, KeyType: nftables.TypeGID,
	}
	to := &nftables.Set{
		Table: table, Anonymous: true, Constant: true, KeyType: nftables.TypeIPAddr,
	}
	if err := errors.Join(nft.AddSet(from, groups), nft.AddSet(to, hosts)); err != nil {
		return nil, err
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeySKGID, Register: firstRegister},
		&expr.Lookup{
			SourceRegister: firstRegister, SetID: from.ID, SetName: from.Name, Invert: b.others,
		},
		payload(0, expr.PayloadBaseNetworkHeader, ipTarget, ipLength),
		&expr.Lookup{SourceRegister: firstRegister, SetID: to.ID, SetName: to.Name},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}, nil
}

// payload loads bytes of a packet's header into a register, counted from the first one.
func payload(register uint32, base expr.PayloadBase, offset, length uint32) *expr.Payload {
	return &expr.Payload{
		DestRegister: firstRegister + register, Base: base, Offset: offset, Len: length,
	}
}

// flowExpressions returns the rule that drops the packets of single connections.
func flowExpressions(flows *nftables.Set) []expr.Any {
	network, transport := expr.PayloadBaseNetworkHeader, expr.PayloadBaseTransportHeader
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: firstRegister},
		&expr.Cmp{Op: expr.CmpOpEq, Register: firstRegister, Data: []byte{unix.IPPROTO_TCP}},
		payload(0, network, ipSource, ipLength),
		payload(1, transport, portSource, portLength),
		payload(2, network, ipTarget, ipLength),
		payload(3, transport, portTarget, portLength),
		&expr.Lookup{SourceRegister: firstRegister, SetID: flows.ID, SetName: flows.Name},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

// Remove removes a table. A table that does not exist is no error.
func Remove(table string) error {
	nft, err := nftables.New()
	if err != nil {
		return fmt.Errorf("remove firewall table %s: %w", table, err)
	}
	there, err := nft.ListTablesOfFamily(nftables.TableFamilyIPv4)
	if err != nil {
		return fmt.Errorf("look for firewall table %s: %w", table, err)
	}
	for _, t := range there {
		if t.Name != table {
			continue
		}
		nft.DelTable(t)
		if err := nft.Flush(); err != nil {
			return fmt.Errorf("remove firewall table %s: %w", table, err)
		}
	}
	return nil
}

// Check returns an error when no firewall table can be made here. It makes one and removes
// it.
func Check() error {
	if os.Geteuid() != 0 {
		return errors.New("only root may set up a firewall between nodes: run plimsoll as root")
	}
	unused := netip.AddrFrom4([4]byte{127, 255, 255, 254})
	nobody := Member{Group: 1 << 30, Hosts: []netip.Addr{unused}}
	table := "plimsoll-check-" + strconv.Itoa(os.Getpid())
	claim := leftover.Own(Table, table)
	defer claim.Release()
	err := errors.Join(Enclose(table, []Member{nobody}, []int{nobody.Group}), Remove(table))
	if err != nil {
		return fmt.Errorf("the kernel refuses a firewall between nodes: "+
			"it needs nf_tables and CAP_NET_ADMIN: %w", err)
	}
	return nil
}
