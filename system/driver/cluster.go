package driver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// Cluster is a cluster of child processes. After Build it is safe for concurrent use.
type Cluster struct {
	servers     Servers
	provision   system.Provision
	site        system.Stage // nil: all servers run on this machine
	draws       int          // secrets that were drawn so far
	all         []*Node      // in the order in which they were added
	stages      [][]*Node    // in the order in which they were launched
	credentials system.Credentials
	authority   *authority.Authority // nil: not encrypted
	caFile      string
	user        user
	versions    Versions // nil: the servers have one version
	operating   sync.Mutex
}

// Versions returns the command that starts a node in another version of the software.
type Versions func(ctx context.Context, n *Node, version string) (process.Spec, error)

// SetVersions makes Upgrade possible.
func (c *Cluster) SetVersions(to Versions) { c.versions = to }

// user is a user of the operating system; 0: this process's.
type user struct{ id, group int }

var (
	_ system.Provisioned = (*Cluster)(nil)
	_ system.Resizable   = (*Cluster)(nil)
)

// SetCredentials sets the credentials of the clients.
func (c *Cluster) SetCredentials(to system.Credentials) { c.credentials = to }

// Values of the setting for the authentication of clients, besides "password": a user and one.
const (
	SecurityTLS  = "tls" // these over TLS
	SecurityNone = "none"
)

// Secure gives the clients a user with a random password, and encrypts their connections, if the
// setting's value asks for it.
func (c *Cluster) Secure(security, user string) error {
	if security != SecurityNone {
		c.SetCredentials(system.Credentials{User: user, Password: c.Secret()})
	}
	if security == SecurityTLS {
		return c.Encrypt()
	}
	return nil
}

// RunAs makes every later Furnish, Launch and Run use another user and its group, for
// servers that refuse to run as root. It takes root.
func (c *Cluster) RunAs(id, group int) { c.user = user{id, group} }

// Encrypt makes every later Furnish write a certificate.
func (c *Cluster) Encrypt() (err error) {
	if c.site == nil {
		c.authority, err = authority.New()
		return err
	}
	c.authority, _, err = authority.Load(c.site.Authority(), time.Now())
	return err
}

// Endpoints returns the addresses of the last stage. Earlier stages hold servers that it
// needs.
func (c *Cluster) Endpoints() []string {
	var all []string
	if len(c.stages) > 0 {
		for _, n := range c.stages[len(c.stages)-1] {
			if n.present() {
				all = append(all, n.Address)
			}
		}
	}
	return all
}

// Credentials returns the clients' credentials, empty when the cluster has none.
func (c *Cluster) Credentials() system.Credentials { return c.credentials }

// TLS returns the clients' configuration, nil when connections are not encrypted.
func (c *Cluster) TLS() *tls.Config {
	if c.authority == nil {
		return nil
	}
	return c.authority.ClientConfig()
}

// CAFile returns the PEM file of the authority that signed the nodes' certificates. It is
// empty when connections are not encrypted.
func (c *Cluster) CAFile() string { return c.caFile }

// Members returns the servers that belong to the cluster now, without helpers. A server that starts
// later is not among them before, and one that was retired not any more.
func (c *Cluster) Members() []*Node {
	return slices.DeleteFunc(slices.Clone(c.all),
		func(n *Node) bool { return n.helper || !n.present() })
}

// Nodes returns the servers of the cluster, on this machine if it is one of several.
func (c *Cluster) Nodes() []system.Node {
	var all []system.Node
	for _, n := range c.Members() {
		if n.process == nil {
			continue
		}
		all = append(all, n.told())
	}
	return all
}

// told returns what others know of the node.
func (n *Node) told() system.Node {
	return system.Node{
		Name: n.Name, Address: n.Address, PID: n.PID(), Log: n.Log, Quit: n.process.Quit(),
		Ended: n.ended(),
	}
}

// Joining implements system.Resizable.
func (c *Cluster) Joining() []system.Node {
	var host string // of the first one
	return c.extras(func(n *Node) bool {
		if n.present() || n.retired.Load() {
			return false
		}
		host = cmp.Or(host, n.machine())
		return n.machine() == host
	})
}

// Leaving implements system.Resizable.
func (c *Cluster) Leaving() []system.Node {
	var host string
	for _, n := range c.all {
		if n.extra && n.present() {
			host = n.machine()
		}
	}
	return c.extras(func(n *Node) bool { return n.present() && n.machine() == host })
}

// machine returns the node's host, or its name where all nodes share one (process.Addresses).
func (n *Node) machine() string {
	if n.Host == "127.0.0.1" {
		return n.Name
	}
	return n.Host
}

// extras returns the extra servers that are chosen.
func (c *Cluster) extras(chosen func(*Node) bool) (all []system.Node) {
	for _, n := range c.all {
		if n.extra && n.process != nil && chosen(n) {
			all = append(all, n.told())
		}
	}
	return all
}

func (c *Cluster) named(name string) (*Node, error) {
	for _, n := range c.all {
		if n.Name == name && n.process != nil && !n.helper {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no node %s", name)
}

// Kill ends a node at once.
func (c *Cluster) Kill(node string) error {
	n, err := c.named(node)
	if err != nil {
		return err
	}
	return n.process.Kill()
}

// Restart starts a node that has ended.
func (c *Cluster) Restart(node string) error {
	n, err := c.named(node)
	if err != nil {
		return err
	}
	return n.process.Restart()
}

// Retire ends a node cleanly, for good.
func (c *Cluster) Retire(ctx context.Context, node string) error {
	n, err := c.named(node)
	if err != nil {
		return err
	}
	n.retired.Store(true)
	return n.process.Stop(ctx, c.servers.StopGrace)
}

// Upgrade makes Restart start a node in another version.
func (c *Cluster) Upgrade(ctx context.Context, node, version string) error {
	n, err := c.named(node)
	if err != nil {
		return err
	}
	if c.lead() != nil {
		return fmt.Errorf("start %s as version %s: its host does so", n.title, version)
	}
	if c.versions == nil {
		return fmt.Errorf("start %s as version %s: plimsoll starts one version of these "+
			"servers only", n.title, version)
	}
	command, err := c.versions(ctx, n, version)
	if err != nil {
		return err
	}
	n.process.(*process.Server).Become(c.complete(n, n.title, command))
	return nil
}

// Stop ends every server and waits for it. It begins with the stage launched last and
// ends the servers of a stage together. It kills servers that do not end within the
// grace or before ctx ends. Other machines then remove the servers' folders. It is idempotent.
func (c *Cluster) Stop(ctx context.Context) error {
	var failed []error
	for i := len(c.stages) - 1; i >= 0; i-- {
		stage := c.stages[i]
		failed = append(failed, DoAll(len(stage), func(j int) error {
			if stage[j].process == nil {
				return nil
			}
			return stage[j].process.Stop(ctx, c.servers.StopGrace)
		})...)
	}
	if lead := c.lead(); lead != nil {
		failed = append(failed, lead.End(ctx))
	}
	return errors.Join(failed...)
}
