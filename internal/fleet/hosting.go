package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Hosting makes a member of a fleet one that runs servers.
type Hosting struct {
	Address string // IPv4, that the servers listen on
	Base    string // the folder below which their data is
}

const (
	logPart  = 32 << 10         // bytes of a log in an answer
	endLimit = 30 * time.Second // of the end of a host's servers
)

// hosted is the cluster of which a host runs a part, and its part of it. There is at most one.
type hosted struct {
	Hosting
	systems *system.Registry
	say     func(sentence string)

	mu      sync.Mutex
	request *testbed.Request // of the last prepare; nil: there was none
	stage   *hostStage       // nil: no cluster
}

// prepare checks what the coordinator asks for as the input that it is, and downloads software.
func (h *hosted) prepare(ctx context.Context, r testbed.Request) error {
	of, settings, err := h.read(r)
	if err != nil {
		return err
	}
	if err := system.FindSoftware(of, settings); err != nil {
		return err
	}
	if err := os.MkdirAll(h.Base, 0o700); err != nil {
		return fmt.Errorf("make the folder of the servers' data: %w", err)
	}
	if err := testbed.CheckDisk(h.Base, r.NeedBytes/int64(r.Nodes+r.Extra)); err != nil {
		return err
	}
	if err := fault.CheckMachine(ctx, r.Prepare, h.Base); err != nil {
		return err
	}
	all, err := versionsOf(of, settings, r)
	if err != nil {
		return err
	}
	if f, fetches := of.(system.Fetcher); fetches {
		for _, one := range all {
			if err := f.Fetch(ctx, one, h.say); err != nil {
				return err
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.request = &r
	return nil
}

// read returns the system that a request names, and the settings, if this host starts such servers.
func (h *hosted) read(r testbed.Request) (of system.System, s system.Settings, err error) {
	if of, err = h.systems.Get(r.System); err != nil {
		return nil, s, err
	}
	if _, starts := of.(system.Provisioner); !starts || !of.Describe().Spreads {
		return nil, s, fmt.Errorf("plimsoll starts no servers of %s on hosts", r.System)
	}
	if s, err = system.Resolve(of.Describe().Settings, r.Settings); err != nil {
		return nil, s, err
	}
	if s.Given(driver.SetPrograms) {
		return nil, s, fmt.Errorf("%s names a folder, and a host takes programs only from where "+
			"packages put them: leave it out", driver.SetPrograms)
	}
	if r.Nodes < 1 || r.Nodes > target.MaxNodes {
		return nil, s, fmt.Errorf("%d nodes: use 1 to %d", r.Nodes, target.MaxNodes)
	}
	if r.Later < 0 || r.Later > r.Extra || r.Extra > workload.MaxExtra {
		return nil, s, fmt.Errorf("%d extra nodes, %d of them later: use %d or fewer", r.Extra,
			r.Later, workload.MaxExtra)
	}
	for _, group := range r.Groups {
		if err := testbed.CheckGroup(group); err != nil {
			return nil, s, err
		}
	}
	names := of.(system.Provisioner).NodeNames(r.Provision(s))
	if len(names) == 0 {
		return nil, s, fmt.Errorf("the servers of %s would run in the host's own process", r.System)
	}
	return of, s, refuse(of, s, r)
}

// refuse returns the reason why a system cannot do what is asked with these settings.
func refuse(of system.System, s system.Settings, r testbed.Request) error {
	check := system.Check{Settings: s, Durability: r.Durability,
		Delivery: workload.AtLeastOnce, Nodes: r.Nodes}
	if why := system.WhyNoResize(of, check); r.Extra > 0 && why != "" {
		return fmt.Errorf("servers of %s neither join nor leave under load (%s)", r.System, why)
	}
	return system.Refuse(of, check)
}

// versionsOf returns the settings with each version in which servers may be started.
func versionsOf(of system.System, s system.Settings, r testbed.Request) ([]system.Settings, error) {
	all := []system.Settings{s}
	for _, v := range r.Versions {
		later, err := s.Versioned(v)
		if err == nil {
			err = refuse(of, later, r)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, later)
	}
	return all, nil
}

// begin begins a start of the prepared cluster, in the place of the last one.
func (h *hosted) begin(ctx context.Context, given staging) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.clearLocked(); err != nil {
		return err
	}
	if h.request == nil {
		return errors.New("the host was not asked to prepare for a cluster")
	}
	if err := given.check(h.Address); err != nil {
		return err
	}
	of, settings, err := h.read(*h.request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &hostStage{staging: given, request: *h.request, own: h.Address, cancel: cancel,
		ended: make(chan struct{}), turns: make(map[turn]chan chan<- error),
		servers: make(map[string]system.Server)}
	h.stage = s
	r, p := h.request, h.request.Provision(settings)
	p.Site = s
	h.say(fmt.Sprintf("starting servers of %s at %s", r.System, h.Address))
	go func() {
		defer close(s.ended)
		s.bed, s.err = testbed.Up(ctx, testbed.Options{
			Base: h.Base, Provisioner: of.(system.Provisioner), Prepare: r.Prepare,
			NeedBytes: r.NeedBytes / int64(r.Nodes+r.Extra),
			Provision: p,
		})
		if s.err == nil {
			s.injector = fault.New(s.bed, 0)
			s.bed.BeforeClose(s.kill) // once the injector has healed
		}
	}()
	return nil
}

// present returns the cluster that runs or starts.
func (h *hosted) present() (*hostStage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stage == nil {
		return nil, errors.New("the host runs no servers")
	}
	return h.stage, nil
}

// clear heals faults, kills the servers and removes their data. It can be repeated.
func (h *hosted) clear() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clearLocked()
}

func (h *hosted) clearLocked() error {
	s := h.stage
	if s == nil {
		return nil
	}
	s.cancel()
	<-s.ended
	err := s.forget()
	if s.bed != nil {
		ctx, cancel := context.WithTimeout(context.Background(), endLimit)
		defer cancel()
		if closing := s.bed.Close(ctx); closing != nil {
			return errors.Join(err, closing)
		}
	}
	h.stage = nil
	return err
}

// do does an order.
func (h *hosted) do(ctx, whole context.Context, o *order, read func(cbor.RawMessage, any) error) (
	answer any, err error,
) {
	var request testbed.Request
	var given staging
	bodies := map[action]any{actionPrepare: &request, actionStage: &given}
	if body := bodies[o.Do]; body != nil {
		if err := read(o.Body, body); err != nil {
			return nil, err
		}
	}
	switch o.Do {
	case actionPrepare:
		return nil, h.prepare(ctx, request)
	case actionStage:
		return nil, h.begin(whole, given)
	case actionDrop:
		return nil, bench.DropPageCache()
	case actionClear:
		return nil, h.clear()
	}
	s, err := h.present()
	if err != nil {
		return nil, err
	}
	return s.do(ctx, o, read)
}

// idle reports whether no servers run.
func (h *hosted) idle() bool {
	_, err := h.present()
	return err != nil
}
