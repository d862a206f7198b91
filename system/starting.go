package system

import "fmt"

// NodesOf returns how many nodes Provision would start, in words such as "2 nodes". Some systems
// start another number than the provision names, such as a pair of servers.
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
