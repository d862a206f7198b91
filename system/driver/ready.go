package driver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/process"
)

// Await repeats a check until it returns nil. A server that failed in a race is started again.
// Await fails when a server ends for another reason, or ctx ends. Its error quotes the last
// complaint of each server's log. Where the servers are on several machines, only the coordinator
// asks.
func (c *Cluster) Await(ctx context.Context, ask func(ctx context.Context) error) error {
	if !c.asks() {
		return nil
	}
	ticker := time.NewTicker(c.servers.AskEvery)
	defer ticker.Stop()
	var lacks error
	for {
		if err := c.keepRunning(); err != nil {
			return err
		}
		err := c.askOnce(ctx, ask)
		if err == nil {
			return nil
		}
		if lacks == nil || ctx.Err() == nil {
			lacks = err // the error of a check that ctx has ended explains nothing
		}
		select {
		case <-ctx.Done():
			c.copyLogs()
			return fmt.Errorf("the servers did not become a cluster (%w)%s: %w",
				lacks, c.complaints(), ctx.Err())
		case <-ticker.C:
		}
	}
}

// copyLimit bounds the copying of logs for an error.
const copyLimit = 2 * time.Second

// copyLogs brings the logs up to date, where the servers are on other machines.
func (c *Cluster) copyLogs() {
	if lead := c.lead(); lead != nil {
		ctx, cancel := context.WithTimeout(context.Background(), copyLimit)
		defer cancel()
		lead.CopyLogs(ctx)
	}
}

// AwaitEach is Await with a check of each node in turn, of those that do not start later.
func (c *Cluster) AwaitEach(
	ctx context.Context, these []*Node, ask func(ctx context.Context, n *Node) error,
) error {
	for _, n := range these {
		if n.later {
			continue
		}
		err := c.Await(ctx, func(ctx context.Context) error {
			if err := ask(ctx, n); err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) askOnce(ctx context.Context, ask func(ctx context.Context) error) error {
	if c.servers.AskWithin > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.servers.AskWithin)
		defer cancel()
	}
	return ask(ctx)
}

// keepRunning starts each server again that failed in a race, and returns an error if a server has
// ended for another reason.
func (c *Cluster) keepRunning() error {
	for _, n := range c.all {
		if n.process == nil || !n.present() {
			continue // not started
		}
		select {
		case <-n.process.Exited():
			if err := c.startAgain(n); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}

// startAgain starts a server again that failed in a race, up to raceRestarts times. If the server
// ended for another reason, the error says why.
func (c *Cluster) startAgain(n *Node) error {
	said, end := c.servers.LastComplaint(n.Log), process.Tail(n.Log)
	says := func(words string) bool { return bytes.Contains(end, []byte(words)) }
	// The operating system's own words, in both spellings.
	if says("ddress already in use") || slices.ContainsFunc(c.servers.AddressTaken, says) {
		return fmt.Errorf("%s: %w: %s", n.title, ErrAddressTaken, said)
	}
	if slices.ContainsFunc(c.servers.Races, says) {
		if n.raced++; n.raced <= raceRestarts {
			return n.process.Restart()
		}
		return fmt.Errorf("%s failed in a race with another server, %d times in turn: %s",
			n.title, n.raced, said)
	}
	err := n.process.Err()
	if err == nil {
		err = errors.New("exit code 0")
	}
	return fmt.Errorf("%s ended while it was started (%w): %s", n.title, err, said)
}

// complaints quotes the last complaint of each server's log, in brackets, because the
// logs may be deleted before anyone reads them.
func (c *Cluster) complaints() string {
	var b strings.Builder
	for _, n := range c.all {
		if said := c.servers.LastComplaint(n.Log); said != "" {
			fmt.Fprintf(&b, " (%s: %s)", n.Name, said)
		}
	}
	return b.String()
}

// LastLineWith returns a Servers.LastComplaint: the last line of a log that contains one
// of the marks, or else the last line.
func LastLineWith(marks ...string) func(log string) string {
	return func(log string) string {
		var last, complaint string
		for line := range process.TailLines(log) {
			last = line
			for _, mark := range marks {
				if strings.Contains(line, mark) {
					complaint = line
				}
			}
		}
		return process.Said(cmp.Or(complaint, last))
	}
}
