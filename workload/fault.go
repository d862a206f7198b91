package workload

import (
	"slices"
	"time"
)

// Fault is an outage that plimsoll injects on purpose while load is offered, and heals again, or a
// permanent change of the cluster's size or of its topics.
type Fault struct {
	Do     FaultKind
	Target FaultTarget
	// At is the time of the fault since the measured window began.
	At time.Duration
	// Within, when it is not 0, moves the moment to one drawn from the seed
	// between At and At+Within.
	Within time.Duration
	// Every, when it is not 0, repeats the fault until the window ends.
	Every time.Duration
	// For is how long it lasts before it is healed. A scenario or a change that lasts longer is
	// given up.
	For time.Duration
	// ToVersion is the version in which a rolling restart starts the servers; empty: the same.
	ToVersion string
	// ToPartitions is the number of partitions that topics have afterwards, when some are added.
	ToPartitions int
}

// FaultKind is the kind of an injected fault.
type FaultKind string

// The kinds of faults.
const (
	FaultKill       FaultKind = "kill"        // SIGKILL; healed by a start on the same data
	FaultPause      FaultKind = "pause"       // SIGSTOP; healed by SIGCONT
	FaultRestart    FaultKind = "restart"     // an orderly stop; healed by a start
	FaultPartition  FaultKind = "partition"   // from all other nodes; clients reach it still
	FaultCutClients FaultKind = "cut-clients" // from all clients; nodes reach it still
	FaultSlowDisk   FaultKind = "slow-disk"   // each sync to disk takes longer
	FaultFullDisk   FaultKind = "full-disk"   // no space is left
	// unsynced data is lost; healed by a start with the remaining data.
	FaultPowerCut FaultKind = "power-cut"

	// FaultRollingRestart is a scenario: an orderly stop and a start of one machine after the
	// other, each of them back in sync before the next.
	FaultRollingRestart FaultKind = "rolling-restart"

	// Changes of the cluster's size, which are not healed: a server joins, and copies move to it;
	// a server that joined, or was started beside the target's nodes, hands its copies over and
	// leaves for good.
	FaultScaleOut FaultKind = "scale-out"
	FaultScaleIn  FaultKind = "scale-in"

	// FaultAddPartitions gives every topic more partitions. Half of its time is for servers and
	// producers to have them; then messages go there, and the rest is for consumers to find them.
	FaultAddPartitions FaultKind = "add-partitions"
)

// FaultKinds returns the kinds of single faults, in the order in which they are listed.
func FaultKinds() []FaultKind {
	return []FaultKind{
		FaultKill, FaultPause, FaultRestart, FaultPartition, FaultCutClients, FaultSlowDisk,
		FaultFullDisk, FaultPowerCut,
	}
}

// scenarios returns the kinds that end by themselves, after several steps.
func scenarios() []FaultKind {
	return []FaultKind{FaultRollingRestart, FaultScaleOut, FaultScaleIn, FaultAddPartitions}
}

// IsScenario reports whether faults of the kind end by themselves, after several steps.
func (k FaultKind) IsScenario() bool { return slices.Contains(scenarios(), k) }

// Resizes reports whether faults of the kind change the number of servers.
func (k FaultKind) Resizes() bool { return k == FaultScaleOut || k == FaultScaleIn }

// ServerFaults returns the faults that concern servers, and not only topics.
func (w *Workload) ServerFaults() []Fault {
	return slices.DeleteFunc(slices.Clone(w.Faults),
		func(f Fault) bool { return f.Do == FaultAddPartitions })
}

// Stays reports whether faults of the kind are permanent changes, which nothing heals.
func (k FaultKind) Stays() bool { return k.Resizes() || k == FaultAddPartitions }

// defaultTarget returns the target of a fault that gives none. A scenario has no other.
func (k FaultKind) defaultTarget() FaultTarget {
	switch {
	case k.Resizes():
		return TargetExtra
	case k.IsScenario():
		return TargetAll
	}
	return TargetOne
}

// MaxExtra bounds the servers that faults need beside the target's nodes.
const MaxExtra = 3

// Extra returns the number of servers that the faults need beside the target's nodes, and how many
// of them start later: one for each scale-out, and one for each scale-in that no scale-out came
// before.
func (w *Workload) Extra() (all, later int) {
	running, first := 0, 0
	for _, s := range w.Strikes() {
		switch s.Fault.Do {
		case FaultScaleOut:
			running, later = running+1, later+1
		case FaultScaleIn:
			if running == 0 {
				first++
				continue
			}
			running--
		}
	}
	return first + later, later
}

// mostPartitions returns the number of partitions that a topic has in the end, from the number that
// it has at first.
func (w *Workload) mostPartitions(most int) int {
	for _, f := range w.Faults {
		most = max(most, f.ToPartitions)
	}
	return most
}

// AddedFrom returns the time since the measured window began from which messages go to added
// partitions too; adds is false where none are added.
func (w *Workload) AddedFrom() (from time.Duration, adds bool) {
	for _, s := range w.Strikes() {
		if s.Fault.Do == FaultAddPartitions {
			return s.At + s.Fault.For/2, true
		}
	}
	return 0, false
}

// DefaultFor returns the length of a fault that gives none, in a window of that duration. A
// scenario may last until the window ends, because only the servers' number and the machine decide
// how long it takes.
func (f Fault) DefaultFor(window time.Duration) time.Duration {
	if f.Do.IsScenario() {
		return max(DefaultFaultFor, window-f.At-f.Within)
	}
	return DefaultFaultFor
}

// FaultTarget says which nodes a fault hits: one of the words below, or a node's name.
type FaultTarget string

// The words for groups of nodes.
const (
	TargetOne FaultTarget = "one" // any one, drawn from the seed
	// the node that leads the first partition of the first topic.
	TargetLeader   FaultTarget = "leader"
	TargetFollower FaultTarget = "follower" // a node that does not lead it
	// as many nodes as may fail while a majority is left, including the leader.
	TargetMinority FaultTarget = "minority"
	TargetMajority FaultTarget = "majority" // the fewest that are a majority, the leader among them
	TargetAll      FaultTarget = "all"
	// the server that joins, or the one that joined last.
	TargetExtra FaultTarget = "extra"
)
