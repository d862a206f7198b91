package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
)

// maxTrials bounds a set, so that a slip of the keys does not ask for months.
const maxTrials = 1000

// turns is the order of a set of trials: in each round every target once, in an
// order drawn by the seed, so that what changes on the machine in the course of
// time falls on all of them (Maricq et al., "Taming Performance Variability",
// 2018). One trial is the order given.
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
			out = append(out, result.Trial{Set: set, Round: round + 1, Rounds: trials, Target: at +
				1, Targets: targets})
		}
	}
	return out
}

// ofTrial is a job as one trial of a set does it. Each round has a seed of its own,
// the same for all targets, counted from the one asked for: so targets are offered
// the same random load in a round, and a set sees as many as it has rounds.
func ofTrial(job *bench.Job, trial result.Trial, seed uint64) *bench.Job {
	w := *job.Workload
	w.Seed = seed + uint64(trial.Round-1)
	of := *job
	of.Workload, of.Trial = &w, &trial
	return &of
}
