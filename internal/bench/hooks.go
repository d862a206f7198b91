package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	hooksFolder = "hooks" // in the run directory
	// hookGrace is the time after the window in which the commands of its start must end. Then
	// they are killed.
	hookGrace = 10 * time.Second
	// hookLimit is the longest that a command of the window's end may take.
	hookLimit = time.Minute
)

// hooks runs the target's commands for each node: one from the window's start, which is asked to
// end with the window, and one after it. Failures are noted and do not end the run.
type hooks struct {
	idle
	run   *run
	nodes []result.Node
	going []*hook // commands of the window's start
	over  bool    // the window has ended
	after sync.WaitGroup

	mu    sync.Mutex
	notes []string
}

// hook is a command that runs for a node.
type hook struct {
	node, when string
	child      *process.Server
	log        string // relative to the run directory
}

func newHooks(r *run) *hooks {
	nodes := r.run.System.Nodes
	if len(nodes) == 0 {
		for _, endpoint := range r.job.Target.Endpoints {
			nodes = append(nodes, result.Node{Name: endpoint, Address: endpoint})
		}
	}
	if len(nodes) == 0 {
		nodes = []result.Node{{Name: r.job.Target.Name}}
	}
	return &hooks{run: r, nodes: nodes}
}

func (h *hooks) measured(context.Context) {
	h.going = h.start("start", h.run.job.Target.Hooks.Start)
}

// start starts a command for each node.
func (h *hooks) start(when, command string) (all []*hook) {
	if command == "" {
		return nil
	}
	for i, n := range h.nodes {
		folder := filepath.Join(hooksFolder, fmt.Sprintf("%d-%s", i+1, result.NamePart(n.Name)))
		one := &hook{node: n.Name, when: when, log: filepath.Join(folder, when+".log")}
		dir := filepath.Join(h.run.writer.Dir(), folder)
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			one.child, err = process.Start(process.Spec{
				Name: "the hook " + when, Path: "/bin/sh", Args: []string{"-c", command}, Dir: dir,
				Log: filepath.Join(dir, when+".log"), Env: h.environment(when, n),
			})
		}
		if err != nil {
			h.note(fmt.Sprintf("the hook %s of %s could not be started: %v", when, n.Name, err))
			continue
		}
		all = append(all, one)
	}
	return all
}

// drain ends the commands of the window's start, and runs the commands of its end. end waits for
// them.
func (h *hooks) drain(*draining) {
	if h.over {
		return
	}
	h.over = true
	h.after.Go(func() {
		h.stop()
		var ending sync.WaitGroup
		for _, one := range h.start("end", h.run.job.Target.Hooks.End) {
			ending.Go(func() { h.await(one, hookLimit, "was killed after "+hookLimit.String()) })
		}
		ending.Wait()
	})
}

// stop asks the commands of the window's start to end.
func (h *hooks) stop() {
	var stopping sync.WaitGroup
	for _, one := range h.going {
		stopping.Go(func() {
			const late = "was killed, because it did not end with the window"
			select {
			case <-one.child.Exited():
				h.await(one, hookGrace, late)
			default: // ended by our signal, which is no failure
				_ = process.Signal(process.Family(one.child.PID()), syscall.SIGTERM)
				h.awaitEnd(one, hookGrace, late)
			}
		})
	}
	stopping.Wait()
	h.going = nil
}

// await waits for a command to end, kills it after a limit, and notes what went wrong.
func (h *hooks) await(one *hook, limit time.Duration, late string) {
	if h.awaitEnd(one, limit, late) && one.child.Err() != nil {
		h.note(fmt.Sprintf("the hook %s of %s failed: %v: see %s", one.when, one.node,
			one.child.Err(), one.log))
	}
}

// awaitEnd reports whether the command ended by itself.
func (h *hooks) awaitEnd(one *hook, limit time.Duration, late string) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-one.child.Exited():
		return true
	case <-timer.C:
	}
	sentence := fmt.Sprintf("the hook %s of %s %s", one.when, one.node, late)
	if err := one.child.Kill(); err != nil {
		sentence += ": " + err.Error()
	}
	h.note(sentence)
	return false
}

func (h *hooks) note(sentence string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, sentence)
}

// end waits for every command, and notes that they ran and what failed.
func (h *hooks) end() error {
	h.after.Wait()
	h.stop() // in case the run failed before its drain
	h.run.note(fmt.Sprintf("the target's hooks ran beside the load (number of nodes: %d): "+
		"their output is in %s/", len(h.nodes), hooksFolder))
	for _, sentence := range h.notes {
		h.run.note(strings.ReplaceAll(sentence, "\n", "; "))
	}
	return nil
}

// environment returns the variables of a hook. A server on a host has no process here.
func (h *hooks) environment(when string, n result.Node) []string {
	all := append(os.Environ(), "PLIMSOLL_HOOK="+when, "PLIMSOLL_NODE="+n.Name,
		"PLIMSOLL_ADDRESS="+n.Address)
	if h.run.job.OnHosts > 0 {
		return all
	}
	return append(all, fmt.Sprintf("PLIMSOLL_PID=%d", n.PID))
}
