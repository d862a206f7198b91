package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Injector breaks the servers of a testbed and mends them. Its methods may be
// called from any goroutine; one fault is under way at a time.
type Injector struct {
	bed *testbed.Testbed

	mu   sync.Mutex
	draw *rand.Rand
	hit  []system.Node // by the fault that is under way; empty: none is
	undo []step        // the last one first
}

// step undoes a part of a fault. It may be called again when it failed.
type step func(ctx context.Context) error

// New is an injector for a testbed, which ends what is under way when the testbed
// is closed. Who is hit by a fault that names nobody is drawn from the seed.
func New(bed *testbed.Testbed, seed uint64) *Injector {
	i := &Injector{bed: bed, draw: rand.New(rand.NewPCG(seed, 0))}
	bed.BeforeClose(func(ctx context.Context) error {
		i.mu.Lock()
		defer i.mu.Unlock()
		return i.revoke(ctx) // what has ended need not start again
	})
	return i
}

// Inject does a fault, as system.Injector says.
func (i *Injector) Inject(ctx context.Context, f workload.Fault, leader string) (system.Injected, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.hit) > 0 {
		return system.Injected{}, errors.New("a fault is under way already: heal it before the next")
	}
	nodes := i.bed.Cluster().Nodes()
	chosen, err := choose(nodes, f, leader, i.draw)
	if err == nil {
		err = i.able(f, nodes)
	}
	if err != nil {
		return system.Injected{}, err
	}
	i.hit = chosen
	done, err := i.do(ctx, f.Do, chosen)
	injected := system.Injected{Nodes: namesOf(chosen), Sentence: done}
	if err != nil {
		return injected, fmt.Errorf("%s %s: %w", f.Do, strings.Join(injected.Nodes, ", "), err)
	}
	return injected, nil
}

// able says why a fault cannot be done to these servers.
func (i *Injector) able(f workload.Fault, nodes []system.Node) error {
	if !slices.Contains(workload.FaultKinds(), f.Do) {
		return unknownKind(f.Do)
	}
	if _, able := i.bed.Cluster().(system.Restarter); !able || nodes[0].PID == os.Getpid() {
		return errors.New("the servers live in one process and cannot be broken one by one")
	}
	need := Prepare([]workload.Fault{f})
	for _, n := range nodes {
		switch {
		case need.Disks && i.bed.Disk(n.Name) == nil:
			return fmt.Errorf("%s: the nodes have no disks of their own: they must be given some when the cluster starts, as testbed up --breakable does", f.Do)
		case need.Groups && i.bed.Group(n.Name) == 0:
			return fmt.Errorf("%s: the nodes cannot be told apart: they must be given groups when the cluster starts, as testbed up --breakable does", f.Do)
		}
	}
	return nil
}

// do does it, and says in a sentence what it did.
func (i *Injector) do(ctx context.Context, kind workload.FaultKind, chosen []system.Node) (string, error) {
	who := strings.Join(namesOf(chosen), ", ")
	switch kind {
	case workload.FaultKill:
		return "killed " + who, i.kill(chosen)
	case workload.FaultPause:
		return "paused " + who, i.pause(ctx, chosen)
	case workload.FaultRestart:
		return i.stop(ctx, chosen)
	case workload.FaultPowerCut:
		return i.cutPower(ctx, chosen)
	case workload.FaultSlowDisk:
		return i.slowDisk(chosen)
	case workload.FaultFullDisk:
		return "filled the disk of " + who, i.fillDisk(chosen)
	case workload.FaultPartition:
		return "cut " + who + " off from the other nodes", i.partition(chosen)
	case workload.FaultCutClients:
		return "cut " + who + " off from all clients", i.cutClients(chosen)
	}
	return "", unknownKind(kind)
}

func unknownKind(kind workload.FaultKind) error {
	return fmt.Errorf("there is no fault %q: those that are: %s", kind, strings.Trim(fmt.Sprint(workload.FaultKinds()), "[]"))
}

// Heal undoes the fault that is under way and starts what has ended of it. It
// can be called again when it failed.
func (i *Injector) Heal(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.hit) == 0 {
		return nil
	}
	err := i.revoke(ctx)
	if err == nil {
		err = i.revive()
	}
	if err != nil {
		return fmt.Errorf("healing %s: %w", strings.Join(namesOf(i.hit), ", "), err)
	}
	i.hit = nil
	return nil
}

// revoke undoes what was done, but for starting servers. What fails stays to be
// undone.
func (i *Injector) revoke(ctx context.Context) error {
	var kept []step
	var failed []error
	for n := len(i.undo) - 1; n >= 0; n-- {
		if err := i.undo[n](ctx); err != nil {
			kept, failed = append([]step{i.undo[n]}, kept...), append(failed, err)
		}
	}
	i.undo = kept
	return errors.Join(failed...)
}

// revive starts those of the hit that have ended: by the fault itself, or because
// they could not bear it.
func (i *Injector) revive() error {
	hit := map[string]bool{}
	for _, n := range i.hit {
		hit[n.Name] = true
	}
	var failed []error
	for _, n := range i.bed.Cluster().Nodes() {
		if hit[n.Name] && !alive(n.PID) {
			failed = append(failed, i.restarter().Restart(n.Name))
		}
	}
	return errors.Join(failed...)
}

func (i *Injector) restarter() system.Restarter { return i.bed.Cluster().(system.Restarter) }

func namesOf(nodes []system.Node) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Name)
	}
	return all
}
