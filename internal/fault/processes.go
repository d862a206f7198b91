package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	// stopLimit is how long servers may take to end in good order, before they
	// are killed.
	stopLimit = 30 * time.Second
	// stillLimit bounds the wait until processes stand still that were told to:
	// one that waits for a disk does so a little later.
	stillLimit = 2 * time.Second
	poll       = time.Millisecond
)

// kill ends servers, all as close to one another as may be, and returns when
// they are gone.
func (i *Injector) kill(nodes []system.Node) error {
	if err := signal(nodes, syscall.SIGKILL); err != nil {
		return err
	}
	return each(nodes, func(n system.Node) error { return i.restarter().Kill(n.Name) })
}

// pause has servers stand still.
func (i *Injector) pause(ctx context.Context, nodes []system.Node) error {
	i.undo = append(i.undo, func(context.Context) error { return signal(nodes, syscall.SIGCONT) })
	_, err := freeze(ctx, nodes)
	return err
}

// freeze returns when all stand still, or after a bound: whoever does not by
// then is waiting for the kernel, and stands still before it does anything more.
// began is when the first was told to.
func freeze(ctx context.Context, nodes []system.Node) (began time.Time, err error) {
	var leaders []int
	for _, n := range nodes {
		leaders = append(leaders, n.PID)
	}
	family := familyOf(leaders) // first: it takes longer than stopping
	began = time.Now()
	if err := signal(nodes, syscall.SIGSTOP); err != nil {
		return began, err
	}
	ctx, cancel := context.WithTimeout(ctx, stillLimit)
	defer cancel()
	for _, thread := range family {
		wait(ctx, func() bool { return still(thread) })
	}
	return began, nil
}

// stop ends servers in good order.
func (i *Injector) stop(ctx context.Context, nodes []system.Node) (string, error) {
	for _, n := range nodes {
		// The server itself, which tells those that it has started.
		if err := syscall.Kill(n.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return "", fmt.Errorf("asking %s to end: %w", n.Name, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	sentence := "stopped " + strings.Join(namesOf(nodes), ", ") + " in good order"
	for _, n := range nodes {
		if !wait(ctx, func() bool { return !alive(n.PID) }) {
			sentence += fmt.Sprintf("; %s did not end in time and was killed", n.Name)
		}
	}
	// Also those that have ended: then nothing of them is left, and their owner knows.
	return sentence, i.kill(nodes)
}

// signal reaches all that a server has started, too. Who has ended is no error.
func signal(nodes []system.Node, s syscall.Signal) error {
	for _, n := range nodes {
		if err := syscall.Kill(-n.PID, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("sending %s a signal: %w", n.Name, err)
		}
	}
	return nil
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// wait returns whether it is so before ctx ends.
func wait(ctx context.Context, so func() bool) bool {
	if so() {
		return true
	}
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if so() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

// each does something to all nodes at once.
func each(nodes []system.Node, do func(system.Node) error) error {
	failed := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { failed[i] = do(n) })
	}
	wg.Wait()
	return errors.Join(failed...)
}
