package testbed

import (
	"context"

	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Hosts are other machines, on which the servers of a testbed run. Their faults and resources are
// theirs.
type Hosts interface {
	system.Site
	// Prepare has every host make ready for the start: it checks what it lacks, and downloads the
	// servers' software.
	Prepare(ctx context.Context, r Request) error
	// Break has the hosts of some nodes inject a fault there, and returns what they did, in words.
	Break(ctx context.Context, b Breakage) (string, error)
	// Mend undoes what Break did, and starts the nodes that have ended. It can be repeated.
	Mend(ctx context.Context) error
	// DropPageCache writes out and drops the page cache of every host, as root.
	DropPageCache(ctx context.Context) error
	// Sync writes the nodes' data to their disks.
	Sync(ctx context.Context) error
	// Listen has tell called when a host is lost, from any goroutine; nil: nobody.
	Listen(tell func(sentence string))
	// Describe returns what a result says of the hosts.
	Describe() []result.Host
	// Observe begins to observe the nodes' processes and their machines.
	Observe() (Observer, error)
}

// Request is a cluster that hosts are to start.
type Request struct {
	System     string
	Settings   []target.Setting // those that are given
	Durability workload.Level
	Nodes      int
	// beside them, as in system.Provision
	Extra, Later int

	NeedBytes int64 // the disk that all nodes together may fill; 0: unknown
	Prepare   Preparation
	Groups    map[string]int // of the nodes
	Versions  []string       // in which servers are started later
}

// request returns what hosts have to know of a cluster.
func (o Options) request(p system.Provision) Request {
	r := Request{System: o.Provisioner.(system.System).Describe().Name,
		Settings: p.Settings.Asked(), Durability: p.Durability, Nodes: p.Nodes,
		Extra: p.Extra, Later: p.Later,
		NeedBytes: o.NeedBytes, Prepare: o.Prepare, Groups: p.Groups, Versions: o.Versions}
	if o.Prepare.Groups && r.Groups == nil {
		r.Groups = drawGroups(o.Provisioner.NodeNames(p))
	}
	return r
}

// Provision describes the request's cluster, with its settings read.
func (r Request) Provision(s system.Settings) system.Provision {
	return system.Provision{Nodes: r.Nodes, Extra: r.Extra, Later: r.Later,
		Durability: r.Durability, Settings: s, Breakable: true, Groups: r.Groups}
}

// Fetch has all hosts download what the cluster needs, which may take longer than a start.
func (o Options) Fetch(ctx context.Context) error {
	return o.Hosts.Prepare(ctx, o.request(o.Provision))
}

// Breakage is a fault, and the nodes that it hits.
type Breakage struct {
	Fault workload.Fault
	Nodes []string
	// Sides are the parts into which a partition divides the nodes.
	Sides [][]firewall.Member
}

// Observer reads the use of the servers and of their machines.
type Observer interface {
	// Read returns the use since the last reading, and the servers that have ended or come back.
	Read() (r result.Resources, ended, back []target.Process)
	Servers() []string
	Methods() []string
	Close() error
}

// Hosts returns the machines of the servers; nil: they run on this one.
func (t *Testbed) Hosts() Hosts { return t.hosts }
