package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	logPoll   = time.Second     // between looks at a server's log
	copyLimit = 5 * time.Second // of copying the end of a log
	// clearLimit bounds the removal of a host's servers and their data.
	clearLimit = 3 * time.Minute
)

// awayStage is a cluster on hosts, as its coordinator sees it.
type awayStage struct {
	hosts    *Hosts
	plan     staging
	starting context.Context
	logs     string          // the folder of the servers' logs on this machine
	watched  context.Context // until the servers are no longer watched
	unwatch  context.CancelFunc
	watching sync.WaitGroup

	mu      sync.Mutex
	servers map[string]*away // by the names of nodes
}

var _ system.Lead = (*awayStage)(nil)

// Machines implements system.Stage.
func (s *awayStage) Machines() []string { return s.plan.Machines }

// Own implements system.Stage.
func (s *awayStage) Own() string { return "" }

// Seed implements system.Stage.
func (s *awayStage) Seed() []byte { return s.plan.Seed }

// Authority implements system.Stage.
func (s *awayStage) Authority() []byte { return s.plan.Authority }

// all returns the servers that were started, by the names of their nodes.
func (s *awayStage) all() map[string]*away {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.servers)
}

// Step implements system.Stage.
func (s *awayStage) Step(step system.Step, _ func() (system.Server, error)) (
	system.Server, error,
) {
	t := turn{step.Node, step.What}
	if step.Host == "" {
		return nil, s.hosts.all(func(m *member) error {
			return m.ask(s.starting, actionStep, t, nil)
		})
	}
	for _, m := range s.hosts.team {
		if m.hello.Address != step.Host {
			continue
		}
		var now started
		err := m.ask(s.starting, actionStep, t, &now)
		if known := s.all()[step.Node] != nil; err != nil || now == (started{}) || known {
			return nil, err
		}
		a := &away{host: m, stage: s, node: step.Node, quit: syscall.Signal(now.Quit)}
		a.begin(now)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.servers[step.Node] = a
		return a, nil
	}
	return nil, fmt.Errorf("%s is on %s, which is no host", step.Node, step.Host)
}

// Operate implements system.Lead.
func (s *awayStage) Operate(ctx context.Context, node, program string) error {
	a := s.all()[node]
	if a == nil {
		return fmt.Errorf("there is no node %s", node)
	}
	return a.host.ask(ctx, actionOperate, turn{node, program}, nil)
}

// CopyLogs implements system.Lead.
func (s *awayStage) CopyLogs(ctx context.Context) {
	var wg sync.WaitGroup
	for _, a := range s.all() {
		wg.Go(func() { a.copyLog(ctx) })
	}
	wg.Wait()
}

// End implements system.Lead.
func (s *awayStage) End(ctx context.Context) error {
	copying, cancel := context.WithTimeout(ctx, copyLimit)
	s.CopyLogs(copying)
	cancel()
	// Data is removed whatever time the stop of the servers has left.
	clearing, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearLimit)
	defer cancel()
	err := s.hosts.all(func(m *member) error {
		return unlessLost(m.ask(clearing, actionClear, nil, nil))
	})
	s.unwatch()
	s.watching.Wait()
	return err
}

// away is a server on a host. Its log is copied to this machine.
type away struct {
	host  *member
	stage *awayStage
	node  string
	quit  syscall.Signal

	mu     sync.Mutex
	pid    int
	exited chan struct{} // closed at the end of the present life
	err    error

	copying sync.Mutex
	copied  int64 // bytes of the log
}

var _ system.Server = (*away)(nil)

// begin watches a life of the server.
func (a *away) begin(now started) {
	exited := make(chan struct{})
	a.mu.Lock()
	a.pid, a.err, a.exited = now.PID, nil, exited
	a.mu.Unlock()
	if now.PID == 0 { // it starts later
		close(exited)
		return
	}
	a.stage.watching.Go(func() {
		defer close(exited)
		var how string
		err := a.host.ask(a.stage.watched, actionAwait, a.node, &how)
		if err == nil && how != "" {
			err = errors.New(how)
		}
		ctx, cancel := context.WithTimeout(a.stage.watched, copyLimit)
		defer cancel()
		a.copyLog(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.err = err
	})
	a.stage.watching.Go(func() {
		look := time.NewTicker(logPoll)
		defer look.Stop()
		for {
			select {
			case <-exited:
				return
			case <-look.C:
				a.copyLog(a.stage.watched)
			}
		}
	})
}

// copyLog copies what the log has more. A log that cannot be copied is shorter.
func (a *away) copyLog(ctx context.Context) {
	a.copying.Lock()
	defer a.copying.Unlock()
	path := filepath.Join(a.stage.logs, a.node+".log")
	for a.copied < process.MostLog && ctx.Err() == nil {
		var part []byte
		err := a.host.ask(ctx, actionLog, logAsk{a.node, a.copied}, &part)
		if err != nil || len(part) == 0 {
			return
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return
		}
		_, err = f.Write(part)
		if a.copied += int64(len(part)); a.copied >= process.MostLog && err == nil {
			_, _ = fmt.Fprintf(f, "\n(plimsoll copies the first %d bytes of a log)\n",
				process.MostLog)
		}
		if errors.Join(err, f.Close()) != nil || len(part) < logPart {
			return
		}
	}
}

// PID implements system.Server.
func (a *away) PID() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pid
}

// Quit implements system.Server.
func (a *away) Quit() syscall.Signal { return a.quit }

// Exited implements system.Server.
func (a *away) Exited() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.exited
}

// Err implements system.Server.
func (a *away) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Stop implements system.Server.
func (a *away) Stop(ctx context.Context, grace time.Duration) error {
	return a.end(ctx, serverAsk{Node: a.node, Do: serverStop, Grace: grace})
}

// Kill implements system.Server.
func (a *away) Kill() error {
	return a.end(context.Background(), serverAsk{Node: a.node, Do: serverKill})
}

// end has the host end the server. With its host the server is gone.
func (a *away) end(ctx context.Context, c serverAsk) error {
	ctx, cancel := context.WithTimeout(ctx, c.Grace+answerLimit)
	defer cancel()
	if err := unlessLost(a.host.ask(ctx, actionServer, c, nil)); err != nil {
		return err
	}
	told := time.NewTimer(2 * copyLimit) // its end is told with the end of its log
	defer told.Stop()
	select {
	case <-a.Exited():
		return nil
	case <-told.C:
		return fmt.Errorf("%s %s: its host did not say that it ended", c.Do, a.node)
	}
}

// Restart implements system.Server.
func (a *away) Restart() error {
	var now started
	err := a.host.order(actionServer, serverAsk{Node: a.node, Do: serverRestart}, &now)
	if err != nil {
		return err
	}
	a.begin(now)
	return nil
}
