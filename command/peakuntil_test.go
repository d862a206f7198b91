package command

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// searched are rounds of searches of which each takes ten minutes.
type searched struct {
	searchRounds
	clock time.Time
	seeds []uint64
	done  map[string]*peak.Saved // by target and seed
}

// name names a search.
func (*searched) name(o peak.Options) string {
	return o.Job.Target.Name + strings.Repeat("i", int(o.Job.Workload.Seed)/betweenRounds)
}

// newSearched searches for these peaks; scatter is the share by which rounds differ.
func newSearched(atMost time.Duration, scatter float64, peaks ...float64) *searched {
	s := &searched{done: map[string]*peak.Saved{}, clock: time.Unix(0, 0)}
	rates := map[string]float64{}
	for i, rate := range peaks {
		name := string(rune('a' + i))
		rates[name] = rate
		s.all = append(s.all, peak.Options{Job: &bench.Job{Workload: &workload.Workload{Seed: 1},
			Target: &target.Target{Name: name}}})
	}
	s.share, s.atMost, s.now = 0.1, atMost, func() time.Time { return s.clock }
	s.earlier = func(o peak.Options) (*peak.Saved, error) { return s.done[s.name(o)], nil }
	s.search = func(o peak.Options) (*peak.Saved, error) {
		seed := o.Job.Workload.Seed
		s.seeds = append(s.seeds, seed)
		rate := rates[o.Job.Target.Name] * (1 + scatter*float64(seed/betweenRounds%3))
		out := &peak.Saved{Bracket: peak.Bracket{StableRate: rate, UnstableRate: rate * 1.03}}
		out.Name, out.State, out.StartedAt = o.Job.Target.Name, result.Complete, s.clock
		s.clock = s.clock.Add(10 * time.Minute)
		out.EndedAt = s.clock
		s.done[s.name(o)] = out
		return out, nil
	}
	return s
}

func TestSearchesGoOnUntilPeaksAreKnown(t *testing.T) {
	s := newSearched(10*time.Hour, 0.01, 1000, 2000)
	found, known, err := s.run(t.Context())
	if err != nil || len(found) != 10 || !known.Precise() || known.Rounds != 5 ||
		known.RoundNs != int64(20*time.Minute) {
		t.Fatalf("%d searches, %+v, %v", len(found), known, err)
	}
	slices.Sort(s.seeds)
	if s.seeds[0] != 1 || s.seeds[9] != 1+4*betweenRounds || s.seeds[1] != 1 {
		t.Errorf("seeds %v", s.seeds)
	}
	// Searches that are complete are not made again, and their time counts.
	s.seeds = nil
	if again, _, err := s.run(t.Context()); err != nil || len(again) != 10 || len(s.seeds) > 0 {
		t.Errorf("%d searches, %d made again, %v", len(again), len(s.seeds), err)
	}
	s.all, s.atMost, s.share = s.all[:1], 55*time.Minute, 0.01
	if _, known, err := s.run(t.Context()); err != nil || known.Rounds != 5 || known.Ends() {
		t.Errorf("%+v, %v", known, err)
	}
	// Time for two rounds.
	s = newSearched(50*time.Minute, 0.01, 1000, 2000)
	if found, known, err := s.run(t.Context()); err != nil || len(found) != 4 || known.Ends() {
		t.Errorf("%d searches, %+v, %v", len(found), known, err)
	}
	// A search that fails ends the rounds; the others are kept.
	s = newSearched(time.Hour, 0, 1000)
	do := s.search
	s.search = func(o peak.Options) (*peak.Saved, error) {
		if len(s.seeds) == 2 {
			return nil, errors.New("no servers")
		}
		return do(o)
	}
	if found, known, err := s.run(t.Context()); err == nil || len(found) != 2 || known.Rounds != 2 {
		t.Errorf("%d searches, %+v, %v", len(found), known, err)
	}
}

// A target that cannot be searched does not prevent the others of one round.
func TestOneSearchThatFailsLeavesTheOthersAlone(t *testing.T) {
	s := newSearched(time.Hour, 0, 1000, 2000, 3000)
	s.share, s.earlier = 0, nil
	do := s.search
	s.search = func(o peak.Options) (*peak.Saved, error) {
		if o.Job.Target.Name == "b" {
			return nil, errors.New("no servers")
		}
		return do(o)
	}
	found, _, err := s.run(t.Context())
	if len(found) != 2 || err == nil || err.Error() != "target b: no servers" {
		t.Errorf("%d searches, %v", len(found), err)
	}
}

// The time between two processes that work on a search is not the search's.
func TestTheTimeOfASearchIsThatOfItsProcesses(t *testing.T) {
	s := newSearched(50*time.Minute, 0.01, 1000)
	for range 3 { // days lie between the beginning and the end of each
		o := s.inRound(0, len(s.done)+1)
		out, _ := s.search(o)
		out.EndedAt, out.TookNs = out.EndedAt.Add(48*time.Hour), int64(10*time.Minute)
	}
	made := len(s.seeds)
	if found, known, err := s.run(t.Context()); err != nil || len(found) <= made ||
		known.RoundNs != int64(10*time.Minute) {
		t.Errorf("%d searches, %+v, %v", len(found), known, err)
	}
}

func TestSearchesWithoutAPeak(t *testing.T) {
	for want, s := range map[string]*peak.Saved{
		"no rate was stable":      {},
		"the search met no limit": {Bracket: peak.Bracket{StableRate: 5}},
		"plimsoll itself was the limit": {Bracket: peak.Bracket{StableRate: 5, UnstableRate: 6},
			Side: &verdict.Side{Name: verdict.SideGenerator}},
		"": {Bracket: peak.Bracket{StableRate: 5, UnstableRate: 6}},
	} {
		if rate, why := peakOf(s); why != want || (rate > 0) != (want == "") {
			t.Errorf("%v, %q, want %q", rate, why, want)
		}
	}
}
