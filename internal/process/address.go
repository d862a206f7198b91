package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

const (
	loopback = "127.0.0.1"
	// addressAttempts is how many networks are tried. There are 65,024, so a
	// second attempt is rare already.
	addressAttempts = 20
	maxNodes        = 254
)

// Addresses finds, for each of so many nodes, one address (host:port) on the
// loopback interface for each of the ports, which nobody listens on. Where all
// of 127/8 is local, as on Linux, each node gets a host of its own in a
// network of the cluster's own, 127.x.y.1 and up, and the very ports asked for.
// Elsewhere all nodes share 127.0.0.1, each with other ports.
//
// Between finding and listening somebody else may take an address: who finds
// that asks again, a bounded number of times.
func Addresses(nodes int, ports ...int) ([][]string, error) {
	if nodes < 1 || nodes > maxNodes {
		return nil, fmt.Errorf("addresses for %d nodes: there are some for 1 to %d", nodes, maxNodes)
	}
	for range addressAttempts {
		// Not 127.0: there everybody else listens.
		network := fmt.Sprintf("127.%d.%d.", 1+rand.IntN(254), rand.IntN(256))
		all, err := ownHosts(network, nodes, ports)
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			return oneHost(nodes, len(ports))
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return all, err
		}
	}
	return nil, fmt.Errorf("no loopback network of %d has the ports %v free: see who listens with: ss -tln", addressAttempts, ports)
}

// ownHosts gives every node a host. All addresses are held until all are
// found.
func ownHosts(network string, nodes int, ports []int) ([][]string, error) {
	all := make([][]string, nodes)
	for i := range all {
		for _, port := range ports {
			address := net.JoinHostPort(network+strconv.Itoa(i+1), strconv.Itoa(port))
			l, err := net.Listen("tcp", address)
			if err != nil {
				return nil, fmt.Errorf("finding a free address: %w", err)
			}
			defer l.Close()
			all[i] = append(all[i], address)
		}
	}
	return all, nil
}

// oneHost gives every node other ports of one host.
func oneHost(nodes, ports int) ([][]string, error) {
	free, err := FreePorts(loopback, nodes*ports)
	if err != nil {
		return nil, err
	}
	all := make([][]string, nodes)
	for i, port := range free {
		all[i/ports] = append(all[i/ports], net.JoinHostPort(loopback, strconv.Itoa(port)))
	}
	return all, nil
}

// FreePorts finds n ports of a host that nobody listens on; no host: of every
// address of this machine. They are all held until all are found, so that they
// differ.
func FreePorts(host string, n int) ([]int, error) {
	var all []int
	for range n {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer l.Close()
		all = append(all, l.Addr().(*net.TCPAddr).Port)
	}
	return all, nil
}
