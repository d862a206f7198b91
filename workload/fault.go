package workload

import "time"

// Fault is something done to servers on purpose while load is offered, and
// undone again.
type Fault struct {
	Do   FaultKind
	Whom Whom
	// At is when, since the measured window began.
	At time.Duration
	// Within, when it is not 0, moves the moment to one drawn from the seed
	// between At and At+Within.
	Within time.Duration
	// Every, when it is not 0, repeats the fault until the window ends.
	Every time.Duration
	// For is how long it lasts before it is healed.
	For time.Duration
}

// FaultKind is what is done.
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
	FaultPowerCut   FaultKind = "power-cut"   // what was not synced to disk is gone; healed by a start on what is left
)

// FaultKinds are all kinds, in the order in which they are listed.
func FaultKinds() []FaultKind {
	return []FaultKind{
		FaultKill, FaultPause, FaultRestart, FaultPartition, FaultCutClients, FaultSlowDisk, FaultFullDisk, FaultPowerCut,
	}
}

// Whom says which nodes a fault hits: one of the words below, or a node's name.
type Whom string

// The words for nodes.
const (
	WhomOne      Whom = "one"      // any one, drawn from the seed
	WhomLeader   Whom = "leader"   // the node that leads the first partition of the first topic
	WhomFollower Whom = "follower" // one that does not
	WhomMinority Whom = "minority" // as many as may fail while a majority is left, the leader among them
	WhomMajority Whom = "majority" // the fewest that are a majority, the leader among them
	WhomAll      Whom = "all"
)
