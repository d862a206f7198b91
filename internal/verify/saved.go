package verify

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Folders are the folders of verifications.
var Folders = experiment.Kind[Saved]{Name: experiment.Verify, Work: "verification",
	Head:  func(s *Saved) *experiment.Record { return &s.Record },
	Check: func(s *Saved) error { return experiment.CheckCount(len(s.Rounds)) }}

// Saved is the content of a verification's file: the request, the rounds, and the judgements.
// Its name is the target's.
type Saved struct {
	experiment.Record

	Faults []string `json:"faults"` // of each round, as the user writes them
	Seed   uint64   `json:"seed"`   // of the first round
	Wanted int      `json:"rounds_asked"`
	// QuietSeconds is how long nothing had to arrive before a round stopped waiting for missing
	// messages, DrainSeconds the least length of this wait.
	QuietSeconds float64 `json:"quiet_seconds"`
	DrainSeconds float64 `json:"drain_seconds"`

	// System, Load, Durability and Settings are those of the first round's run.
	System     result.System     `json:"system"`
	Load       result.Load       `json:"load"`
	Durability result.Durability `json:"durability"`
	Settings   []result.Setting  `json:"settings"`

	Guarantees []Guarantee `json:"guarantees"`
	Rounds     []Round     `json:"rounds"`
}

// Round is one run with its faults.
type Round struct {
	Number     int                         `json:"number"` // from 1
	Dir        string                      `json:"directory"`
	Seed       uint64                      `json:"seed"`
	State      result.State                `json:"state"`
	Guarantees []Guarantee                 `json:"guarantees"`
	Faults     []result.Fault              `json:"faults"`
	Impact     *result.Impact              `json:"fault_impact,omitempty"`
	Counters   result.Counters             `json:"counters"` // of the window
	Ledger     []result.SubscriptionLedger `json:"subscriptions"`
	// Ended are the servers that ended without a fault.
	Ended []result.ServerEnd `json:"servers_ended,omitempty"`
}

// Kept reports whether all promised guarantees held in all rounds that were asked for, and whether
// only faults ended servers. A promise with an unknown outcome was not kept.
func (s *Saved) Kept() bool {
	broken := func(g Guarantee) bool { return g.Promised && g.Outcome != result.Holds }
	return s.State == result.Complete && len(s.Rounds) == s.Wanted && len(s.Guarantees) > 0 &&
		!slices.ContainsFunc(s.Guarantees, broken) &&
		!slices.ContainsFunc(s.Rounds, func(r Round) bool { return len(r.Ended) > 0 })
}

// Guarantee returns a guarantee by its name. Without a judgement its outcome is unknown.
func (s *Saved) Guarantee(name string) Guarantee {
	for _, g := range s.Guarantees {
		if g.Name == name {
			return g
		}
	}
	return Guarantee{Name: name, Outcome: result.Unknown}
}
