package command

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/sweeps"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

type sweepCommand struct {
	inputs
	warmed
	uiFlags
	fleetFlags
	Vary []string `sep:"none" placeholder:"KEY=A,B,C" help:"A key of the workload (partitions, message.size, load.rate, ...) or a setting of the target (settings.NAME), and its values; repeat it to measure every combination."`
	untilFlags
	failIf
	Primary string     `default:"${default_primary}" placeholder:"FIGURES" help:"The figures of --until, separated by commas: publish.p99, e2e.p50, rate, cpu and the like."`
	Resume  resumeFlag `placeholder:"[DIR]" help:"Continue the sweep in DIR, or the newest sweep of this command; cells with a complete run are not repeated."`
	Runs    string     `default:"runs" type:"path" placeholder:"DIR" help:"The parent of the sweep's folder."`
	extent
	Explain bool `help:"Print the cells, their time and their disk space; nothing is started."`

	most time.Duration // of all rounds of --until
}

// Run measures every cell and shows all cells together.
func (c *sweepCommand) Run(con console) error {
	c.UI.given = c.UI.given && !c.Explain
	_, c.onHosts = c.away()
	gates, err := c.gates()
	if err != nil {
		return inputError{err}
	}
	return c.followed(con, c.Runs, func(ctx context.Context, page *serve.Live) error {
		folder, jobs, err := c.folder(con)
		if folder != nil {
			defer func() { _ = folder.Close() }()
		}
		if err != nil || c.Explain {
			return err
		}
		page.Show(folder.Dir())
		return c.hired(ctx, con, jobs, func(*crew) error {
			return c.measure(ctx, con, folder, jobs, gates)
		})
	})
}

// measure measures every cell that is left and shows all cells.
func (c *sweepCommand) measure(ctx context.Context, con console, folder *sweep.Folder,
	jobs []*bench.Job, gates []compare.Gate) error {
	live := newLive(con.err)
	plan := folder.Saved
	how := sweep.Strategy{Measure: func(i, round int) *experiment.Measurement {
		live.Plan(planOf(jobs[i]))
		name := fmt.Sprintf("cell %d of %d", i+1, len(jobs))
		if round > 1 {
			name += fmt.Sprintf(", round %d", round)
		}
		live.Phase(result.PhaseName(name), sweep.Label(plan.Axes, plan.Cells[i].Values))
		return &experiment.Measurement{Job: inRound(plan, jobs[i], i, round)}
	}}
	if plan.Until > 0 {
		how.Next = func() ([]sweep.Further, error) { return c.next(folder, jobs) }
	}
	failed := sweep.Run(ctx, folder, experiment.Options{Watch: live, Ran: writeOwnReport}, how)
	live.Close()
	runs, further := sweeps.Runs(folder.Dir(), plan)
	err := con.print(sweeps.Report(plan, runs, further), folder.Dir(), c.extent, false)
	measured, sound := allRounds(runs, further)
	held := sound && plan.Left() == 0
	if failed == nil && err == nil && ctx.Err() == nil {
		var passed bool
		passed, err = passes(con, gates, jobs[0].Workload, measured, false)
		held = held && passed
	}
	sayContinue(ctx, con, folder.Dir())
	return exitOf(ctx, errors.Join(failed, err), held)
}

// allRounds returns the runs of a sweep's first and further rounds that can be read, and whether
// none of them broke a promise.
func allRounds(runs, further []*result.Saved) (measured []*result.Saved, sound bool) {
	measured = slices.DeleteFunc(slices.Concat(runs, further),
		func(s *result.Saved) bool { return s == nil })
	return measured, !slices.ContainsFunc(measured, isUnsound)
}

// folder makes or opens the sweep's folder, makes a checked job for each cell, and prints the
// estimate. With --explain it makes none. It may return a folder also with an error.
func (c *sweepCommand) folder(con console) (folder *sweep.Folder, jobs []*bench.Job, err error) {
	runs := c.Runs
	plan, err := c.wanted(con)
	if err == nil && c.Resume.given {
		if folder, err = c.resumed(plan); err == nil {
			plan, runs = folder.Saved, folder.Dir()
		}
	}
	if err == nil {
		jobs, err = c.jobsOf(plan, runs)
	}
	if err != nil {
		return folder, nil, inputError{err}
	}
	if folder != nil {
		if err := sweep.Reconcile(folder); err != nil {
			return folder, nil, err
		}
	}
	if c.Explain {
		return folder, nil, showFacts(con.out, sweepCost(plan, jobs, true))
	}
	err = showFacts(con.err, sweepCost(plan, jobs, false))
	if err != nil || folder != nil {
		return folder, jobs, err
	}
	if folder, err = sweep.Create(c.Runs, plan); err != nil {
		return nil, nil, err
	}
	for _, job := range jobs {
		job.Runs = folder.Dir()
	}
	return folder, jobs, nil
}

