package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
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
func (c *Coordinator) Hosts() testbed.Hosts {
	team := c.hosts()
	if len(team) == 0 {
		return nil
	}
	return &Hosts{team: team, kernel: c.kernel}
}

// Coordinates implements system.Site.
func (h *Hosts) Coordinates() bool { return true }

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
	return errors.Join(driver.DoAll(len(h.team), func(i int) error { return do(h.team[i]) })...)
}

// serving is all of the hosts that have servers.
func (h *Hosts) serving(do func(m *member) error) error {
	on := h.hostsOf(nil)
	return h.all(func(m *member) error {
		if _, serves := on[m]; !serves {
			return nil
		}
		return do(m)
	})
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
	s := &awayStage{hosts: h, starting: ctx, logs: p.LogDir, servers: make(map[string]*away)}
	s.watched, s.unwatch = context.WithCancel(context.WithoutCancel(ctx))
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
	err = h.all(func(m *member) error { return m.ask(ctx, actionStage, s.plan, nil) })
	if err != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit)
		defer cancel()
		return nil, errors.Join(err, s.End(ending))
	}
	return s, nil
}

// present returns the cluster that was started last; nil: there was none.
func (h *Hosts) present() *awayStage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stage
}

// hostsOf returns the hosts that have servers, and which of the nodes each of them has.
func (h *Hosts) hostsOf(nodes []string) map[*member][]string {
	found := make(map[*member][]string)
	s := h.present()
	if s == nil {
		return found
	}
	for node, a := range s.all() {
		here := found[a.host]
		if slices.Contains(nodes, node) {
			here = append(here, node)
		}
		found[a.host] = here
	}
	return found
}

// Break implements testbed.Hosts. A partition concerns every host that has servers.
func (h *Hosts) Break(ctx context.Context, b testbed.Breakage) (string, error) {
	on := h.hostsOf(b.Nodes)
	var mu sync.Mutex
	var done []string
	err := h.serving(func(m *member) error {
		mine := b
		mine.Nodes = on[m]
		if len(mine.Nodes) == 0 && b.Sides == nil {
			return nil
		}
		var sentence string
		if err := m.ask(ctx, actionBreak, mine, &sentence); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if sentence != "" {
			done = append(done, document.Clean(load.BoundText(sentence)))
		}
		return nil
	})
	if b.Sides != nil && err == nil {
		return "cut " + strings.Join(b.Nodes, ", ") + " off from the other nodes", nil
	}
	slices.Sort(done)
	return strings.Join(done, "; "), err
}

// Mend implements testbed.Hosts. Servers that a host has started again are watched again.
func (h *Hosts) Mend(ctx context.Context) error {
	s := h.present()
	if s == nil {
		return nil
	}
	return h.serving(func(m *member) error {
		var now map[string]started
		if err := m.ask(ctx, actionMend, nil, &now); err != nil {
			return err
		}
		for node, a := range s.all() {
			if again, has := now[node]; has && a.host == m && again.PID != a.PID() {
				a.begin(again)
			}
		}
		return nil
	})
}

// DropPageCache implements testbed.Hosts.
func (h *Hosts) DropPageCache(ctx context.Context) error {
	return h.all(func(m *member) error { return m.ask(ctx, actionDrop, nil, nil) })
}

// Sync implements testbed.Hosts.
func (h *Hosts) Sync(ctx context.Context) error {
	return h.serving(func(m *member) error { return m.ask(ctx, actionSync, nil, nil) })
}
