package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/system"
)

// startAttempts is how often a start is tried when another process took an
// address between our finding it free and the server's listening.
const startAttempts = 3

// ErrAddressTaken is wrapped by the error of a start that failed because
// another process took an address. Another attempt finds other addresses.
var ErrAddressTaken = errors.New("another process took an address")

// Servers is how the servers of one system start, fail and stop.
type Servers struct {
	// StartWithin bounds one attempt to start a cluster.
	StartWithin time.Duration
	// StopGrace is how long the servers of one stage may take to end before they
	// are killed.
	StopGrace time.Duration
	// AskEvery is how often Await asks, and AskWithin bounds one question; 0:
	// nothing but the start itself does.
	AskEvery, AskWithin time.Duration
	// LastComplaint is what a server's log says last of why it does not run.
	LastComplaint func(log string) string
	// AddressTaken are the words of a log, besides those of the operating system,
	// that mean that an address is taken.
	AddressTaken []string
}

// Build describes a cluster and starts it. It returns the cluster when clients
// can connect to it.
type Build func(ctx context.Context, c *Cluster) (system.Provisioned, error)

// Provision starts a cluster. On an error nothing is left but the logs.
func (s Servers) Provision(
	ctx context.Context, p system.Provision, build Build,
) (started system.Provisioned, err error) {
	for range startAttempts {
		if started, err = s.Start(ctx, p, build); !errors.Is(err, ErrAddressTaken) {
			break
		}
	}
	return started, err
}

// Start is one attempt of Provision.
func (s Servers) Start(
	ctx context.Context, p system.Provision, build Build,
) (system.Provisioned, error) {
	p, err := Folders(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.StartWithin)
	defer cancel()
	c := &Cluster{servers: s, provision: p}
	started, err := build(ctx, c)
	if err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return started, nil
}

// Folders makes the directory of the logs, and the path of the data absolute:
// servers run in folders of their own, where a relative path means another
// place.
func Folders(p system.Provision) (system.Provision, error) {
	var err error
	if p.DataDir, err = filepath.Abs(p.DataDir); err != nil {
		return p, fmt.Errorf("finding the data directory: %w", err)
	}
	if err := os.MkdirAll(p.LogDir, 0o755); err != nil {
		return p, fmt.Errorf("making the log directory: %w", err)
	}
	return p, nil
}

// remove ends every server at once and removes their folders.
func (c *Cluster) remove() error {
	var failed []error
	for _, n := range c.all {
		if n.process != nil {
			failed = append(failed, n.process.Kill())
		}
	}
	for _, n := range c.all {
		failed = append(failed, process.RemoveFolder(n.Dir))
	}
	return errors.Join(failed...)
}
