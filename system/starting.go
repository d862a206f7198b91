package system

import "fmt"

// NodesOf returns the number of nodes that Provision would start, in words such as "2 nodes". It
// may differ from the provision's number: some systems always start a pair of servers.
func NodesOf(s Provisioner, p Provision) string {
	n := len(s.NodeNames(p))
	if n == 0 { // they run in this process
		n = p.Nodes
	}
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}