// resumed opens the folder of the sweep to continue.
func (c *sweepCommand) resumed(wanted *sweep.Plan) (*sweep.Folder, error) {
	dir := c.Resume.dir
	if dir == "" {
		if len(wanted.Cells) == 0 {
			return nil, errors.New(
				"--resume does not say which sweep to continue: name its folder, or repeat the " +
					"whole command")
		}
		var err error
		if dir, err = sweep.Find(c.Runs, wanted); err != nil {
			return nil, err
		}
	}
	folder, err := sweep.Folders.Open(dir)
	switch {
	case err != nil:
	case len(wanted.Cells) > 0:
		err = sweep.MustBe(folder, wanted)
	default:
		began := folder.Saved.Asked.Command
		if flag := forgotten(began, os.Args); flag != "" {
			err = fmt.Errorf("the sweep in %s was begun with %s, which its folder does not keep: "+
				"continue it by its whole command, %s", dir, flag, continuation(began, dir))
		}
	}
	return folder, err
}

// forgotten returns a flag of the command that began a sweep which the folder does not keep and the
// command that continues it lacks; empty: there is none.
func forgotten(began, now []string) string {
	has := func(command []string, flag string) bool {
		return slices.ContainsFunc(command, func(word string) bool {
			return word == flag || strings.HasPrefix(word, flag+"=")
		})
	}
	for _, flag := range []string{"--max-cost", "--warm", "--hosts", "--workers", "--workers-from",
		"--lab", "--pair"} {
		if has(began, flag) && !has(now, flag) {
			return flag
		}
	}
	return ""
}

// wanted returns the plan for the flags. The plan has no cells if the flags only name a folder to
// continue.
func (c *sweepCommand) wanted(con console) (*sweep.Plan, error) {
	if len(c.Vary) == 0 {
		if !c.Resume.given {
			return nil, errors.New(
				"nothing is varied: give a key and its values, like --vary partitions=1,10,100")
		}
		if c.Workload != "default" || len(c.Target) > 0 || len(c.flagKeys()) > 0 ||
			c.Until != "" {
			return nil, errors.New(
				"--resume continues a sweep with its own flags: leave the other flags out, or " +
					"repeat the whole command")
		}
		var err error
		c.most, err = c.longest()
		return &sweep.Plan{}, err
	}
	varied, err := sweep.ParseAxes(c.Vary)
	if err != nil {
		return nil, err
	}
	if err := c.conflicts(varied); err != nil {
		return nil, err
	}
	// The flags that hold for every cell are checked first, by themselves.
	w, err := c.workload()
	warn(con.err, c.notes)
	if err != nil {
		return nil, err
	}
	base := sweep.Base{File: c.Workload, Source: c.text, Override: c.override}
	if base.Targets, err = c.sweptTargets(); err != nil {
		return nil, err
	}
	cells, err := base.Cells(varied)
	if err != nil {
		return nil, err
	}
	plan := &sweep.Plan{
		Record: experiment.Record{Name: w.Name, Plimsoll: build(),
			Asked: result.Asked{Command: os.Args}},
		Axes: base.Axes(varied), Cells: cells,
	}
	goal, most, err := c.goal(c.Primary)
	if c.most = most; goal.Share > 0 {
		plan.Until, plan.Primary = goal.Share, c.Primary
	}
	return plan, err
}

// sweptTargets returns the targets of the sweep.
func (c *sweepCommand) sweptTargets() (all []sweep.Target, _ error) {
	names := targetNames(c.Target)
	for i, name := range names {
		t, _, err := c.find(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("target %s is given twice: keep one", name)
		}
		all = append(all, sweep.Target{Name: name, Target: t})
	}
	return all, nil
}

// conflicts refuses a flag that would give a varied key the same value in all cells.
func (c *sweepCommand) conflicts(varied []sweep.Axis) error {
	for _, one := range c.flagKeys() {
		for _, a := range varied {
			if overlap(one.key, a.Key) {
				return fmt.Errorf(
					"%s conflicts with --vary %s: it would give all cells the same value, "+
						"leave it out", one.flag, a.Key)
			}
		}
	}
	return nil
}

