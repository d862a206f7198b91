package verify

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// File is the name of a verification's file within its folder.
const File = "verify.json"

// SchemaVersion is the version of the format that this plimsoll writes.
const SchemaVersion = 1

// Saved is the content of verify.json: the request, the rounds, and the judgements.
type Saved struct {
	SchemaVersion int          `json:"schema_version"`
	ID            string       `json:"id"`
	Name          string       `json:"name"` // the target's
	State         result.State `json:"state"`
	StateReason   string       `json:"state_reason,omitempty"`
	StartedAt     time.Time    `json:"started_at"`
	EndedAt       time.Time    `json:"ended_at,omitzero"`
	PID           int          `json:"pid"`

	Plimsoll result.Build `json:"plimsoll"`
	Asked    result.Asked `json:"asked"`
	Faults   []string     `json:"faults"` // of each round, as the user writes them
	Seed     uint64       `json:"seed"`   // of the first round
	Wanted   int          `json:"rounds_asked"`
	// QuietSeconds is how long nothing had to arrive before missing messages counted as
	// lost. They also counted as lost after DrainSeconds.
	QuietSeconds float64 `json:"quiet_seconds"`
	DrainSeconds float64 `json:"drain_seconds"`

	// System, Load, Durability and Settings are those of the first round's run.
	System     result.System     `json:"system"`
	Load       result.Load       `json:"load"`
	Durability result.Durability `json:"durability"`
	Settings   []result.Setting  `json:"settings"`

	Guarantees []Guarantee `json:"guarantees"`
	Rounds     []Round     `json:"rounds"`

	Dir string `json:"-"`
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
}

// Kept reports whether all promised guarantees held in all rounds that were asked for. A
// promise with an unknown outcome was not kept.
func (s *Saved) Kept() bool {
	broken := func(g Guarantee) bool { return g.Promised && g.Outcome != result.Holds }
	return s.State == result.Complete && len(s.Rounds) == s.Wanted && len(s.Guarantees) > 0 &&
		!slices.ContainsFunc(s.Guarantees, broken)
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

// save replaces verify.json as a whole.
func (s *Saved) save() error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", File, err)
	}
	return result.ReplaceFile(filepath.Join(s.Dir, File), append(raw, '\n'))
}

// Is reports whether a directory is the folder of a verification.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, File))
	return err == nil && info.Mode().IsRegular()
}

// Read reads the folder of a verification. A running verification whose process has ended is
// incomplete.
func Read(dir string) (*Saved, error) {
	s := &Saved{}
	if err := result.ReadDocument(dir, File, "a verification", s); err != nil {
		return nil, err
	}
	if s.SchemaVersion < 1 || s.SchemaVersion > SchemaVersion {
		return nil, fmt.Errorf(
			"%s has schema version %d, this plimsoll reads 1 to %d: use a newer plimsoll",
			filepath.Join(dir, File), s.SchemaVersion, SchemaVersion)
	}
	s.Dir = dir
	if s.State == result.Running && !result.Lives(s.PID) {
		s.State = result.Incomplete
		s.StateReason = "the verification's process ended without finishing"
	}
	return s, nil
}
