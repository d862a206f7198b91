package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

const (
	logPoll  = time.Second // between looks at a server's log
	logMost  = 64 << 20    // bytes of a log that are fetched
	readMost = 3 * time.Second
)

// Hosts are the machines of a fleet that run servers. Its methods may be called from any goroutine.
type Hosts struct {
	team   []*member
	kernel string // of this machine

	mu    sync.Mutex
	stage *awayStage // the last one; nil: there was none
}

var _ testbed.Hosts = (*Hosts)(nil)

// Hosts returns the fleet's hosts, all of which have joined; nil: it has none.
func (c *Coordinator) Hosts() *Hosts {
	team := c.hosts()
	if len(team) == 0 {
		return nil
	}
	return &Hosts{team: team, kernel: c.kernel}
}

// Listen implements testbed.Hosts.
func (h *Hosts) Listen(tell func(sentence string)) {
	for _, m := range h.team {
		if tell == nil {
			m.listen(nil)
			continue
		}
		m.listen(func(e load.Event) { tell(e.Sentence) })
	}
}

// Describe implements testbed.Hosts.
func (h *Hosts) Describe() (all []result.Host) {
	for _, m := range h.team {
		all = append(all, result.Host{Name: m.hello.Name, Machine: m.hello.Host,
			Address: m.hello.Address, Cores: m.hello.Cores, SameMachine: m.sharesClock(h.kernel)})
	}
	return all
}

// all asks every host, and returns when all have answered. An error names its host.
func (h *Hosts) all(do func(m *member) error) error {
	failed := make([]error, len(h.team))
	var wg sync.WaitGroup
	for i, m := range h.team {
		wg.Go(func() { failed[i] = do(m) })
	}
	wg.Wait()
	return errors.Join(failed...)
}

// Prepare implements testbed.Hosts.
func (h *Hosts) Prepare(ctx context.Context, r testbed.Request) error {
	return h.all(func(m *member) error { return m.ask(ctx, actionPrepare, r, nil) })
}

// Begin implements system.Site.
func (h *Hosts) Begin(ctx context.Context, p system.Provision) (system.Stage, error) {
	a, err := authority.New()
	if err != nil {
		return nil, err
	}
	s := &awayStage{hosts: h, starting: ctx, logs: p.LogDir, where: make(map[string]*member)}
	s.plan.Seed = make([]byte, seedBytes)
	rand.Read(s.plan.Seed) // it never fails
	if s.plan.Authority, err = a.Text(); err != nil {
		return nil, err
	}
	for _, m := range h.team {
		s.plan.Machines = append(s.plan.Machines, m.hello.Address)
	}
	h.mu.Lock()
	h.stage = s
	h.mu.Unlock()
	return s, h.all(func(m *member) error { return m.ask(ctx, actionStage, s.plan, nil) })
}

// hostsOf returns the hosts of some nodes, and the nodes of each.
func (h *Hosts) hostsOf(nodes []string) map[*member][]string {
	h.mu.Lock()
	s := h.stage
	h.mu.Unlock()
	found := make(map[*member][]string)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, node := range nodes {
		if m := s.where[node]; m != nil {
			found[m] = append(found[m], node)
		}
	}
	return found
}

// Break implements testbed.Hosts.
func (h *Hosts) Break(ctx context.Context, b testbed.Breakage) (string, error) {
	on := h.hostsOf(b.Nodes)
	var mu sync.Mutex
	var done []string
	err := h.all(func(m *member) error {
		mine := b
		if mine.Nodes = on[m]; len(mine.Nodes) == 0 && b.Sides == nil {
			return nil
		}
		var sentence string
		if err := m.ask(ctx, actionBreak, mine, &sentence); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if sentence != "" {
			done = append(done, sentence)
		}
		return nil
	})
	if b.Sides != nil && err == nil {
		return "cut " + strings.Join(b.Nodes, ", ") + " off from the other nodes", nil
	}
	slices.Sort(done)
	return strings.Join(done, "; "), err
}

// Mend implements testbed.Hosts.
func (h *Hosts) Mend(ctx context.Context) error {
	return h.all(func(m *member) error { return m.ask(ctx, actionMend, nil, nil) })
}

// Sync implements testbed.Hosts.
func (h *Hosts) Sync(ctx context.Context) error {
	return h.all(func(m *member) error { return m.ask(ctx, actionSync, nil, nil) })
}

// awayStage is a cluster on hosts, as its coordinator sees it.
type awayStage struct {
	hosts    *Hosts
	plan     staging
	starting context.Context
	logs     string // the folder of the servers' logs on this machine
	watching sync.WaitGroup

	mu    sync.Mutex
	where map[string]*member // by the names of nodes
}

var _ system.Stage = (*awayStage)(nil)

// Machines implements system.Stage.
func (s *awayStage) Machines() []string { return s.plan.Machines }

// Own implements system.Stage.
func (s *awayStage) Own() string { return "" }

// Seed implements system.Stage.
func (s *awayStage) Seed() []byte { return s.plan.Seed }

// Authority implements system.Stage.
func (s *awayStage) Authority() []byte { return s.plan.Authority }

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
		if err := m.ask(s.starting, actionStep, t, &now); err != nil || now.PID == 0 {
			return nil, err
		}
		s.mu.Lock()
		s.where[step.Node] = m
		s.mu.Unlock()
		return s.follow(m, step.Node, now), nil
	}
	return nil, fmt.Errorf("%s is on %s, which is no host", step.Node, step.Host)
}

