package process

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

const (
	loopback = "127.0.0.1"
	// addressAttempts is the number of networks to try. There are 65,024 networks, so a
	// second attempt is rare.
	addressAttempts = 20
	maxNodes        = 254
)

// Addresses finds free addresses (host:port) on the loopback interface: for each node, one
// for each of the ports. Where all of 127/8 is local, as on Linux, each node gets its own host
// with exactly these ports, from 127.x.y.1 up in a network of the cluster's own. Elsewhere all
// nodes share 127.0.0.1, with other ports.
//
// Another process may take an address before the server listens on it. A caller that sees
// this calls Addresses again, a bounded number of times.
func Addresses(nodes int, ports ...int) ([][]string, error) {
	if nodes < 1 || nodes > maxNodes {
		return nil, fmt.Errorf("addresses for %d nodes: use 1 to %d nodes", nodes, maxNodes)
	}
	for range addressAttempts {
		// Not 127.0, where other servers usually listen.
		network := fmt.Sprintf("127.%d.%d.", 1+rand.IntN(254), rand.IntN(256))
		all, err := ownHosts(network, nodes, ports)
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			return oneHost(nodes, len(ports))
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return all, err
		}
	}
	return nil, fmt.Errorf(
		"none of %d loopback networks has the ports %v free: find the listeners with: ss -tln",
		addressAttempts, ports)
}

// ownHosts gives every node a host. It holds each address until it has found all.
func ownHosts(network string, nodes int, ports []int) ([][]string, error) {
	all := make([][]string, nodes)
	for i := range all {
		for _, port := range ports {
			address := net.JoinHostPort(network+strconv.Itoa(i+1), strconv.Itoa(port))
			l, err := net.Listen("tcp", address)
			if err != nil {
				return nil, fmt.Errorf("find a free address: %w", err)
			}
			defer l.Close()
			all[i] = append(all[i], address)
		}
	}
	return all, nil
}

// oneHost gives every node its own ports of one host.
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

// AreFree returns an error when a process listens on one of the ports of a host of this machine.
func AreFree(host string, ports ...int) error {
	for _, port := range ports {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("port %d of %s is taken: end what listens there (ss -tlnp)", port,
				cmp.Or(host, "this machine"))
		}
		if err != nil {
			return fmt.Errorf("find a free address: %w", err)
		}
		l.Close()
	}
	return nil
}

// FreePorts finds n free ports of a host; when host is empty, ports that are free on every address
// of this machine. They are all held until all are found, so that they differ.
func FreePorts(host string, n int) ([]int, error) {
	var all []int
	for range n {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close()
		all = append(all, l.Addr().(*net.TCPAddr).Port)
	}
	return all, nil
}
