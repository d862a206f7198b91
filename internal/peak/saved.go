package peak

import (
	"github.com/plimsoll-bench/plimsoll/internal/folder"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// File is what a search is written to, within its folder.
const File = "peak.json"

// SchemaVersion is written to every search.
const SchemaVersion = 1

var document = folder.Document{File: File, Work: "search", Newest: SchemaVersion}

// Saved is peak.json: what was asked, each trial, and what came of it. Its keys call a
// trial a probe, the earlier word, so that searches saved before are still read.
type Saved struct {
	folder.Record

	Plan Plan `json:"plan"`
	// Objectives are what each trial had to keep, as verdict.ParseObjective reads
	// them.
	Objectives     []string `json:"objectives,omitempty"`
	TrialSeconds   float64  `json:"probe_seconds"`
	ConfirmSeconds float64  `json:"confirm_seconds"`
	MaxSeconds     float64  `json:"max_seconds"`

	// System, Load and Durability are those of the first trial; its rate aside.
	System     result.System     `json:"system"`
	Load       result.Load       `json:"load"`
	Durability result.Durability `json:"durability"`

	Bracket Bracket       `json:"bracket"`
	End     End           `json:"end"`
	Reason  string        `json:"reason"` // why the bracket ends where it does
	Side    *verdict.Side `json:"limited_by,omitempty"`
	Trials  []Trial       `json:"probes"`
}

// Trial is one run of a search.
type Trial struct {
	Number int    `json:"number"` // from 1
	Dir    string `json:"directory"`
	Kind   Kind   `json:"kind"`
	Long   bool   `json:"long,omitempty"`
	// Judged is false when the run was stopped before it could be judged.
	Judged bool `json:"judged"`
	// Repeated: what may have been a passing disturbance failed it, or its window
	// was too short to tell, so that it was made again and does not count.
	Repeated bool `json:"repeated,omitempty"`

	TargetRate    float64          `json:"target_rate_msgs_per_s"`
	OfferedRate   float64          `json:"offered_rate_msgs_per_s"`
	AchievedRate  float64          `json:"achieved_rate_msgs_per_s"`
	ReceivedRate  float64          `json:"received_rate_msgs_per_s"`
	WindowSeconds float64          `json:"window_seconds"`
	Latency       []result.Latency `json:"latency"`
	// LeftMsgs waited still, in the system or for it, when the trial's drain
	// ended: 0 when it was drained.
	LeftMsgs int64 `json:"left_msgs"`
	// Noise is what the run warns of the machine that was not of the run.
	Noise   string            `json:"noise,omitempty"`
	Verdict verdict.Stability `json:"verdict"`
}

// Series is the trial's latency of a series.
func (p *Trial) Series(name result.Series) result.Latency {
	return result.Summary{Latency: p.Latency}.Series(name)
}

// save replaces peak.json as a whole.
func (s *Saved) save() error { return document.Save(s.Dir, s) }

// Is reports whether a directory is the folder of a search.
func Is(dir string) bool { return document.Is(dir) }

// Read reads the folder of a search. A running search whose process has ended is
// incomplete.
func Read(dir string) (*Saved, error) {
	s := &Saved{}
	if err := document.Read(dir, s, &s.Record); err != nil {
		return nil, err
	}
	return s, nil
}