// Upgrade implements system.Stage.
func (s *awayStage) Upgrade(ctx context.Context, node, version string) error {
	for m := range s.hosts.hostsOf([]string{node}) {
		return m.ask(ctx, actionServer, serverAsk{Node: node, Do: serverUpgrade, Version: version},
			nil)
	}
	return fmt.Errorf("there is no node %s", node)
}

// End implements system.Stage.
func (s *awayStage) End() error {
	ctx, cancel := context.WithTimeout(context.Background(), endLimit+answerLimit)
	defer cancel()
	err := s.hosts.all(func(m *member) error {
		return unlessLost(m.ask(ctx, actionClear, nil, nil))
	})
	s.watching.Wait() // the servers have ended, or their hosts are lost
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

// follow watches a server that has just been started.
func (s *awayStage) follow(m *member, node string, now started) *away {
	a := &away{host: m, stage: s, node: node, quit: syscall.Signal(now.Quit)}
	a.begin(now)
	return a
}

// begin watches a life of the server.
func (a *away) begin(now started) {
	exited := make(chan struct{})
	a.mu.Lock()
	a.pid, a.err, a.exited = now.PID, nil, exited
	a.mu.Unlock()
	a.stage.watching.Go(func() {
		defer close(exited)
		var how string
		err := a.host.ask(context.Background(), actionAwait, a.node, &how)
		if err == nil && how != "" {
			err = errors.New(how)
		}
		a.copyLog()
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
				a.copyLog()
			}
		}
	})
}

// copyLog copies what the log has more. A log that cannot be copied is shorter.
func (a *away) copyLog() {
	a.copying.Lock()
	defer a.copying.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	path := filepath.Join(a.stage.logs, a.node+".log")
	for a.copied < logMost {
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
		if a.copied += int64(len(part)); a.copied >= logMost && err == nil {
			_, _ = fmt.Fprintf(f, "\n(plimsoll copies the first %d bytes of a log)\n", logMost)
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
	return a.command(ctx, serverAsk{Node: a.node, Do: serverStop, Grace: grace}, nil)
}

// Kill implements system.Server.
func (a *away) Kill() error {
	return a.command(context.Background(), serverAsk{Node: a.node, Do: serverKill}, nil)
}

// command has the host do something that ends the server. With its host the server is gone.
func (a *away) command(ctx context.Context, c serverAsk, now *started) error {
	ctx, cancel := context.WithTimeout(ctx, c.Grace+answerLimit)
	defer cancel()
	if now == nil {
		if err := unlessLost(a.host.ask(ctx, actionServer, c, nil)); err != nil {
			return err
		}
		select {
		case <-a.Exited():
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%s %s: its host did not say that it ended: %w", c.Do, a.node,
				ctx.Err())
		}
	}
	return a.host.ask(ctx, actionServer, c, now)
}

// Restart implements system.Server.
func (a *away) Restart() error {
	var now started
	if err := a.command(context.Background(), serverAsk{Node: a.node, Do: serverRestart},
		&now); err != nil {
		return err
	}
	a.begin(now)
	return nil
}

// hostsObserver reads the use of all hosts.
type hostsObserver struct {
	hosts   *Hosts
	servers []string
	methods []string
}

// Observe implements testbed.Hosts.
func (h *Hosts) Observe() (testbed.Observer, error) {
	o := &hostsObserver{hosts: h}
	var mu sync.Mutex
	err := h.all(func(m *member) error {
		var now observing
		if err := m.order(actionObserve, nil, &now); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		o.servers = append(o.servers, now.Servers...)
		for _, one := range now.Methods {
			if !slices.Contains(o.methods, one) {
				o.methods = append(o.methods, one)
			}
		}
		return nil
	})
	slices.Sort(o.servers)
	return o, err
}

// Servers implements testbed.Observer.
func (o *hostsObserver) Servers() []string { return o.servers }

// Methods implements testbed.Observer.
func (o *hostsObserver) Methods() []string { return o.methods }

// Read implements testbed.Observer. A host that does not answer in time adds nothing.
func (o *hostsObserver) Read() (r result.Resources, ended, back []target.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), readMost)
	defer cancel()
	all := make([]reading, len(o.hosts.team))
	var wg sync.WaitGroup
	for i, m := range o.hosts.team {
		// The loss of a host ends the run.
		wg.Go(func() { _ = m.ask(ctx, actionRead, nil, &all[i]) })
	}
	wg.Wait()
	machines := map[string]bool{o.hosts.kernel: true} // each is read once
	for i, m := range o.hosts.team {
		name := m.hello.Name
		ended, back = append(ended, all[i].Ended...), append(back, all[i].Back...)
		for _, p := range all[i].Use.Processes {
			if p.Name == result.Self {
				p.Name = result.HostProcess(name)
			}
			r.Processes = append(r.Processes, p)
		}
		if kernel := m.hello.Kernel; kernel != "" && machines[kernel] {
			continue
		}
		machines[m.hello.Kernel] = true
		for _, d := range all[i].Use.Disks {
			d.Name = name + " " + d.Name
			r.Disks = append(r.Disks, d)
		}
		r.Hosts = append(r.Hosts, result.NamedHostUse{Name: name, HostUse: all[i].Use.Host})
	}
	return r, ended, back
}

// Close implements testbed.Observer.
func (o *hostsObserver) Close() error {
	return o.hosts.all(func(m *member) error {
		return unlessLost(m.order(actionForget, nil, nil))
	})
}
