package verify

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The guarantees, in the order of tables.
const (
	NoLoss       = "no_loss"
	NoDuplicates = "no_duplicates"
	Order        = "order"
	// For exactly_once delivery only.
	NoAborted         = "no_aborted_read"
	WholeTransactions = "whole_transactions"
)

// Promise is a guarantee in words.
type Promise struct {
	Name    string
	Means   string // what holds
	Failure string // one word for what failed, before its count
	counted string // a sentence with the count of failures, and of how many
}

// Promises lists all guarantees, in the order of tables.
var Promises = []Promise{
	{NoLoss, "no acknowledged message is lost", "lost",
		"%s of %s acknowledged messages never arrived"},
	{NoDuplicates, "no message is received twice", "twice",
		"%s extra copies arrived of %s received messages"},
	{Order, "messages come in the order of their topic, producer and partition", "reordered",
		"%s of %s messages came after a later one of their producer and partition"},
	{NoAborted, "no refused or aborted message is received", "aborted",
		"%s of %s refused or aborted messages were received"},
	{WholeTransactions, "no transaction is received in part", "partial",
		"%s of %s transactions of several messages were received in part"},
}

// Promise returns the guarantee in words.
func (g Guarantee) Promise() Promise {
	for _, p := range Promises {
		if p.Name == g.Name {
			return p
		}
	}
	return Promise{Name: g.Name, Means: g.Name, Failure: g.Name} // of a later version
}

// promised reports whether a run was promised a guarantee through its faults. why is a part
// of a sentence with the reason.
func promised(r *result.Run, guarantee string) (yes bool, why string) {
	delivery := workload.Delivery(r.Load.Delivery)
	switch guarantee {
	case NoAborted, WholeTransactions:
		return true, "exactly_once delivery promises it"
	case NoDuplicates:
		if delivery == workload.ExactlyOnce {
			return true, "exactly_once delivery promises it"
		}
		return false, fmt.Sprintf("%s delivery does not promise it", delivery)
	case Order:
		if r.System.Unordered != "" {
			return false, "the system promises no order: " + r.System.Unordered
		}
		i := slices.IndexFunc(r.Faults, away)
		if i >= 0 && delivery == workload.AtLeastOnce {
			return false, "at_least_once delivery may deliver messages again, and late, " +
				"when a server goes away"
		}
		return true, fmt.Sprintf("messages of one producer in one partition have an order, "+
			"which %s delivery keeps", delivery)
	}
	if delivery == workload.AtMostOnce {
		return false, "at_most_once delivery does not promise it"
	}
	level := workload.Level(r.Durability.Asked)
	yes, why = true, fmt.Sprintf(
		"level %d promises it: an acknowledged message is %s", level, level.Meaning())
	for _, f := range r.Faults {
		if survives, but := survives(r, level, f); !survives {
			return false, fmt.Sprintf("level %d does not promise it: %s", level, but)
		}
	}
	return yes, why
}

// survives reports whether the messages that a level acknowledges survive a fault. but is the
// reason when they may not.
func survives(r *result.Run, level workload.Level, f result.Fault) (yes bool, but string) {
	do, nodes := workload.FaultKind(f.Do), len(r.System.Nodes)
	forgets := do == workload.FaultKill || do == workload.FaultPowerCut
	majority := f.Target == string(workload.TargetMajority) ||
		f.Target == string(workload.TargetAll) || nodes > 0 && 2*len(f.Nodes) > nodes
	switch level {
	case workload.SyncSync:
		return true, ""
	case workload.SyncAsync:
		return !forgets || !majority,
			"messages that a majority holds only in memory may be lost when a majority ends at once"
	case workload.AsyncSync:
		return !away(f) || nodes == 1,
			"messages on the disk of one replica may be lost when another replica takes its place"
	}
	return !away(f) || nodes == 1 && !forgets,
		"messages that only one replica has received may be lost with it"
}

// away reports whether a fault cuts clients off from servers, or ends servers.
func away(f result.Fault) bool {
	return f.Do != string(workload.FaultSlowDisk) && f.Do != string(workload.FaultFullDisk)
}
