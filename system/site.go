package system

import (
	"context"
	"syscall"
	"time"
)

// Site is a set of machines that the servers of a cluster run on.
//
// The process that wants the cluster, its coordinator, and every machine call Provision with the
// same request, each with a Site of its own. All take the same steps in the same order. A step of a
// server is taken by that server's machine alone, when the coordinator has come to it. So no
// command, path or file passes between machines: what a machine runs is what its own driver says.
type Site interface {
	// Coordinates reports whether this process is the coordinator, which runs no server.
	Coordinates() bool
	// Begin begins a start of the cluster that the request describes. ctx bounds its steps. The
	// coordinator's Stage is a Lead.
	Begin(ctx context.Context, p Provision) (Stage, error)
}

// Away reports whether this process is the coordinator of machines that have all servers.
func (p Provision) Away() bool { return p.Site != nil && p.Site.Coordinates() }

// Stage is a cluster on a Site while it starts, and then while it runs. It is safe for concurrent
// use.
type Stage interface {
	// Machines returns the IPv4 addresses of the machines, each once.
	Machines() []string
	// Own returns the address of this process's machine; "": it is the coordinator.
	Own() string
	// Seed is what the secrets of the cluster are derived from. It is a secret.
	Seed() []byte
	// Authority is the authority of the cluster's certificates and its key, in PEM: a secret.
	Authority() []byte
	// Step takes the next step of a server. On the server's machine it waits until the coordinator
	// has come to the step and calls do. At the coordinator it has that machine take the step, and
	// returns what controls the server from there. Elsewhere it does nothing. do returns nil unless
	// the step starts the server.
	Step(s Step, do func() (Server, error)) (Server, error)
}

// Lead is the coordinator's Stage.
type Lead interface {
	Stage
	// CopyLogs brings the servers' logs on this machine up to date, as far as ctx allows.
	CopyLogs(ctx context.Context)
	// Operate is as in Resizable, on the node's machine.
	Operate(ctx context.Context, node, program string) error
	// End ends the servers at once, and removes their folders. It can be repeated.
	End(ctx context.Context) error
}

// Step is a step in the start of a server.
type Step struct {
	Node string
	Host string // the address of its machine; "": the step is one of every machine
	What string // a word for the step
}

// Server is a server's process, on this machine or on another. Its methods are safe for concurrent
// use.
type Server interface {
	// PID is its number on its own machine.
	PID() int
	// Quit is the signal that asks it to end.
	Quit() syscall.Signal
	// Exited returns a channel that is closed when its last start has ended.
	Exited() <-chan struct{}
	// Err returns how it ended: nil while it runs, and after exit code 0.
	Err() error
	// Stop asks it to end, and kills it after the grace or when ctx ends.
	Stop(ctx context.Context, grace time.Duration) error
	// Kill kills it and what it started, and returns when it has ended.
	Kill() error
	// Restart starts it again after it has ended.
	Restart() error
}
