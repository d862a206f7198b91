package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// startAttempts is the number of attempts to start when another process takes an address before
// the server listens there.
const startAttempts = 6

// raceRestarts is the number of times that a server is started again because it failed in a race
// with another. Servers on a busy machine lost a third of these races.
const raceRestarts = 20

// removeLimit bounds the removal of servers that did not start, on other machines.
const removeLimit = time.Minute

// ErrAddressTaken is wrapped by the error of a start that failed because
// another process took an address. Another attempt finds other addresses.
var ErrAddressTaken = errors.New("another process took an address")

// Servers describes how a system's servers start, fail and stop.
type Servers struct {
	// StartWithin bounds one attempt to start a cluster.
	StartWithin time.Duration
	// StopGrace is the time within which the servers of a stage must end. After it
	// they are killed.
	StopGrace time.Duration
	// AskEvery is the interval of Await's checks. AskWithin bounds one check; 0: only the start
	// bounds it.
	AskEvery, AskWithin time.Duration
	// LastComplaint returns the last reason in a log for which a server does not run.
	LastComplaint func(log string) string
	// AddressTaken are words in a log, besides the operating system's, that mean that
	// an address is taken.
	AddressTaken []string
	// Races are words in a log that mean that a server failed in a race with another. Await starts
	// it again.
	Races []string
}

// Build describes a cluster and starts it. It returns when clients can connect.
type Build func(ctx context.Context, c *Cluster) (system.Provisioned, error)

// BuildAt returns the Build of servers that start at free addresses: for each node, one for each of
// the ports.
func BuildAt(nodes int, start func(ctx context.Context, c *Cluster, addresses [][]string) error,
	ports ...int) Build {
	return func(ctx context.Context, c *Cluster) (system.Provisioned, error) {
		addresses, err := c.Addresses(nodes, ports...)
		if err == nil {
			err = start(ctx, c, addresses)
		}
		return c, err
	}
}

// Provision starts a cluster. After an error only the logs remain.
func (s Servers) Provision(
	ctx context.Context, p system.Provision, build Build,
) (started system.Provisioned, err error) {
	for range startAttempts {
		started, err = s.Start(ctx, p, build)
		if !errors.Is(err, ErrAddressTaken) {
			break
		}
	}
	return started, err
}

// Start makes one attempt of Provision.
func (s Servers) Start(
	ctx context.Context, p system.Provision, build Build,
) (system.Provisioned, error) {
	p, err := Folders(p)
	if err != nil {
		return nil, err
	}
	if p.Site == nil || p.Site.Coordinates() { // a host's start ends with the coordinator's
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.StartWithin)
		defer cancel()
	}
	c := &Cluster{servers: s, provision: p}
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	started, err := build(ctx, c)
	if err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return started, nil
}

// Folders creates the directory of the logs, and makes the path of the data absolute,
// because servers run in other directories.
func Folders(p system.Provision) (system.Provision, error) {
	var err error
	if p.DataDir, err = filepath.Abs(p.DataDir); err != nil {
		return p, fmt.Errorf("find the data directory: %w", err)
	}
	if err := os.MkdirAll(p.LogDir, 0o755); err != nil {
		return p, fmt.Errorf("make the log directory: %w", err)
	}
	return p, nil
}

// remove kills every server and removes their folders.
func (c *Cluster) remove() error {
	var failed []error
	if lead := c.lead(); lead != nil {
		ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
		defer cancel()
		failed = append(failed, lead.End(ctx))
	}
	for _, n := range c.all {
		if n.process != nil && c.lead() == nil {
			failed = append(failed, n.process.Kill())
		}
	}
	for _, n := range c.all {
		failed = append(failed, process.RemoveFolder(n.Dir))
	}
	return errors.Join(failed...)
}
