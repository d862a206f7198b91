package peak

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Folders are the folders of searches.
var Folders = experiment.Kind[Saved]{Name: experiment.Peak, Work: "search",
	Head:  func(s *Saved) *experiment.Record { return &s.Record },
	Check: func(s *Saved) error { return experiment.CheckCount(len(s.Trials)) }}

// Saved is the content of a search's file: the request, the trials, and the bracket. Its name
// is the target's. Its keys call a trial a probe, the earlier word, so that searches saved
// before are still read.
type Saved struct {
	experiment.Record

	Plan Plan `json:"plan"`
	// Objectives are the objectives of each trial, as verdict.ParseObjective reads them.
	Objectives     []string `json:"objectives,omitempty"`
	TrialSeconds   float64  `json:"probe_seconds"`
	ConfirmSeconds float64  `json:"confirm_seconds"`
	MaxSeconds     float64  `json:"max_seconds"`

	// System, Warming, Load and Durability are those of the first trial. The rate in Load is of
	// that trial only.
	System     result.System     `json:"system"`
	Warming    *result.Warming   `json:"warming,omitempty"`
	Load       result.Load       `json:"load"`
	Durability result.Durability `json:"durability"`

	Bracket Bracket       `json:"bracket"`
	End     End           `json:"end"`
	Reason  string        `json:"reason"` // why the bracket ends where it does
	Side    *verdict.Side `json:"limited_by,omitempty"`
	Trials  []Trial       `json:"probes"`
	// Capped is the highest rate that could be tried, and why; its zero value: no rate was refused.
	Capped Capped `json:"capped,omitzero"`
	// TookNs is the time that all processes spent on the search; 0: not recorded.
	TookNs int64 `json:"took_ns,omitempty"`
}

// Took returns the time that the search took, without the time from one process to the next.
func (s *Saved) Took() time.Duration {
	if s.TookNs > 0 {
		return time.Duration(s.TookNs)
	}
	return s.EndedAt.Sub(s.StartedAt)
}

// Capped is the highest rate that could be tried.
type Capped struct {
	Rate float64 `json:"rate_msgs_per_s"`
	Why  string  `json:"why"`
}

// Trial is one run of a search.
type Trial struct {
	Number int    `json:"number"` // from 1
	Dir    string `json:"directory"`
	Kind   Kind   `json:"kind"`
	Long   bool   `json:"long,omitempty"`
	// Judged is false when the run was stopped before it could be judged.
	Judged bool `json:"judged"`
	// Repeated is set when the trial was made again and does not count: a passing disturbance may
	// have failed it, or its window was too short to tell.
	Repeated bool `json:"repeated,omitempty"`

	TargetRate    float64          `json:"target_rate_msgs_per_s"`
	OfferedRate   float64          `json:"offered_rate_msgs_per_s"`
	AchievedRate  float64          `json:"achieved_rate_msgs_per_s"`
	ReceivedRate  float64          `json:"received_rate_msgs_per_s"`
	WindowSeconds float64          `json:"window_seconds"`
	Latency       []result.Latency `json:"latency"`
	// Unsound: the system broke a promise, or a server ended.
	Unsound bool `json:"unsound,omitempty"`
	// LeftMsgs counts the messages that were still in the system, or waited for it, when the
	// trial's drain ended.
	LeftMsgs int64 `json:"left_msgs"`
	// Lost, Duplicate and Unanswered count messages of the trial, those of its warm-up only where
	// they were lost or came twice.
	Lost       int64 `json:"lost_msgs,omitempty"`
	Duplicate  int64 `json:"duplicate_msgs,omitempty"`
	Unanswered int64 `json:"unanswered_msgs,omitempty"`
	// Noise is the run's warning that other processes used the machine.
	Noise   string            `json:"noise,omitempty"`
	Verdict verdict.Stability `json:"verdict"`
}

// Series returns the trial's latency of a series.
func (p *Trial) Series(name result.Series) result.Latency {
	return result.Summary{Latency: p.Latency}.Series(name)
}
