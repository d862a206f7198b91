package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	controlName = "control"
	// longestSocket is the longest path, in bytes, that every kernel accepts for a socket.
	longestSocket = 100
	// controlLimit bounds one request to an owner, including its answer.
	controlLimit = 30 * time.Second
	// breakLimit bounds the requests that inject and heal faults, which may wait for
	// servers to shut down gracefully.
	breakLimit = 4 * time.Minute
)

// request is a command to an owner.
type request struct {
	Verb string `json:"verb"`
	Node string `json:"node,omitempty"`
	// The fault to inject, and its target.
	Do     workload.FaultKind   `json:"do,omitempty"`
	Target workload.FaultTarget `json:"whom,omitempty"`
}

// limit bounds the time until the request is answered.
func (r request) limit() time.Duration {
	if r.Verb == verbBreak || r.Verb == verbHeal {
		return breakLimit
	}
	return controlLimit
}

// reply is the owner's answer to a request.
type reply struct {
	Failed   string          `json:"failed,omitempty"`
	Node     Node            `json:"node"`
	Injected system.Injected `json:"injected"`
}

const (
	verbKill  = "kill"
	verbStart = "start"
	verbBreak = "break"
	verbHeal  = "heal"
)

// Kill kills one server of a testbed, and returns its state when it has ended.
func Kill(ctx context.Context, s State, node string) (Node, error) {
	return askOf(ctx, s, request{Verb: verbKill, Node: node})
}

// Start starts an ended server again with its data and its addresses, and returns its new
// state. The server rejoins the cluster by itself.
func Start(ctx context.Context, s State, node string) (Node, error) {
	return askOf(ctx, s, request{Verb: verbStart, Node: node})
}

// Break injects a fault into the servers of a testbed, and returns when it is in place. It
// ignores the fault's times: the fault lasts until Heal, or until the testbed ends.
func Break(ctx context.Context, s State, f workload.Fault) (system.Injected, error) {
	answer, err := ask(ctx, s, request{Verb: verbBreak, Do: f.Do, Target: f.Target})
	return answer.Injected, err
}

// Heal undoes the fault that is under way. Without a fault it does nothing.
func Heal(ctx context.Context, s State) error {
	_, err := ask(ctx, s, request{Verb: verbHeal})
	return err
}

// askOf sends the owner of a testbed a request about one of its servers.
func askOf(ctx context.Context, s State, r request) (Node, error) {
	if !slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.Name == r.Node }) {
		var names []string
		for _, n := range s.Nodes {
			names = append(names, n.Name)
		}
		return Node{}, fmt.Errorf("%s has no node %s: its nodes are %s",
			s.Name, r.Node, strings.Join(names, ", "))
	}
	answer, err := ask(ctx, s, r)
	return answer.Node, err
}

