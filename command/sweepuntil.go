package command

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/sweeps"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// inRound returns the job of a cell in a round from 1. Each round has its own seed. In a sweep that
// goes on until figures are known, the run says so.
func inRound(p *sweep.Plan, job *bench.Job, cell, round int) *bench.Job {
	if p.Until == 0 {
		return job
	}
	of := *job
	of.Trial = &result.Trial{Set: fmt.Sprintf("%s-%d", p.ID, cell+1), Round: round, Target: 1,
		Targets: 1, Until: p.Until, Primary: p.Primary}
	if round > 1 {
		w := *job.Workload
		w.Seed += uint64(round - 1)
		of.Workload, of.Asked.Workload = &w, w.YAML()
	}
	return &of
}

// sweepRounds decides which cells of a sweep are measured again.
type sweepRounds struct {
	folder *sweep.Folder
	jobs   []*bench.Job
	atMost time.Duration
}

// next returns the next round: every cell whose figures are not known, in random order. There is
// none that the time left cannot hold.
func (r *sweepRounds) next() ([]sweep.Further, error) {
	p := r.folder.Saved
	runs, further := sweeps.Runs(r.folder.Dir(), p)
	known, err := compare.KnownCells(p, runs, further)
	if err != nil {
		return nil, err
	}
	last, longest, used := r.soFar(runs, further)
	var out []sweep.Further
	need := time.Duration(0)
	for i, k := range known {
		if last[i] == 0 || last[i] >= experiment.MostRounds || k.Ends() {
			continue
		}
		job := inRound(p, r.jobs[i], i, last[i]+1)
		out = append(out, sweep.Further{Of: i, Round: last[i] + 1, Cell: experiment.Cell{
			Workload: job.Asked.Workload, Target: p.Cells[i].Target,
			State: experiment.Pending}})
		need += longest[i]
	}
	if used+need > r.atMost {
		return nil, nil
	}
	random := rand.New(rand.NewPCG(r.jobs[0].Workload.Seed, uint64(len(p.Further))))
	random.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out, nil
}

// soFar returns the number of rounds of each cell, 0 if its last measurement failed; the time of
// its longest run; and the time of all runs.
func (r *sweepRounds) soFar(runs, further []*result.Saved) (last []int, longest []time.Duration,
	used time.Duration) {
	p := r.folder.Saved
	last, longest = make([]int, len(p.Cells)), make([]time.Duration, len(p.Cells))
	take := func(cell, round int, c *experiment.Cell, s *result.Saved) {
		if last[cell] = round; c.State != experiment.Done || s == nil {
			last[cell] = 0
			return
		}
		took := s.Run.EndedAt.Sub(s.Run.StartedAt)
		longest[cell], used = max(longest[cell], took), used+took
	}
	for i := range p.Cells {
		take(i, 1, &p.Cells[i].Cell, runs[i])
	}
	for i := range p.Further {
		f := &p.Further[i]
		take(f.Of, f.Round, &f.Cell, further[i])
	}
	return last, longest, used
}
