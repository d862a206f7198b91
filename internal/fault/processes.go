package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	// stopLimit bounds a graceful shutdown. After it the servers are killed.
	stopLimit = 30 * time.Second
	// stillLimit bounds the wait until stopped processes stand still. A thread that
	// waits for a disk stops only after that wait.
	stillLimit = 2 * time.Second
	poll       = time.Millisecond
)

// kill kills all nodes as simultaneously as possible, and returns when they have ended.
func (i *Injector) kill(nodes []system.Node) error {
	if err := signal(nodes, syscall.SIGKILL); err != nil {
		return err
	}
	return each(nodes, func(n system.Node) error { return i.restarter().Kill(n.Name) })
}

// pause stops the nodes' processes.
func (i *Injector) pause(ctx context.Context, nodes []system.Node) error {
	i.undo = append(i.undo, func(context.Context) error { return signal(nodes, syscall.SIGCONT) })
	_, err := freeze(ctx, nodes)
	return err
}

// freeze stops the nodes' processes, and returns when all of them stand still, or after
// stillLimit. A thread that still runs then waits in the kernel, and stops before it returns
// to the server's code. began is the time of the first stop signal.
func freeze(ctx context.Context, nodes []system.Node) (began time.Time, err error) {
	var leaders []int
	for _, n := range nodes {
		leaders = append(leaders, n.PID)
	}
	threads := threadsOf(leaders) // before the signals, because it takes longer
	began = time.Now()
	if err := signal(nodes, syscall.SIGSTOP); err != nil {
		return began, err
	}
	// Processes that were started meanwhile are running: a stopped server starts no more.
	if err := signal(nodes, syscall.SIGSTOP); err != nil {
		return began, err
	}
	ctx, cancel := context.WithTimeout(ctx, stillLimit)
	defer cancel()
	for _, thread := range threads {
		wait(ctx, func() bool { return still(thread) })
	}
	return began, nil
}

// stop shuts nodes down gracefully, and kills those that have not ended after stopLimit.
func (i *Injector) stop(ctx context.Context, nodes []system.Node) (string, error) {
	for _, n := range nodes {
		// The signal goes to the server only, which ends the processes that it started.
		err := syscall.Kill(n.PID, cmp.Or(n.Quit, syscall.SIGTERM))
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return "", fmt.Errorf("ask %s to end: %w", n.Name, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	sentence := "stopped " + strings.Join(namesOf(nodes), ", ") + " gracefully"
	for _, n := range nodes {
		if !wait(ctx, func() bool { return !alive(n.PID) }) {
			sentence += fmt.Sprintf("; %s did not end in time and was killed", n.Name)
		}
	}
	// kill also ends processes that an ended server left, and tells the server's owner.
	return sentence, i.kill(nodes)
}

// stopInTurn shuts the nodes of a machine down gracefully, the last started first, as an
// operator does: a broker that stops may need the ZooKeeper beside it. They start again in a
// version, unless it is empty.
func (i *Injector) stopInTurn(
	ctx context.Context, nodes []system.Node, version string,
) (string, error) {
	var sentences []string
	for _, n := range slices.Backward(nodes) {
		sentence, err := i.stop(ctx, []system.Node{n})
		if err != nil {
			return "", err
		}
		sentences = append(sentences, sentence)
		if version == "" {
			continue
		}
		if err := i.restarter().Upgrade(ctx, n.Name, version); err != nil {
			return "", err
		}
		sentences = append(sentences, n.Name+" starts as version "+version)
	}
	return strings.Join(sentences, "; "), nil
}

// signal signals the nodes with all their processes. An ended node is no error.
func signal(nodes []system.Node, s syscall.Signal) error {
	for _, n := range nodes {
		if err := process.Signal(process.Family(n.PID), s); err != nil {
			return fmt.Errorf("send %s a signal: %w", n.Name, err)
		}
	}
	return nil
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// wait polls done, and reports whether it returned true before ctx ended.
func wait(ctx context.Context, done func() bool) bool {
	if done() {
		return true
	}
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if done() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

// each calls do for all nodes concurrently, and joins the errors.
func each(nodes []system.Node, do func(system.Node) error) error {
	return errors.Join(driver.DoAll(len(nodes), func(i int) error { return do(nodes[i]) })...)
}
