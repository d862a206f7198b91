package driver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// Files that Furnish writes into the folder of a node with a certificate, in
// PEM.
const (
	KeyFile         = "key.pem"
	CertificateFile = "cert.pem"
	KeyStoreFile    = "node.pem" // key and certificate in one file
	CAFile          = "ca.pem"   // the certificate of the authority
)

// Node is one server of a cluster.
type Node struct {
	Name       string
	Address    string // that clients connect to
	Host, Port string // of the address
	Dir        string // of its own, below the data directory
	Log        string

	title   string        // its name in errors
	helper  bool          // a process that the nodes need, not a node itself
	process system.Server // nil: not started, or on another machine than this one
	extra   bool          // beside the servers that the request asks for
	later   bool          // it is only made ready, and starts when it is restarted
	retired atomic.Bool   // it has left for good
	// programs of an operator, by name
	programs map[string]process.Spec
	raced    int // starts that failed in a race with another server
}

// PID returns the id of the node's process on its machine.
func (n *Node) PID() int { return n.process.PID() }

// ended reports whether the node's process has ended.
func (n *Node) ended() bool {
	select {
	case <-n.process.Exited():
		return true
	default:
		return false
	}
}

// rank notes which servers of a stage are extra, and which of those start later.
func (c *Cluster) rank(stage []*Node) {
	p := c.provision
	for i, n := range stage {
		n.extra = i >= p.Nodes && i < p.All()
		n.later = n.extra && i >= p.All()-p.Later
	}
}

// present reports whether the node was started, here or elsewhere, and has not left for good.
func (n *Node) present() bool {
	return !n.retired.Load() && (!n.later || n.process != nil && n.process.PID() != 0)
}

// Path returns the path of a file in the node's folder.
func (n *Node) Path(elements ...string) string {
	return filepath.Join(append([]string{n.Dir}, elements...)...)
}

// Add adds a node that clients reach at the address.
func (c *Cluster) Add(name, address string) *Node {
	n := c.add(name, "server "+name)
	n.Address = address
	n.Host, n.Port, _ = net.SplitHostPort(address)
	return n
}

// AddHelper adds a process that the servers of a machine need. It stops with the cluster and is not
// among its nodes.
func (c *Cluster) AddHelper(name string) *Node {
	n := c.add(name, name)
	n.helper = true
	return n
}

func (c *Cluster) add(name, title string) *Node {
	n := &Node{
		Name: name, title: title,
		Dir: filepath.Join(c.provision.DataDir, name),
		Log: filepath.Join(c.provision.LogDir, name+".log"),
	}
	c.all = append(c.all, n)
	return n
}

// Furnish writes files, empty folders and, if the cluster is encrypted, a certificate to a node's
// folder. Only the owner may read them.
func (c *Cluster) Furnish(n *Node, files map[string]string, folders ...string) error {
	_, err := c.step(n, furnishing, func() (system.Server, error) {
		return nil, c.furnish(n, files, folders)
	})
	if err == nil {
		err = c.keepAuthority(n)
	}
	if err != nil {
		return fmt.Errorf("make the folder of %s: %w", n.Name, err)
	}
	return nil
}

func (c *Cluster) furnish(n *Node, files map[string]string, folders []string) error {
	for _, folder := range append(folders, "") {
		err := os.MkdirAll(n.Path(folder), 0o700)
		if err == nil {
			err = c.own(n.Path(folder))
		}
		if err != nil {
			return err
		}
	}
	write := func(name string, content []byte) error {
		err := os.WriteFile(n.Path(name), content, 0o600)
		if err == nil {
			err = c.own(n.Path(name))
		}
		return err
	}
	for name, content := range files {
		if err := write(name, []byte(content)); err != nil {
			return err
		}
	}
	if c.authority == nil {
		return nil
	}
	key, certificate, err := c.authority.Issue(n.Name, n.Host)
	if err != nil {
		return err
	}
	return errors.Join(write(KeyFile, key), write(CertificateFile, certificate),
		write(KeyStoreFile, append(key, certificate...)), write(CAFile, c.authority.PEM()))
}

// keepAuthority notes where the clients find the certificate of the authority. A coordinator of
// other machines writes it for them.
func (c *Cluster) keepAuthority(n *Node) error {
	if c.authority == nil {
		return nil
	}
	if c.lead() == nil {
		c.caFile = n.Path(CAFile)
		return nil
	}
	c.caFile = filepath.Join(c.provision.DataDir, CAFile)
	return os.WriteFile(c.caFile, c.authority.PEM(), 0o600)
}

