package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// hostStage is a host's own part of a start, and then of the cluster. The driver's goroutine waits
// in Step for the coordinator's orders.
type hostStage struct {
	staging
	request testbed.Request
	own     string
	cancel  context.CancelFunc
	ended   chan struct{} // the start has ended

	// Set before ended is closed.
	bed      *testbed.Testbed
	err      error
	injector *fault.Injector

	mu       sync.Mutex
	starting context.Context // of the driver's start; nil: it has not begun
	logs     string          // the folder of the logs
	turns    map[turn]chan chan<- error
	servers  map[string]system.Server
	observer *observe.Observer
}

// turn is a step for which a coordinator or a driver waits, or a program of an operator.
type turn struct{ Node, What string }

var _ interface {
	system.Site
	system.Stage
} = (*hostStage)(nil)

// Begin implements system.Site.
func (s *hostStage) Begin(ctx context.Context, p system.Provision) (system.Stage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starting != nil {
		return nil, errors.New("the coordinator decides about another attempt")
	}
	s.starting, s.logs = ctx, p.LogDir
	return s, nil
}

// Machines implements system.Stage.
func (s *hostStage) Machines() []string { return s.staging.Machines }

// Own implements system.Stage.
func (s *hostStage) Own() string { return s.own }

// Seed implements system.Stage.
func (s *hostStage) Seed() []byte { return s.staging.Seed }

// Authority implements system.Stage.
func (s *hostStage) Authority() []byte { return s.staging.Authority }

// Coordinates implements system.Site.
func (s *hostStage) Coordinates() bool { return false }

// waiting returns the channel on which a step's two sides meet.
func (s *hostStage) waiting(t turn) chan chan<- error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[t] == nil {
		s.turns[t] = make(chan chan<- error)
	}
	return s.turns[t]
}

// Step implements system.Stage: it does a step of this host when the coordinator asks for it.
func (s *hostStage) Step(step system.Step, do func() (system.Server, error)) (
	system.Server, error,
) {
	if step.Host != "" && step.Host != s.own {
		return nil, nil
	}
	var answer chan<- error
	select {
	case answer = <-s.waiting(turn{step.Node, step.What}):
	case <-s.starting.Done():
		return nil, s.starting.Err()
	}
	server, err := do()
	if server != nil {
		s.mu.Lock()
		s.servers[step.Node] = server
		s.mu.Unlock()
	}
	answer <- err
	return server, err
}

// take has the driver take a step, and returns when it is done.
func (s *hostStage) take(ctx context.Context, t turn) error {
	answer := make(chan error, 1)
	select {
	case s.waiting(t) <- answer:
	case <-s.ended:
		return s.why(t)
	case <-ctx.Done():
		return fmt.Errorf("%s %s: %w", t.What, t.Node, ctx.Err())
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done(): // the driver goes on, until the stage is cleared
		return fmt.Errorf("%s %s: %w", t.What, t.Node, ctx.Err())
	}
}

// why says why an ended start takes no step.
func (s *hostStage) why(t turn) error {
	if s.err != nil {
		return s.err
	}
	return fmt.Errorf("the driver has no step %s of %s", t.What, t.Node)
}

// server returns a server that was started here.
func (s *hostStage) server(node string) (system.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.servers[node]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("there is no server %q on this host", node)
}

// state is what the coordinator knows of a server.
func (s *hostStage) state(node string) started { return s.states()[node] }

// states returns what the coordinator knows of all servers here.
func (s *hostStage) states() map[string]started {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]started, len(s.servers))
	for node, server := range s.servers {
		all[node] = started{PID: server.PID(), Quit: int(server.Quit())}
	}
	return all
}

// check refuses a fault that this cluster cannot have: of others' processes, or another version.
func (s *hostStage) check(b testbed.Breakage) error {
	if v := b.Fault.ToVersion; v != "" && !slices.Contains(s.request.Versions, v) {
		return fmt.Errorf("version %q was not asked for before the start", v)
	}
	if (b.Sides != nil) != (b.Fault.Do == workload.FaultPartition) {
		return fmt.Errorf("%s has %d sides", b.Fault.Do, len(b.Sides))
	}
	var groups []int
	for _, group := range s.request.Groups {
		groups = append(groups, group)
	}
	for _, member := range slices.Concat(b.Sides...) {
		if !slices.Contains(groups, member.Group) {
			return fmt.Errorf("%d is no group of these servers", member.Group)
		}
		for _, host := range member.Hosts {
			if !slices.Contains(s.staging.Machines, host.String()) {
				return fmt.Errorf("%s is no host of these servers", host)
			}
		}
	}
	return nil
}

