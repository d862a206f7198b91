package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
)

// maxTrials bounds a set of trials, so that a typing error does not start months of runs.
const maxTrials = 1000

// turns returns the order of a set of trials. Each round has every target once, in an order
// drawn by the seed, so that slow changes of the machine affect all targets (Maricq et al.,
// "Taming Performance Variability", 2018). A single trial keeps the given order.
func turns(targets, trials int, seed uint64) []result.Trial {
	random := rand.New(rand.NewPCG(seed, uint64(trials)))
	set := fmt.Sprintf("%s-%d", time.Now().UTC().Format("2006-01-02T150405.000"), os.Getpid())
	var out []result.Trial
	for round := range trials {
		order := random.Perm(targets)
		for turn := range targets {
			at := order[turn]
			if trials == 1 {
				at = turn
			}
			out = append(out, result.Trial{Set: set, Round: round + 1, Rounds: trials,
				Target: at + 1, Targets: targets})
		}
	}
	return out
}

// ofTrial returns the job of one trial of a set. Each round has its own seed, counted from the
// given one and the same for all targets: within a round all targets are offered the same
// random load, and each round has another load.
func ofTrial(job *bench.Job, trial result.Trial, seed uint64) *bench.Job {
	w := *job.Workload
	w.Seed = seed + uint64(trial.Round-1)
	of := *job
	of.Workload, of.Trial = &w, &trial
	return &of
}
