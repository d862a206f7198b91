package result

import (
	"cmp"
	"encoding/json"
)

// Fault is a fault that was injected on purpose. Times are nanoseconds since the run started; 0:
// it did not happen.
type Fault struct {
	Do     string   `json:"do"`
	Target string   `json:"target"` // as asked
	Nodes  []string `json:"nodes"`
	// the address of the leader before the fault, when the run asked for it
	Leader      string `json:"leader,omitempty"`
	StartNs     int64  `json:"start_ns"`    // when injecting began
	InjectedNs  int64  `json:"injected_ns"` // when it was done
	HealStartNs int64  `json:"heal_start_ns"`
	HealedNs    int64  `json:"healed_ns"`
	// InSyncNs is when the nodes were in sync with the others again, of a rolling restart, or when
	// all copies were complete, of a change of the cluster's size.
	InSyncNs int64 `json:"in_sync_ns,omitempty"`
	// UsedNs is when messages began to go to added partitions, and FoundNs when every subscription
	// had received from all of them.
	UsedNs   int64  `json:"used_ns,omitempty"`
	FoundNs  int64  `json:"found_ns,omitempty"`
	Sentence string `json:"sentence"`
	Error    string `json:"error,omitempty"` // why it could not be injected, or healed
	// Effect is the effect of the fault, as internal/verdict finds it.
	Effect Effect `json:"effect,omitzero"`
}

// UnmarshalJSON reads a fault. Older runs call the target "whom".
func (f *Fault) UnmarshalJSON(src []byte) error {
	type fields Fault
	given := struct {
		*fields
		Whom string `json:"whom"`
	}{fields: (*fields)(f)}
	if err := json.Unmarshal(src, &given); err != nil {
		return err
	}
	f.Target = cmp.Or(f.Target, given.Whom)
	return nil
}

// Effect is the effect of a fault on acknowledgements. Times are nanoseconds since the run
// started; 0: not seen.
type Effect struct {
	// UnavailableNs is the longest time from one acknowledgement to the next, over all
	// producers, while load was offered. It is exact when it is longer than ResolutionNs;
	// otherwise it is an upper bound.
	UnavailableNs int64 `json:"unavailable_ns"`
	// UnavailableBound is AtLeast when the load ended before an acknowledgement came again:
	// UnavailableNs is a lower bound then.
	UnavailableBound Bound `json:"unavailable_bound,omitempty"`
	ResolutionNs     int64 `json:"resolution_ns"`
	// AckedAgainNs is the time of the first acknowledgement after that gap; 0: none came while
	// load was offered.
	AckedAgainNs int64 `json:"acked_again_ns,omitempty"`
	// RecoveredNs is the beginning of the first second in which rate and publish latency were
	// as before the fault (see Impact.Rule).
	RecoveredNs int64 `json:"recovered_ns,omitempty"`
}

// Seen reports whether acknowledgements were seen to stop.
func (e Effect) Seen() bool {
	return e.UnavailableNs > e.ResolutionNs || e.UnavailableBound == AtLeast
}

// Rolling is a rolling restart as a whole. The faults of the run have its machines one by one.
type Rolling struct {
	Machines int `json:"machines"` // to restart
	InSync   int `json:"in_sync"`  // restarted and in sync again
	// TotalNs is the time from the first stop to the last machine in sync; 0: none was.
	TotalNs int64 `json:"total_ns"`
	// UnavailableNs is the sum of the longest times without an acknowledgement during the restart
	// of each machine, as far as they exceed the interval of readings (see Effect) and do not
	// overlap.
	UnavailableNs int64 `json:"unavailable_ns"`
	// UnavailableBound is AtLeast when the last of these times had not ended with the load.
	UnavailableBound Bound `json:"unavailable_bound,omitempty"`
	// Refused are the messages refused from the first stop until the recovery from the last.
	Refused int64 `json:"refused"`
}

// Impact is a run before, during and after its faults, by the time of the events. "During" is
// from the injection to the recovery.
type Impact struct {
	Rule   string `json:"rule"`
	Before Part   `json:"before"`
	During Part   `json:"during"`
	After  Part   `json:"after"`
}

// Part has the figures of a part of a run. Its latencies exclude warm-up messages, and include
// messages that were answered in the drain.
type Part struct {
	LengthNs int64   `json:"length_ns"` // within the measured window
	Acked    int64   `json:"acked"`     // in that time
	Failed   int64   `json:"failed"`    // in that time
	Publish  Latency `json:"publish"`
	EndToEnd Latency `json:"end_to_end"`
}

// Rate returns the mean rate of acknowledgements, in messages per second; 0: the part is empty.
func (p Part) Rate() float64 {
	if p.LengthNs <= 0 {
		return 0
	}
	return float64(p.Acked) * 1e9 / float64(p.LengthNs)
}

// Span is the time in which some messages were due, and acknowledged, in nanoseconds since the
// run started.
type Span struct {
	FirstDueNs int64 `json:"first_due_ns"`
	LastDueNs  int64 `json:"last_due_ns"`
	FirstAckNs int64 `json:"first_ack_ns"`
	LastAckNs  int64 `json:"last_ack_ns"`
}

// Since subtracts a time from all times that are known.
func (s *Span) Since(ns int64) {
	for _, t := range []*int64{&s.FirstDueNs, &s.LastDueNs, &s.FirstAckNs, &s.LastAckNs} {
		*t -= ns
	}
}

// ServerEnd is the end of a server, in nanoseconds since the run started, as it was noticed.
type ServerEnd struct {
	Node string `json:"node"`
	PID  int    `json:"pid"`
	AtNs int64  `json:"at_ns"`
}