// own gives a file or folder to the user of RunAs.
func (c *Cluster) own(path string) error {
	if c.user == (user{}) {
		return nil
	}
	return os.Chown(path, c.user.id, c.user.group)
}

// Launch starts the servers of a stage, each by its command. A server runs in its folder,
// writes to its log, and belongs to the group that Provision.Groups has for its node. Those that
// start later (Provision.Later) are only made ready.
func (c *Cluster) Launch(stage []*Node, command func(*Node) process.Spec) error {
	c.stages = append(c.stages, stage)
	c.rank(stage)
	for _, n := range stage {
		if err := c.launch(n, command); err != nil {
			return err
		}
	}
	return nil
}

// LaunchInTurn is Launch for servers that must not start at the same time. It starts each server
// when ready returns nil for the previous one, and does not wait for the last.
func (c *Cluster) LaunchInTurn(ctx context.Context, stage []*Node,
	command func(*Node) process.Spec, ready func(ctx context.Context, n *Node) error) error {
	c.stages = append(c.stages, stage)
	c.rank(stage)
	for i, n := range stage {
		if i > 0 {
			if err := c.AwaitEach(ctx, stage[i-1:i], ready); err != nil {
				return err
			}
		}
		if err := c.launch(n, command); err != nil {
			return err
		}
	}
	return nil
}

// launch starts a server.
func (c *Cluster) launch(n *Node, command func(*Node) process.Spec) (err error) {
	n.process, err = c.step(n, launching, func() (system.Server, error) {
		if n.later {
			return process.Prepare(c.complete(n, n.title, command(n))), nil
		}
		p, err := c.start(n, n.title, command(n))
		if err != nil {
			return nil, err // a nil process.Server is no nil Server
		}
		return p, nil
	})
	return err
}

func (c *Cluster) start(n *Node, name string, command process.Spec) (*process.Server, error) {
	return process.Start(c.complete(n, name, command))
}

// complete returns the command with the node's folder, log, user and group.
func (c *Cluster) complete(n *Node, name string, command process.Spec) process.Spec {
	command.Name, command.Dir, command.Log = name, n.Dir, n.Log
	command.User = c.user.id
	command.Group = cmp.Or(c.provision.Groups[n.Name], c.user.group)
	return command
}

// Run runs a program to its end in a node's folder. Errors say what the program does and
// quote the node's log.
func (c *Cluster) Run(ctx context.Context, n *Node, what string, command process.Spec) error {
	_, err := c.step(n, running, func() (system.Server, error) {
		return nil, c.run(ctx, n, what, command)
	})
	return err
}

func (c *Cluster) run(ctx context.Context, n *Node, what string, command process.Spec) error {
	p, err := c.start(n, what, command)
	if err != nil {
		return err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s was ended: %w", what, ctx.Err()), p.Kill())
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("%s: %w: %s", what, err, c.servers.LastComplaint(n.Log))
	}
	return nil
}

// Program names a program of an operator, for Operate on a node's machine.
func (n *Node) Program(name string, command process.Spec) {
	if n.programs == nil {
		n.programs = make(map[string]process.Spec)
	}
	n.programs[name] = command
}

// Operate implements system.Resizable.
func (c *Cluster) Operate(ctx context.Context, node, program string) error {
	if lead := c.lead(); lead != nil {
		return lead.Operate(ctx, node, program)
	}
	c.operating.Lock() // one at a time, as an operator does
	defer c.operating.Unlock()
	n, err := c.named(node)
	if err != nil {
		return err
	}
	command, known := n.programs[program]
	if !known {
		return fmt.Errorf("%s has no program %q", node, program)
	}
	return c.run(ctx, n, program+" of "+n.Name, command)
}

// KeyStore writes the key and certificate of a node into a file of its folder, in PKCS #12
// under the password, for Java servers that do not read PEM. Furnish must come first, in an
// encrypted cluster.
func (n *Node) KeyStore(name, password string) error {
	fail := func(err error) error {
		return fmt.Errorf("make the key store of %s: %w", n.Name, err)
	}
	pair, err := tls.LoadX509KeyPair(n.Path(CertificateFile), n.Path(KeyFile))
	if err != nil {
		return fail(err)
	}
	store, err := pkcs12.Modern.Encode(pair.PrivateKey, pair.Leaf, nil, password)
	if err != nil {
		return fail(err)
	}
	if err := os.WriteFile(n.Path(name), store, 0o600); err != nil {
		return fail(err)
	}
	return nil
}
