package workload

import (
	"fmt"
	"slices"
	"time"
)

// YAML returns a valid workload with every default spelled out. Parse reads the same value
// back.
func (w *Workload) YAML() string { return spell(w).keys().YAML() }

// SetRate replaces the rate curve by one constant rate, in messages per second
// over all producers together, for the whole measured window. A closed loop
// cannot have one: the workload is not valid then.
func (w *Workload) SetRate(perSecond float64) {
	w.Load.Segments = []Segment{{From: perSecond, To: perSecond, For: w.Duration}}
	if w.Backlog != nil {
		w.fitBacklog()
	}
}

// SetMessage replaces what all producers send. MaxInFlight falls where the messages are larger, and
// a backlog keeps its bytes.
func (w *Workload) SetMessage(m Message) {
	w.Message, w.Classes = m, nil
	if given := w.MaxInFlight; w.Load.Closed == nil {
		w.LimitInFlight()
		w.MaxInFlight = min(w.MaxInFlight, given)
	}
	if w.Backlog != nil {
		w.fitBacklog()
	}
}

// SetWarmup sets the warm-up as a file gives it: 30s, auto, or auto 30s.
func (w *Workload) SetWarmup(text string) error {
	return (&warmup{&w.Warmup, &w.Settle}).UnmarshalText([]byte(text))
}

// SetDuration changes the measured window. A constant rate, a ramp and a closed loop fill the
// new window. Steps have lengths of their own: then SetDuration leaves the workload unchanged,
// and the error says to change the steps.
func (w *Workload) SetDuration(d time.Duration) error {
	if w.Backlog != nil {
		return fmt.Errorf(
			"the window of workload %q lasts until its backlog has been read: change backlog in "+
				"its file, or remove it", w.Name)
	}
	if w.Load.Closed != nil && len(w.Load.Segments) == 0 {
		w.Duration = d
		return nil
	}
	if len(w.Load.Segments) != 1 {
		return fmt.Errorf(
			"the duration of workload %q is the sum of its %d steps: change load.steps in its "+
				"file, or give one constant rate",
			w.Name, len(w.Load.Segments))
	}
	w.Duration = d
	w.Load.Segments = slices.Clone(w.Load.Segments)
	w.Load.Segments[0].For = d
	return nil
}
