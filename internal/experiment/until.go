package experiment

import (
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// MostRounds bounds the rounds of a set, so that very short runs do not go on for days.
const MostRounds = 1000

// Until ends a set of trials when its figures are known, or its time is used up.
type Until struct {
	// Share and Primary are recorded in each run: how narrow the intervals of these figures, with
	// commas between, are to be.
	Share   float64
	Primary string
	AtMost  time.Duration // for all rounds together
	// Ends reports whether no further round is needed. It is called after each whole round with
	// all complete runs of the targets that go on.
	Ends func(runs []*result.Saved) bool

	usedNs    int64 // by the rounds so far
	longestNs int64 // of a round
	beganNs   int64 // the round under way, in this process; 0: none
	beforeNs  int64 // of the round under way, used by an earlier process
}

// spend adds the time of a run that an earlier process made.
func (u *Until) spend(run *result.Saved) {
	if u != nil {
		u.beforeNs += run.Run.EndedAt.Sub(run.Run.StartedAt).Nanoseconds()
	}
}

// round begins a round, and ends the one before.
func (u *Until) round(nowNs int64) {
	if u.beganNs != 0 {
		took := nowNs - u.beganNs + u.beforeNs
		u.usedNs, u.longestNs = u.usedNs+took, max(u.longestNs, took)
	}
	u.beganNs, u.beforeNs = nowNs, 0
}

// holds reports whether the time left holds another round, if that is as long as the longest one.
func (u *Until) holds() bool { return u.usedNs+u.longestNs <= int64(u.AtMost) }

// further adds the turns of another round, if the set needs one.
func (s *Trials) further() bool {
	u := s.Until
	if u == nil || len(s.out) == len(s.Jobs) {
		return false
	}
	u.round(s.Jobs[0].Clock.Now())
	done := s.drawn.of.Round
	if done > 0 && (!u.holds() || done >= MostRounds || done >= s.Rounds && u.Ends(s.going())) {
		return false
	}
	s.turns = append(s.turns, s.drawn.round()...)
	return true
}

// going returns the complete runs of the targets that have not failed.
func (s *Trials) going() []*result.Saved {
	return slices.DeleteFunc(slices.Clone(s.Runs), func(run *result.Saved) bool {
		return run.Run.State != result.Complete || s.out[run.Run.Trial.Target-1]
	})
}
