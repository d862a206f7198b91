package driver

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// enter begins the start of a cluster on several machines, if the request has any.
func (c *Cluster) enter(ctx context.Context) (err error) {
	if c.provision.Site == nil {
		return nil
	}
	c.site, err = c.provision.Site.Begin(ctx, c.provision)
	return err
}

// lead returns what controls the servers on other machines, in the process that coordinates them;
// nil: this machine has servers.
func (c *Cluster) lead() system.Lead {
	lead, _ := c.site.(system.Lead)
	return lead
}

// asks reports whether this process asks the servers as their client.
func (c *Cluster) asks() bool { return c.site == nil || c.lead() != nil }

// oneKernel reports whether the machines are one: they have addresses of the loopback interface.
func (c *Cluster) oneKernel() bool {
	return net.ParseIP(c.site.Machines()[0]).IsLoopback()
}

// Words for the steps of a node's start.
const (
	furnishing = "furnish"
	running    = "run"
	launching  = "launch"
)

// step takes a step of a node's start, on the node's machine.
func (c *Cluster) step(n *Node, what string, do func() (system.Server, error)) (
	system.Server, error,
) {
	if c.site == nil {
		return do()
	}
	step := system.Step{Node: n.Name, Host: n.Host, What: what}
	if n.helper && what == launching && c.oneKernel() {
		step.Host = c.site.Machines()[0] // it serves all
	}
	return c.site.Step(step, do)
}

// ServedHosts returns those of the servers' hosts that a helper of this machine serves.
func (c *Cluster) ServedHosts(hosts []string) []string {
	if c.site == nil || c.lead() != nil || c.oneKernel() {
		return hosts
	}
	return []string{c.site.Own()}
}

// Once does what a client of the new servers has to do once, such as making a user. Where the
// servers are on several machines, only the coordinator does it.
func (c *Cluster) Once(do func() error) error {
	if !c.asks() {
		return nil
	}
	return do()
}

// Addresses finds free addresses (host:port) for servers: for each node, one for each of the ports,
// on this machine's loopback interface (process.Addresses) or on a machine of its own.
func (c *Cluster) Addresses(nodes int, ports ...int) ([][]string, error) {
	if c.site == nil {
		return process.Addresses(nodes, ports...)
	}
	machines := c.site.Machines()
	if nodes > len(machines) {
		return nil, fmt.Errorf("these servers need %d machines, and there are %d hosts: start "+
			"more hosts, or fewer servers (--nodes)", nodes, len(machines))
	}
	all := make([][]string, nodes)
	for i := range all {
		host := machines[i]
		step := system.Step{Node: host, Host: host, What: "ports"}
		_, err := c.site.Step(step, func() (system.Server, error) {
			return nil, process.AreFree(host, ports...)
		})
		if err != nil {
			return nil, err
		}
		for _, port := range ports {
			all[i] = append(all[i], At(host, port))
		}
	}
	return all, nil
}

// Hosts finds n hosts on which all the ports are free. It is for servers with fixed ports, which
// need separate addresses.
func (c *Cluster) Hosts(n int, ports ...int) ([]string, error) {
	addresses, err := c.Addresses(n, ports...)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for _, a := range addresses {
		host, port, err := net.SplitHostPort(a[0])
		if err != nil || port != strconv.Itoa(ports[0]) {
			return nil, errors.New("each server needs a loopback address of its own, and this " +
				"machine has only one: start the cluster on Linux, or give endpoints")
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// Ports from which FreePorts draws for machines of a Site: below those that Linux gives to clients.
const firstDrawn, drawnPorts = 20_000, 10_000

// FreePorts finds n ports that are free at every address of the machines. If one of a Site's is
// taken, the start is tried again.
func (c *Cluster) FreePorts(n int) ([]int, error) {
	if c.site == nil {
		return process.FreePorts("", n)
	}
	var b [8]byte
	c.Random(b[:])
	first := firstDrawn + int(binary.BigEndian.Uint64(b[:])%uint64(drawnPorts-n))
	var all []int
	for i := range n {
		all = append(all, first+i)
	}
	look := system.Step{Node: "ports", What: "look"}
	if c.oneKernel() {
		look.Host = c.site.Machines()[0]
	}
	_, err := c.site.Step(look, func() (system.Server, error) {
		return nil, process.AreFree("", all...)
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrAddressTaken, err)
	}
	return all, err
}

// Random fills b with random bytes. All machines of a Site draw the same ones.
func (c *Cluster) Random(b []byte) {
	if c.site == nil {
		rand.Read(b) // never fails: it ends the program instead
		return
	}
	c.draws++
	drawn, err := hkdf.Key(sha256.New, c.site.Seed(), nil, strconv.Itoa(c.draws), len(b))
	if err != nil {
		panic(err) // only for more bytes than anyone draws
	}
	copy(b, drawn)
}

// Secret returns 128 random bits as text that needs no quoting.
func (c *Cluster) Secret() string {
	var b [secretBytes]byte
	c.Random(b[:])
	return secretText(b[:])
}
