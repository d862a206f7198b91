package skew

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// State is what is known of a disciplined clock at a moment.
type State struct {
	// BoundNs is the greatest error of the disciplined clock against the coordinator's, or
	// Unbounded.
	BoundNs int64 `json:"bound_ns"`
	// OffsetNs is the coordinator's clock less the worker's own, and DriftPPM how much
	// faster the coordinator's runs.
	OffsetNs      int64   `json:"offset_ns"`
	DriftPPM      float64 `json:"drift_ppm"`
	DriftBoundPPM float64 `json:"drift_bound_ppm"`
	// DeviationNs is the disciplined clock less the line that it follows. The bound
	// includes it.
	DeviationNs int64 `json:"deviation_ns"`

	Exchanges        int64 `json:"exchanges"`
	Rejected         int64 `json:"rejected,omitempty"` // exchanges that cannot be true
	LeastRoundTripNs int64 `json:"least_round_trip_ns"`
	// StepsNoticed counts all steps; Steps are the first of them.
	StepsNoticed int64  `json:"steps_noticed,omitempty"`
	Steps        []Step `json:"steps,omitempty"`
}

// Check returns an error for a state that no clock has. A worker's word is checked before it is
// kept.
func (s *State) Check() error {
	const ppmMost = 1e6
	if s.BoundNs < 0 || s.BoundNs > Unbounded || max(s.OffsetNs, -s.OffsetNs) > Unbounded ||
		!(math.Abs(s.DriftPPM) <= ppmMost) || !(math.Abs(s.DriftBoundPPM) <= ppmMost) ||
		min(s.Exchanges, s.Rejected, s.StepsNoticed) < 0 ||
		len(s.Steps) > maxSteps {
		return errors.New("its report about its clock is impossible")
	}
	return nil
}

// maxSteps bounds the steps that are kept with their size and time.
const maxSteps = 16

// Step is a contradiction between exchanges: a clock stepped, or changed its rate by more
// than is assumed. If it was the coordinator's, all workers notice.
type Step struct {
	// NoticedNs is when it was noticed, on the coordinator's clock. It happened before.
	NoticedNs int64 `json:"noticed_ns"`
	// SizeNs is by how much the coordinator's clock less the worker's own grew. It is
	// uncertain by about BoundNs: by more if exchanges in which the step did not show had
	// moved the line before it was noticed.
	SizeNs  int64 `json:"size_ns"`
	BoundNs int64 `json:"bound_ns"`
}

// String describes the step in a sentence whose subject is the worker's clock.
func (s Step) String() string {
	return fmt.Sprintf("stepped by %s ± %s, or changed its rate by more than %d ppm",
		time.Duration(-s.SizeNs), time.Duration(s.BoundNs), JumpPPM)
}
