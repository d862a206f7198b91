package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// partLimit bounds the end of a worker's part of a run.
const partLimit = 10 * time.Second

// runShare is a worker's part of the present run, if there is one. One order at a time changes it.
type runShare struct {
	mu      sync.Mutex
	local   *load.Local
	cluster system.Cluster
	undo    func() // gives back what the load had to itself
}

// means are what a share works with.
type means struct {
	systems *system.Registry
	clock   clock.Clock
	tell    func(load.Event)
	say     func(sentence string)
}

// begin connects to the target of an assignment.
func (p *runShare) begin(ctx context.Context, a Assignment, m means) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local != nil {
		return errors.New("the worker is in a run already")
	}
	plan, options, of, err := a.read(m.systems)
	if err != nil {
		return err
	}
	p.undo = load.MakeRoom(0, load.SharesMachine(options.Endpoints))
	cluster, err := of.Connect(ctx, options)
	if err != nil {
		p.undo()
		return fmt.Errorf("connect: %w", err)
	}
	if _, embedded := of.(system.Embedded); embedded {
		// Each worker has a system of its own, whose topics nobody else makes.
		for _, topic := range plan.Topics() {
			if err := cluster.CreateTopic(ctx, topic); err != nil {
				p.undo()
				return errors.Join(err, cluster.Close(ctx))
			}
		}
	}
	p.cluster = cluster
	p.local = load.NewLocal(plan, load.Means{Clock: m.clock, Name: clockName, Cluster: cluster,
		Tell: m.tell})
	m.say(fmt.Sprintf("part %d of %d of run %s on %s", plan.Share.Worker+1, plan.Share.Workers,
		plan.Prefix, a.System))
	return nil
}

// read checks an assignment as the input that it is.
func (a Assignment) read(systems *system.Registry) (plan load.Plan, o system.Options,
	of system.System, err error,
) {
	w, err := workload.Parse("plan", []byte(a.Workload))
	if err != nil {
		return plan, o, nil, err
	}
	if of, err = systems.Get(a.System); err != nil {
		return plan, o, nil, err
	}
	settings, err := of.Describe().Resolve(w.Clients, a.Settings)
	if err != nil {
		return plan, o, nil, err
	}
	encrypted, err := a.Options.Trust.Config()
	if err != nil {
		return plan, o, nil, err
	}
	w.Partitions = a.Plan.Partitions
	if err := w.Validate(); err != nil {
		return plan, o, nil, err
	}
	if s := a.Plan.Share; s.Workers < 1 || s.Worker < 0 || s.Worker >= s.Workers {
		return plan, o, nil, fmt.Errorf("there is no share %d of %d", s.Worker, s.Workers)
	}
	return load.Plan{Workload: *w, Run: a.Plan.Run, Prefix: a.Plan.Prefix, Spread: a.Plan.Spread,
			Share: a.Plan.Share},
		system.Options{Endpoints: a.Options.Endpoints, Credentials: a.Options.Credentials,
			TLS: encrypted, Settings: settings, Durability: w.Durability,
			MaxUSD: a.Options.MaxUSD}, of, nil
}

// worker returns the worker of the present run.
func (p *runShare) worker() (load.Worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local == nil {
		return nil, errors.New("the worker is in no run")
	}
	return p.local, nil
}

func (p *runShare) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.local == nil
}

// finish ends the share: its load, its clients and its connection. It may be called again.
func (p *runShare) finish() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local == nil {
		return nil
	}
	err := p.local.Halt(partLimit)
	ctx, cancel := context.WithTimeout(context.Background(), partLimit)
	defer cancel()
	if closing := p.cluster.Close(ctx); closing != nil {
		err = errors.Join(err, fmt.Errorf("disconnect: %w", closing))
	}
	p.undo()
	p.local, p.cluster = nil, nil
	return err
}
