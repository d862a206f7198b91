package result

import (
	"cmp"
	"slices"
)

// ScaleStep is a stretch of the measured window in which each subscription had the same number of
// consumers, from the moment at which consumers began to close or open.
type ScaleStep struct {
	AtNs      int64 `json:"at_ns"` // since the window began
	Consumers int   `json:"consumers"`
	// Subscription is the one whose consumers changed, from 1; 0: all.
	Subscription int `json:"subscription,omitempty"`
	// TookNs is the time until all consumers were closed or opened and, if the system reports it,
	// every partition had a consumer; zero: nothing changed.
	TookNs int64 `json:"took_ns,omitempty"`
	// Of all partitions of all subscriptions, the longest time from one arrival to the next that
	// ended in the stretch, or lasted at its end: the median partition's, and the greatest.
	MedianGapNs  int64 `json:"median_gap_ns"`
	LongestGapNs int64 `json:"longest_gap_ns"`
	// The bounds are AtLeast for a time that lasted at the stretch's end.
	MedianGapBound  Bound `json:"median_gap_bound,omitempty"`
	LongestGapBound Bound `json:"longest_gap_bound,omitempty"`
	// Copies are deliveries of messages that had arrived before.
	Copies int64 `json:"copies"`
	// Return is what consumers that came back found; nil: no subscription was without consumers.
	Return *Return `json:"return,omitempty"`
	// Failure says why the number could not be changed; empty: it was changed.
	Failure string `json:"failure,omitempty"`
}

// Return is the effect of consumers that come back to subscriptions without any. Counts of messages
// are for each of these subscriptions.
type Return struct {
	UnreadMessages int64 `json:"unread_msgs"` // acknowledged meanwhile, when they came back
	// CaughtUpNs is the time from the change until they had read all messages except those in
	// flight; 0: they had not when the window ended.
	CaughtUpNs int64 `json:"caught_up_ns"`
	// ReadMessages are those read until then, in ReadNs from the first of them on.
	ReadMessages int64 `json:"read_msgs"`
	ReadNs       int64 `json:"read_ns"`
	LeftMessages int64 `json:"left_msgs"` // unread then
}

// Rate returns the rate of catching up, in messages per second of each subscription; 0: unknown.
func (r *Return) Rate() float64 {
	if r.ReadNs <= 0 {
		return 0
	}
	return float64(r.ReadMessages) * 1e9 / float64(r.ReadNs)
}

// Absence is a part of the measured window in which the same subscriptions had no consumers, or
// were catching up. Latencies are of the messages that were acknowledged or received in it: those
// of EndToEnd at subscriptions that kept reading, those of CatchUp at the others.
type Absence struct {
	State    AbsenceState `json:"state"`
	StartNs  int64        `json:"start_ns"` // since the window began
	EndNs    int64        `json:"end_ns"`
	Publish  Latency      `json:"publish"`
	EndToEnd Latency      `json:"end_to_end"`
	CatchUp  Latency      `json:"catch_up"`
}

// AbsenceState says what the consumers do that leave and come back.
type AbsenceState string

// The states.
const (
	BeforeAbsence AbsenceState = "before"
	Away          AbsenceState = "away"
	CatchingUp    AbsenceState = "catching up"
	Back          AbsenceState = "back"
)

// Absences returns the parts of a window in which consumers of a number of subscriptions left and
// came back, without latencies; nil: none left.
func Absences(steps []ScaleStep, subscriptions int, windowNs int64) (all []Absence) {
	away := make([]bool, max(subscriptions, 1))
	behind := map[*Return]bool{} // of subscriptions that are catching up
	type change struct {
		atNs int64
		do   func()
	}
	var changes []change
	for _, s := range steps {
		changes = append(changes, change{s.AtNs, func() {
			for i := range away {
				if s.Subscription == 0 || s.Subscription == i+1 {
					away[i] = s.Consumers == 0
				}
			}
			if s.Return != nil {
				behind[s.Return] = true
			}
		}})
		if r := s.Return; r != nil && r.CaughtUpNs > 0 {
			changes = append(changes, change{s.AtNs + r.CaughtUpNs, func() { delete(behind, r) }})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.atNs, b.atNs) })
	now, left := Absence{State: BeforeAbsence}, false
	for _, c := range append(changes, change{windowNs, func() {}}) {
		c.do()
		state := BeforeAbsence
		switch {
		case slices.Contains(away, true):
			state = Away
		case len(behind) > 0:
			state = CatchingUp
		case left:
			state = Back
		}
		left = left || state == Away
		if state == now.State && c.atNs < windowNs {
			continue
		}
		if now.EndNs = min(c.atNs, windowNs); now.EndNs > now.StartNs {
			all = append(all, now)
		}
		now = Absence{State: state, StartNs: c.atNs}
	}
	if !left {
		return nil
	}
	return all
}
