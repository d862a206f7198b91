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

	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Injector injects faults into the servers of a testbed and heals them. It is safe for
// concurrent use. Only one fault can be under way at a time.
type Injector struct {
	bed *testbed.Testbed

	mu   sync.Mutex
	draw *rand.Rand
	hit  []system.Node // by the fault that is under way; empty: no fault is
	undo []step        // in the order of injection; revoke runs them backwards
}

// step undoes a part of a fault. It can be repeated after an error.
type step func(ctx context.Context) error

// New returns an injector for a testbed. Closing the testbed ends the fault that is under
// way. The targets that a fault does not name are drawn from the seed.
func New(bed *testbed.Testbed, seed uint64) *Injector {
	i := &Injector{bed: bed, draw: rand.New(rand.NewPCG(seed, 0))}
	bed.BeforeClose(func(ctx context.Context) error {
		i.mu.Lock()
		defer i.mu.Unlock()
		return i.revoke(ctx) // the servers need not start again
	})
	return i
}

// Inject implements system.Injector.
func (i *Injector) Inject(
	ctx context.Context, f workload.Fault, leader string,
) (system.Injected, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.hit) > 0 {
		return system.Injected{}, errUnderWay
	}
	nodes := i.bed.Cluster().Nodes()
	chosen, err := i.choose(nodes, f, leader)
	if err == nil {
		err = i.check(f, nodes)
	}
	if err != nil {
		return system.Injected{}, err
	}
	if !f.Do.Resizes() { // which is not healed
		i.hit = chosen
	}
	done, err := i.begin(ctx, f, chosen)
	injected := system.Injected{Nodes: namesOf(chosen), Sentence: done}
	if err != nil {
		return injected, fmt.Errorf("%s %s: %w", f.Do, strings.Join(injected.Nodes, ", "), err)
	}
	return injected, nil
}

// choose returns the nodes that a fault hits.
func (i *Injector) choose(nodes []system.Node, f workload.Fault, leader string) (
	[]system.Node, error,
) {
	if f.Do.Resizes() {
		return i.Next(f.Do)
	}
	return choose(nodes, f, leader, i.draw)
}

// begin injects a fault, on the machines of the nodes.
func (i *Injector) begin(ctx context.Context, f workload.Fault, chosen []system.Node) (
	string, error,
) {
	hosts := i.bed.Hosts()
	if hosts == nil || f.Do.Resizes() { // the cluster knows where its servers are
		return i.do(ctx, f, chosen)
	}
	b := testbed.Breakage{Fault: f, Nodes: namesOf(chosen)}
	if f.Do == workload.FaultPartition {
		sides, err := i.sides(chosen)
		if err != nil {
			return "", err
		}
		b.Sides = sides
	}
	return hosts.Break(ctx, b) // Heal mends it, and so does the end of the servers
}

// Break injects a fault into nodes of this machine, for the coordinator of several machines. Heal
// must follow.
func (i *Injector) Break(ctx context.Context, b testbed.Breakage) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.hit) > 0 {
		return "", errUnderWay
	}
	// Only the coordinator knows which ended server has left for good.
	nodes := slices.DeleteFunc(i.bed.Cluster().Nodes(),
		func(n system.Node) bool { return n.Ended })
	mine := slices.DeleteFunc(slices.Clone(nodes),
		func(n system.Node) bool { return !slices.Contains(b.Nodes, n.Name) })
	switch {
	case len(mine) == 0 && b.Sides == nil:
		return "", fmt.Errorf("none of the nodes %s runs on this machine",
			strings.Join(b.Nodes, ", "))
	case len(nodes) == 0:
		return "", nil // its server has not joined yet, or has left: it has no part in a partition
	}
	if err := i.check(b.Fault, nodes); err != nil {
		return "", err
	}
	i.hit = nodes
	if b.Sides != nil {
		return "", i.raise(func(table string) error { return firewall.Separate(table, b.Sides) })
	}
	i.hit = mine
	return i.do(ctx, b.Fault, mine)
}

