package measure

import "net/netip"

// Connections are TCP connections, by their two ends: this process's, and the other.
type Connections map[[2]netip.AddrPort]struct{}

// Since returns the number of connections that are not among the earlier ones.
func (c Connections) Since(earlier Connections) (n int64) {
	for ends := range c {
		if _, had := earlier[ends]; !had {
			n++
		}
	}
	return n
}
