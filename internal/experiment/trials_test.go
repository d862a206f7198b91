package experiment

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// turns are those of a set with a fixed number of rounds.
func turns(targets, rounds int, seed uint64) []result.Trial {
	s := &Trials{Rounds: rounds}
	for range targets {
		s.Jobs = append(s.Jobs, &bench.Job{Workload: &workload.Workload{Seed: seed}})
	}
	s.plan()
	return s.turns
}

// In every round each target has its turn once, and the order changes.
func TestTurns(t *testing.T) {
	orders := map[string]bool{}
	for _, targets := range []int{1, 2, 3} {
		all := turns(targets, 20, 7)
		if len(all) != 20*targets {
			t.Fatalf("%d turns of %d targets in 20 rounds", len(all), targets)
		}
		for round := range 20 {
			var order []int
			for _, trial := range all[round*targets : (round+1)*targets] {
				if trial.Round != round+1 || trial.Rounds != 20 || trial.Targets != targets ||
					trial.Set != all[0].Set {
					t.Errorf("%+v in round %d", trial, round+1)
				}
				order = append(order, trial.Target)
			}
			if targets == 2 {
				orders[strings.Repeat("x", order[0])] = true
			}
			slices.Sort(order)
			for i, target := range order {
				if target != i+1 {
					t.Errorf("round %d measures %v", round+1, order)
				}
			}
		}
	}
	if len(orders) != 2 {
		t.Error("two targets always have their turns in the same order")
	}
	for i, trial := range turns(3, 1, 7) {
		if trial.Target != i+1 {
			t.Error("a single round is not in the order given")
		}
	}
	first, second := turns(2, 9, 7), turns(2, 9, 7)
	for i := range first {
		if first[i].Target != second[i].Target {
			t.Fatal("the same seed gives another order")
		}
	}
}
