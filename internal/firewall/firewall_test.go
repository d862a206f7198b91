package firewall

import (
	"net/netip"
	"slices"
	"testing"
)

func at(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// Three members and a client have connections. The kernel shows only one end of the
// client's connection to member 1, as of a connection that is not yet accepted.
func TestConnectionsBetweenSides(t *testing.T) {
	sides := [][]Member{{{Group: 1}}, {{Group: 2}, {Group: 3}}}
	all := []connection{
		// 1 to 2
		{at("127.0.0.1:10"), at("127.1.1.2:92"), 1}, {at("127.1.1.2:92"), at("127.0.0.1:10"), 2},
		// 3 to 2
		{at("127.0.0.1:11"), at("127.1.1.2:92"), 3}, {at("127.1.1.2:92"), at("127.0.0.1:11"), 2},
		// client to 1
		{at("127.0.0.1:12"), at("127.1.1.1:92"), 0}, {at("127.1.1.1:92"), at("127.0.0.1:12"), 1},
		// 1 to an unknown process
		{at("127.0.0.1:13"), at("127.1.1.3:92"), 1},
	}
	want := []flow{
		{at("127.0.0.1:10"), at("127.1.1.2:92")}, {at("127.1.1.2:92"), at("127.0.0.1:10")},
	}
	if got := across(sides, all); !slices.Equal(got, want) {
		t.Errorf("across: %v", got)
	}
	want = []flow{
		{at("127.1.1.1:92"), at("127.0.0.1:12")}, {at("127.0.0.1:12"), at("127.1.1.1:92")},
		{at("127.0.0.1:13"), at("127.1.1.3:92")}, {at("127.1.1.3:92"), at("127.0.0.1:13")},
	}
	if got := outside(sides[0], []int{1, 2, 3}, all); !slices.Equal(got, want) {
		t.Errorf("outside: %v", got)
	}
}