// maxTold is the greatest number of cells that an error lists.
const maxTold = 10

// jobsOf returns the checked jobs of all cells. The error lists the cells that cannot be
// measured, each reason once.
func (c *sweepCommand) jobsOf(p *sweep.Plan, runs string) ([]*bench.Job, error) {
	var jobs []*bench.Job
	var errs []error
	told := map[string]bool{}
	for _, cell := range p.Cells {
		w, t, err := cell.Inputs(p.Axes)
		if err != nil {
			return nil, err
		}
		job, err := newJob(w, t, runs, c.onHosts)
		if err == nil {
			err = job.FindSoftware()
		}
		if err == nil {
			err = c.limit(job)
		}
		if err == nil {
			err = c.warm([]*bench.Job{job})
		}
		if err != nil {
			if !told[err.Error()] && len(told) < maxTold {
				errs = append(errs, fmt.Errorf("%s: %w", sweep.Label(p.Axes, cell.Values), err))
			}
			told[err.Error()] = true
			continue
		}
		job.Asked = result.Asked{Command: os.Args, Workload: cell.Workload, Target: cell.Target}
		jobs = append(jobs, job)
	}
	return jobs, errors.Join(errs...)
}

// sweepCost returns the time and the disk space that a plan needs, and its cells, if they are
// wanted.
func sweepCost(p *sweep.Plan, jobs []*bench.Job, cells bool) (all facts) {
	var left []*bench.Job
	var disk, messages int64
	guessed := ""
	for i, job := range jobs {
		if p.Cells[i].State == experiment.Done {
			continue
		}
		e := job.Estimate()
		left = append(left, job)
		disk, messages = max(disk, e.DiskBytes), messages+e.Messages
		if e.Guessed {
			guessed = fmt.Sprintf(" if a send of a closed loop takes %s",
				quantity.Duration(int64(bench.GuessedSend)))
		}
	}
	for _, a := range p.Axes {
		all.add("varied", a.Key+": "+strings.Join(a.Values, ", "))
	}
	number := fmt.Sprint(len(p.Cells))
	if len(left) < len(p.Cells) {
		number += fmt.Sprintf(", %d left", len(left))
	}
	all.add("cells", number)
	if p.Until > 0 {
		all.add("until", fmt.Sprintf("the %s of each cell is known to %s: the time below is that "+
			"of one round", p.Primary, quantity.ExactShare(p.Until)))
	}
	all.add("time", takes(left, 1))
	all.add("messages", quantity.Count(messages)+guessed)
	if disk > 0 {
		all.add("disk", "about "+quantity.Bytes(disk)+
			" at a time for servers, deleted after each cell"+guessed)
	}
	for _, cell := range p.Cells {
		if cells {
			all.add("measured", fmt.Sprintf("%s: %s", sweep.Label(p.Axes, cell.Values), cell.State))
		}
	}
	return all
}

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

// next returns the next round of a sweep that goes on until figures are known: every cell whose
// figures are not, in random order. There is none that the time left cannot hold.
func (c *sweepCommand) next(folder *sweep.Folder, jobs []*bench.Job) ([]sweep.Further, error) {
	p := folder.Saved
	runs, further := sweeps.Runs(folder.Dir(), p)
	known, err := compare.KnownCells(p, runs, further)
	if err != nil {
		return nil, err
	}
	last, longest, used := soFar(p, runs, further)
	var out []sweep.Further
	need := time.Duration(0)
	for i, k := range known {
		if last[i] == 0 || last[i] >= experiment.MostRounds || k.Ends() {
			continue
		}
		job := inRound(p, jobs[i], i, last[i]+1)
		out = append(out, sweep.Further{Of: i, Round: last[i] + 1, Cell: experiment.Cell{
			Workload: job.Asked.Workload, Target: p.Cells[i].Target,
			State: experiment.Pending}})
		need += longest[i]
	}
	if used+need > c.most {
		return nil, nil
	}
	random := rand.New(rand.NewPCG(jobs[0].Workload.Seed, uint64(len(p.Further))))
	random.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out, nil
}

// soFar returns the number of rounds of each cell, 0 if its last measurement failed; the time of
// its longest run; and the time of all runs.
func soFar(p *sweep.Plan, runs, further []*result.Saved) (last []int, longest []time.Duration,
	used time.Duration) {
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