// command does with a server what the coordinator asks.
func (s *hostStage) command(ctx context.Context, c serverAsk) (now started, err error) {
	server, err := s.server(c.Node)
	if err != nil {
		return now, err
	}
	switch c.Do {
	case serverKill:
		err = server.Kill()
	case serverRestart:
		err = server.Restart()
	case serverStop:
		err = server.Stop(ctx, c.Grace)
	default:
		err = fmt.Errorf("there is no order %q to a server", c.Do)
	}
	return s.state(c.Node), err
}

// up returns when the start has ended, and its error.
func (s *hostStage) up(ctx context.Context) error {
	select {
	case <-s.ended:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kill kills all servers, which the coordinator has stopped if it could.
func (s *hostStage) kill(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := make(chan error, len(s.servers))
	for _, server := range s.servers {
		go func() { failed <- server.Kill() }()
	}
	var err error
	for range s.servers {
		err = errors.Join(err, <-failed)
	}
	return err
}

// await returns how the present life of a server ended.
func (s *hostStage) await(ctx context.Context, node string) (string, error) {
	server, err := s.server(node)
	if err != nil {
		return "", err
	}
	select {
	case <-server.Exited():
	case <-ctx.Done():
		return "", ctx.Err()
	}
	return wordsOf(server.Err()), nil
}

// wordsOf returns an error's words; "": there is none.
func wordsOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// log returns a part of a server's log.
func (s *hostStage) log(a logAsk) ([]byte, error) {
	if _, err := s.server(a.Node); err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(s.logs, a.Node+".log"))
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", a.Node, err)
	}
	defer f.Close()
	b := make([]byte, logPart)
	n, _ := f.ReadAt(b, a.From)
	return b[:n], nil
}

// observe begins to observe the servers of this host.
func (s *hostStage) observe(ctx context.Context) (now observing, err error) {
	if err := s.up(ctx); err != nil {
		return now, err
	}
	if err := s.forget(); err != nil {
		return now, err
	}
	var all []target.Process
	for _, n := range s.bed.Cluster().Nodes() {
		all = append(all, target.Process{Name: n.Name, PID: n.PID})
	}
	o, err := observe.New(all)
	if err != nil {
		return now, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observer = o
	return observing{Servers: o.Servers(), Methods: o.Methods()}, nil
}

// read reads the use since the last reading.
func (s *hostStage) read() (r reading, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.observer == nil {
		return r, errors.New("the servers are not observed")
	}
	for _, n := range s.bed.Cluster().Nodes() {
		if !slices.Contains(s.observer.Servers(), n.Name) { // it joined, unless it has ended
			_ = s.observer.Follow(target.Process{Name: n.Name, PID: n.PID})
		}
	}
	r.Use, r.Ended, r.Back = s.observer.Read()
	return r, nil
}

// operate runs a program that the driver named, until the cluster is cleared at the latest.
func (s *hostStage) operate(ctx context.Context, t turn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.starting, cancel)()
	return s.injector.Operate(ctx, t.Node, t.What)
}

// forget ends the observation.
func (s *hostStage) forget() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.observer == nil {
		return nil
	}
	o := s.observer
	s.observer = nil
	return o.Close()
}

// do does an order about the cluster.
func (s *hostStage) do(ctx context.Context, o *order, read func(cbor.RawMessage, any) error) (
	answer any, err error,
) {
	var t turn
	var node string
	var server serverAsk
	var log logAsk
	var broken testbed.Breakage
	bodies := map[action]any{actionStep: &t, actionOperate: &t, actionAwait: &node,
		actionServer: &server,
		actionLog:    &log, actionBreak: &broken}
	if body := bodies[o.Do]; body != nil {
		if err := read(o.Body, body); err != nil {
			return nil, err
		}
	}
	switch o.Do {
	case actionStep:
		if err := s.take(ctx, t); err != nil {
			return nil, err
		}
		return s.state(t.Node), nil
	case actionAwait:
		return s.await(ctx, node)
	case actionServer:
		return s.command(ctx, server)
	case actionLog:
		return s.log(log)
	case actionObserve:
		return s.observe(ctx)
	case actionRead:
		return s.read()
	case actionForget:
		return nil, s.forget()
	}
	if err := s.up(ctx); err != nil {
		return nil, err
	}
	switch o.Do {
	case actionBreak:
		if err := s.check(broken); err != nil {
			return nil, err
		}
		return s.injector.Break(ctx, broken)
	case actionMend:
		if err := s.injector.Heal(ctx); err != nil {
			return nil, err
		}
		return s.states(), nil
	case actionSync:
		return nil, s.bed.Sync(ctx)
	case actionOperate:
		return nil, s.operate(ctx, t)
	}
	return nil, fmt.Errorf("there is no order %q to a host", o.Do)
}
