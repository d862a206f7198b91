package nsq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nsqio/nsq/nsqd"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// clientPort is nsqd's default port; that of HTTP is a setting of the clients.
const clientPort = 4150

// servers describes how nsqd servers start, fail and stop. One that stops writes what it has in
// memory to its files.
var servers = driver.Servers{
	StartWithin: 30 * time.Second, StopGrace: 15 * time.Second, AskEvery: 20 * time.Millisecond,
	AskWithin: 2 * time.Second, LastComplaint: driver.LastLineWith("FATAL", "ERROR"),
}

// NodeNames returns the names of the servers.
func (nsqSystem) NodeNames(p system.Provision) []string { return driver.Numbered("n", p.Nodes) }

// Provision starts servers as processes of this machine, each on a loopback address of its own. It
// returns when all of them answer.
func (nsqSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	return servers.Provision(ctx, p, starter{p}.build)
}

// starter starts the servers of a cluster.
type starter struct{ system.Provision }

func (s starter) build(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
	web := int(s.Settings.Count(setHTTP))
	hosts, err := c.Hosts(s.Nodes, clientPort, web)
	if err != nil {
		return nil, err
	}
	if s.Settings.Text(setSecurity) == driver.SecurityTLS {
		if err := c.Encrypt(); err != nil {
			return nil, err
		}
	}
	for i, name := range (nsqSystem{}).NodeNames(s.Provision) {
		if err := c.Furnish(c.Add(name, driver.At(hosts[i], clientPort)), nil); err != nil {
			return nil, err
		}
	}
	err = c.Launch(c.Members(), func(n *driver.Node) process.Spec {
		config, _ := json.Marshal(s.config(c, n, web)) // plain values
		return driver.Self(n, NodeCommand, config)
	})
	if err != nil {
		return nil, err
	}
	return c, c.AwaitEach(ctx, c.Members(), func(ctx context.Context, n *driver.Node) error {
		k, err := dial(ctx, n.Address, c.TLS(), identity{HeartbeatMs: -1})
		if err == nil {
			k.cut()
		}
		return err
	})
}

// nodeConfig is what a server's process reads at its standard input.
type nodeConfig struct {
	TCP, HTTP, Dir  string
	MemQueue, Every int64
	Message, Body   int64 // most bytes
	SyncTimeout     time.Duration
	Key, Cert       string // files; empty: no TLS
}

func (s starter) config(c *driver.Cluster, n *driver.Node, web int) nodeConfig {
	o := nodeConfig{
		TCP: n.Address, HTTP: driver.At(n.Host, web), Dir: n.Dir,
		MemQueue: s.Settings.Count(setMemQueue), Every: s.Settings.Count(setSyncEvery),
		SyncTimeout: s.Settings.Duration(setSyncTimeout),
		Message:     s.Settings.Bytes(setMaxMessage), Body: bodyMost(s.Settings),
	}
	if c.TLS() != nil {
		o.Key, o.Cert = n.Path(driver.KeyFile), n.Path(driver.CertificateFile)
	}
	return o
}

// NodeCommand is the command with which this program runs one server. The server's name and folder
// follow it, only to identify the process. Every program that provisions servers, tests included,
// must call ServeNode for it.
const NodeCommand = "nsq-node"

// NodeCommand returns the command of a server's process.
func (nsqSystem) NodeCommand() string { return NodeCommand }

// ServeNode reads a configuration and runs a server with it until ctx ends. Then it ends the server
// in good order. The server's log goes to the file.
func (nsqSystem) ServeNode(ctx context.Context, config io.Reader, log *os.File) error {
	text, err := driver.NodeConfig(config)
	if err != nil {
		return err
	}
	var c nodeConfig
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("read the server's configuration: %w", err)
	}
	o := nsqd.NewOptions()
	o.TCPAddress, o.HTTPAddress, o.HTTPSAddress, o.DataPath = c.TCP, c.HTTP, "", c.Dir
	o.MemQueueSize, o.SyncEvery, o.SyncTimeout = c.MemQueue, c.Every, c.SyncTimeout
	o.MaxMsgSize, o.MaxBodySize = c.Message, c.Body
	o.TLSKey, o.TLSCert, o.Logger = c.Key, c.Cert, logger{log}
	s, err := nsqd.New(o)
	if err != nil {
		return fmt.Errorf("make the server: %w", err)
	}
	if err := errors.Join(s.LoadMetadata(), s.PersistMetadata()); err != nil {
		return fmt.Errorf("read the server's topics: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Main() }()
	select {
	case <-ctx.Done():
		s.Exit()
		return <-ended
	case err := <-ended:
		s.Exit()
		return err
	}
}

// logger writes a server's log.
type logger struct{ file *os.File }

// Output writes a line.
func (l logger) Output(_ int, line string) error {
	_, err := fmt.Fprintln(l.file, time.Now().Format(time.RFC3339Nano), line)
	return err
}
