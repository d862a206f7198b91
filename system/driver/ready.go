package driver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/process"
)

// Await repeats a check until it returns nil. It fails when a server ends or ctx ends. Its error
// quotes the last complaint of each server's log.
func (c *Cluster) Await(ctx context.Context, ask func(ctx context.Context) error) error {
	ticker := time.NewTicker(c.servers.AskEvery)
	defer ticker.Stop()
	var lacks error
	for {
		if err := c.ended(); err != nil {
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
			return fmt.Errorf("the servers did not become a cluster (%w)%s: %w",
				lacks, c.complaints(), ctx.Err())
		case <-ticker.C:
		}
	}
}

// AwaitEach is Await with a check of each node in turn.
func (c *Cluster) AwaitEach(
	ctx context.Context, these []*Node, ask func(ctx context.Context, n *Node) error,
) error {
	for _, n := range these {
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

// ended returns an error if a server has ended, or nil.
func (c *Cluster) ended() error {
	for _, n := range c.all {
		if n.process == nil {
			continue
		}
		select {
		case <-n.process.Exited():
			return c.explainEnd(n)
		default:
		}
	}
	return nil
}

func (c *Cluster) explainEnd(n *Node) error {
	said, end := c.servers.LastComplaint(n.Log), process.Tail(n.Log)
	// The operating system's own words, in both spellings.
	for _, taken := range append([]string{"ddress already in use"}, c.servers.AddressTaken...) {
		if bytes.Contains(end, []byte(taken)) {
			return fmt.Errorf("%s: %w: %s", n.title, ErrAddressTaken, said)
		}
	}
	for _, race := range c.servers.Races {
		if bytes.Contains(end, []byte(race)) {
			return fmt.Errorf("%s: %w: %s", n.title, errRace, said)
		}
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
