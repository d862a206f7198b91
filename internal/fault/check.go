package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/disk"
	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Cluster describes the cluster that faults are meant for.
type Cluster struct {
	System string // its name
	// Elsewhere: the servers run on hosts, which check for themselves what they can do.
	Elsewhere bool
	// Provisioner starts the cluster. It is nil for a cluster that plimsoll does not own,
	// which takes no faults.
	Provisioner system.Provisioner
	Provision   system.Provision
	Base        string // the same as in testbed.Options
}

// Prepare returns what a testbed must be prepared for before the faults can be injected.
func Prepare(faults []workload.Fault) testbed.Preparation {
	var p testbed.Preparation
	for _, f := range faults {
		switch f.Do {
		case workload.FaultPowerCut, workload.FaultSlowDisk, workload.FaultFullDisk:
			p.Disks = true
		case workload.FaultPartition, workload.FaultCutClients:
			p.Groups = true
		}
	}
	return p
}

// Check returns an error when this system, this machine or this user cannot have one of the
// faults. The error is one sentence that says what to do. Check starts no server. It may make
// a small disk and a firewall table, and removes them.
func Check(ctx context.Context, faults []workload.Fault, c Cluster) error {
	if len(faults) == 0 {
		return nil
	}
	if c.Provisioner == nil {
		return fmt.Errorf("faults: plimsoll breaks only servers that it starts: "+
			"leave the endpoints out of the %s target, so that plimsoll starts its own", c.System)
	}
	// A server that joins or leaves cannot be named: it is not there all the time.
	always := c.Provision
	always.Extra, always.Later = 0, 0
	names := c.Provisioner.NodeNames(always)
	if len(names) == 0 {
		return fmt.Errorf("faults: the servers of %s run in one process and cannot be broken "+
			"one by one: choose a target whose servers are processes", c.System)
	}
	for _, f := range faults {
		err := checkTarget(f, names, c.Provision.Nodes)
		if err == nil && c.Elsewhere && f.Do == workload.FaultCutClients {
			err = errNoCut
		}
		if err != nil {
			return fmt.Errorf("fault %s %s: %w", f.Do, f.Target, err)
		}
	}
	if c.Elsewhere {
		return nil
	}
	return checkMachine(ctx, faults, c.Base)
}

// ErrAlone says that a partition needs a second node.
var ErrAlone = errors.New("one node has no other node to be cut off from: start more, as " +
	"testbed: {nodes: 3} does")

func checkTarget(f workload.Fault, names []string, nodes int) error {
	if !known(f.Do) {
		return unknownKind(f.Do)
	}
	if f.Do == workload.FaultPartition && nodes < 2 {
		return ErrAlone
	}
	switch f.Target {
	case workload.TargetOne, workload.TargetLeader,
		workload.TargetAll, workload.TargetMajority, workload.TargetExtra:
		return nil
	case workload.TargetFollower:
		if nodes < 2 {
			return errors.New("one node has no follower: start more, as testbed: {nodes: 3} does")
		}
		return nil
	case workload.TargetMinority:
		if nodes < 3 {
			return fmt.Errorf("a minority needs at least three nodes, not %d: "+
				"start more, as testbed: {nodes: 3} does", nodes)
		}
		return nil
	}
	if !slices.Contains(names, string(f.Target)) {
		return fmt.Errorf("there is no node of that name: the nodes are %s",
			strings.Join(names, ", "))
	}
	return nil
}

// CheckMachine tries on this machine and as this user what faults need.
func CheckMachine(ctx context.Context, need testbed.Preparation, base string) error {
	if need.Disks {
		if err := disk.Check(ctx, base); err != nil {
			return err
		}
	}
	if !need.Groups {
		return nil
	}
	if err := firewall.Check(); err != nil {
		return err
	}
	return testbed.CheckGroups()
}

// checkMachine tries on this machine and as this user what the faults need, each once.
func checkMachine(ctx context.Context, faults []workload.Fault, base string) error {
	need := Prepare(faults)
	if need.Disks {
		if err := CheckMachine(ctx, testbed.Preparation{Disks: true}, base); err != nil {
			kind := firstWith(faults, func(p testbed.Preparation) bool { return p.Disks })
			return fmt.Errorf("fault %s: %w (kill needs no root, and loses less)", kind, err)
		}
	}
	slows := func(f workload.Fault) bool { return f.Do == workload.FaultSlowDisk }
	if slices.ContainsFunc(faults, slows) {
		if err := disk.CheckThrottle(); err != nil {
			return fmt.Errorf("fault %s: %w", workload.FaultSlowDisk, err)
		}
	}
	if need.Groups {
		if err := CheckMachine(ctx, testbed.Preparation{Groups: true}, base); err != nil {
			kind := firstWith(faults, func(p testbed.Preparation) bool { return p.Groups })
			return fmt.Errorf("fault %s: %w", kind, err)
		}
	}
	return nil
}

// firstWith returns the kind of the first fault that needs a preparation.
func firstWith(faults []workload.Fault, needs func(testbed.Preparation) bool) workload.FaultKind {
	for _, f := range faults {
		if needs(Prepare([]workload.Fault{f})) {
			return f.Do
		}
	}
	return ""
}