// errNoCut refuses to cut servers on hosts off from their clients.
var errNoCut = errors.New("hosts cannot cut servers off from clients on other machines: use a " +
	"partition")

var errUnderWay = errors.New("a fault is under way already: heal it before you inject the next")

// check returns an error when a fault cannot be injected into these servers.
func (i *Injector) check(f workload.Fault, nodes []system.Node) error {
	if !known(f.Do) {
		return unknownKind(f.Do)
	}
	if i.bed.Hosts() != nil {
		if f.Do == workload.FaultCutClients {
			return errNoCut
		}
		return nil // each host checks what it can do
	}
	if _, able := i.bed.Cluster().(system.Restarter); !able || nodes[0].PID == os.Getpid() {
		return errors.New("the servers run in one process and cannot be broken one by one: " +
			"choose a target whose servers are processes")
	}
	need := Prepare([]workload.Fault{f})
	for _, n := range nodes {
		switch {
		case need.Disks && i.bed.Disk(n.Name) == nil:
			return fmt.Errorf("%s: the nodes have no disks of their own: "+
				"start the cluster with testbed up --breakable", f.Do)
		case need.Groups && i.bed.Group(n.Name) == 0:
			return fmt.Errorf("%s: the nodes have no groups of their own: "+
				"start the cluster with testbed up --breakable", f.Do)
		}
	}
	return nil
}

// do injects a fault, and returns a sentence that describes the injection.
func (i *Injector) do(
	ctx context.Context, f workload.Fault, chosen []system.Node,
) (string, error) {
	names := strings.Join(namesOf(chosen), ", ")
	switch f.Do {
	case workload.FaultKill:
		return "killed " + names, i.kill(chosen)
	case workload.FaultPause:
		return "paused " + names, i.pause(ctx, chosen)
	case workload.FaultRestart:
		return i.stop(ctx, chosen)
	case workload.FaultRollingRestart:
		return i.stopInTurn(ctx, chosen, f.ToVersion)
	case workload.FaultScaleOut:
		return "started " + names, i.join(chosen)
	case workload.FaultScaleIn:
		return "stopped " + names + " for good", i.leave(ctx, chosen)
	case workload.FaultPowerCut:
		return i.cutPower(ctx, chosen)
	case workload.FaultSlowDisk:
		return i.slowDisk(chosen)
	case workload.FaultFullDisk:
		return "filled the disk of " + names, i.fillDisk(chosen)
	case workload.FaultPartition:
		return "cut " + names + " off from the other nodes", i.partition(chosen)
	case workload.FaultCutClients:
		return "cut " + names + " off from all clients", i.cutClients(chosen)
	}
	return "", unknownKind(f.Do)
}

func known(kind workload.FaultKind) bool {
	return slices.Contains(workload.FaultKinds(), kind) || kind.IsScenario()
}

func unknownKind(kind workload.FaultKind) error {
	return fmt.Errorf("there is no fault %q: the faults are %s",
		kind, strings.Trim(fmt.Sprint(workload.FaultKinds()), "[]"))
}

// Heal undoes the fault that is under way and starts its nodes that have ended. It can be
// repeated after an error.
func (i *Injector) Heal(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.hit) == 0 {
		return nil
	}
	err := i.revoke(ctx)
	if hosts := i.bed.Hosts(); err == nil && hosts != nil {
		err = hosts.Mend(ctx)
	} else if err == nil {
		err = i.revive()
	}
	if err != nil {
		return fmt.Errorf("heal %s: %w", strings.Join(namesOf(i.hit), ", "), err)
	}
	i.hit = nil
	return nil
}

// revoke undoes the fault, but starts no servers. Steps that fail stay in undo.
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

// revive starts the hit nodes that have ended, whether the fault ended them or they ended
// because of it.
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