// ask sends a request to the owner of a testbed.
func ask(ctx context.Context, s State, r request) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	var conn net.Conn
	err := reach(s.Dir, func(path string) (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", path)
		return err
	})
	if err != nil {
		return reply{}, fmt.Errorf("%s does not answer: "+
			"see whether it is up with: plimsoll testbed status: %w", s.Name, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var answer reply
	if err = json.NewEncoder(conn).Encode(r); err == nil {
		err = json.NewDecoder(conn).Decode(&answer)
	}
	switch {
	case err != nil:
		err = errors.Join(err, context.Cause(ctx))
		return reply{}, fmt.Errorf("ask the owner of %s: %w", s.Name, err)
	case answer.Failed != "":
		return answer, fmt.Errorf("%s: %s", s.Name, answer.Failed)
	}
	return answer, nil
}

// reach calls use with the path of a testbed's socket. When the path is too long for a
// socket, it uses a short path through the open directory.
func reach(dir string, use func(path string) error) error {
	path := filepath.Join(dir, controlName)
	if len(path) <= longestSocket {
		return use(path)
	}
	open, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer open.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", open.Fd(), controlName))
}

// controller executes the requests to an owner, one at a time. It owns the state until it is
// closed.
type controller struct {
	folder   *folder
	state    *State
	cluster  system.Provisioned
	injector system.Injector // nil: the testbed takes no faults
	socket   net.Listener
	// close cancels ctx, so that a request under way does not delay the end.
	ctx     context.Context
	cancel  context.CancelFunc
	serving sync.WaitGroup

	mu sync.Mutex // held while the state is changed
}

// control starts to serve requests.
func (r *folder) control(
	state *State, cluster system.Provisioned, injector system.Injector,
) (*controller, error) {
	c := &controller{folder: r, state: state, cluster: cluster, injector: injector}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	err := reach(r.dir, func(path string) (err error) {
		c.socket, err = net.Listen("unix", path)
		return err
	})
	if err != nil {
		c.cancel()
		return nil, fmt.Errorf("listen for requests to the testbed: %w", err)
	}
	c.serving.Go(c.serve)
	return c, nil
}

// close stops serving. It returns when the request under way has been answered.
func (c *controller) close() {
	_ = c.socket.Close()
	c.cancel()
	c.serving.Wait()
}

func (c *controller) serve() {
	for {
		conn, err := c.socket.Accept()
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(controlLimit))
		var r request
		if json.NewDecoder(conn).Decode(&r) == nil {
			_ = conn.SetDeadline(time.Now().Add(r.limit()))
			var answer reply
			if err := c.obey(r, &answer); err != nil {
				answer.Failed = err.Error()
			}
			_ = json.NewEncoder(conn).Encode(answer) // the client may have gone
		}
		conn.Close()
	}
}

// obey executes a request, and saves the servers' new states in the state and the target.
func (c *controller) obey(r request, answer *reply) error {
	nodes, able := c.cluster.(system.Restarter)
	if !able {
		return fmt.Errorf("the servers of %s run in one process and cannot be ended one by one: "+
			"start them as processes, by a setting that plimsoll systems names", c.state.System)
	}
	var err error
	switch {
	case r.Verb == verbKill:
		err = nodes.Kill(r.Node)
	case r.Verb == verbStart:
		err = nodes.Restart(r.Node)
	case r.Verb == verbBreak && c.injector != nil:
		f := workload.Fault{Do: r.Do, Target: r.Target}
		answer.Injected, err = c.injector.Inject(c.ctx, f, "")
	case r.Verb == verbHeal && c.injector != nil:
		err = c.injector.Heal(c.ctx)
	default:
		return fmt.Errorf("this testbed does not know the request %s: "+
			"use the plimsoll that started it", r.Verb)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(err, c.notice(r.Node, &answer.Node))
}

// notice saves the servers' current states, and returns that of one node in now.
func (c *controller) notice(node string, now *Node) error {
	var running []system.Node
	for i, n := range c.cluster.Nodes() {
		at := &c.state.Nodes[i]
		at.PID, at.Alive = n.PID, !n.Ended
		if !c.state.Hosted {
			at.Alive = syscall.Kill(n.PID, 0) == nil
		}
		if at.Alive {
			running = append(running, n)
		}
		if n.Name == node {
			*now = *at
		}
	}
	err := c.folder.save(*c.state)
	if c.state.Hosted {
		return err // the target names no processes
	}
	return errors.Join(err, c.folder.retarget(c.state.Name, running))
}

// look notes the ends of servers on hosts, which readers of the state cannot see.
func (c *controller) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.Hosted {
		return
	}
	for i, n := range c.cluster.Nodes() {
		if c.state.Nodes[i].Alive == n.Ended {
			_ = c.notice("", new(Node)) // the next look tries again
			return
		}
	}
}

// retarget replaces the processes in the target by those of the running servers.
func (r *folder) retarget(name string, running []system.Node) error {
	path := filepath.Join(r.dir, targetName)
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	t, err := target.Parse(path, raw)
	if err != nil {
		return err
	}
	t.Processes = processesOf(name, running)
	return result.ReplaceFile(path, []byte(t.YAML()))
}
