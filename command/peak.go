package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/searches"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type peakCommand struct {
	several
	uiFlags
	fleetFlags
	SLO       []string `name:"slo" sep:"none" placeholder:"OBJECTIVE" help:"An objective that a stable rate must keep: 'p99<20ms' of publish latency, 'e2e.p99<50ms'; repeat it for several."`
	Start     *string  `placeholder:"RATE" help:"The first rate to try, instead of the workload's."`
	Tolerance string   `default:"3%" placeholder:"SHARE" help:"The width at which the bracket is narrow enough."`
	Confirm   int      `default:"2" placeholder:"N" help:"The number of longer runs that try each end of the bracket again; 0 to 5."`
	Trial     string   `aliases:"probe" default:"10s" placeholder:"LENGTH" help:"The measured window of a trial."`
	MaxTime   string   `default:"30m" placeholder:"LENGTH" help:"The longest search of one target, after its servers are warm."`
	Runs      string   `default:"runs" type:"path" placeholder:"DIR" help:"The parent of the search's folder."`
	extent
	Curve bool `help:"Once the peak is found, also try 10, 25, 50, 75, 90 and 110% of it: the report then shows latency over the offered rate."`
	untilFlags
	failIf
	Resume resumeFlag `placeholder:"[DIR]" help:"Continue the search in DIR, or the newest searches of this command; judged trials are not repeated."`
	JSON   bool       `name:"json" help:"Print the result as JSON instead of a table."`

	searched *workload.Workload // the load of the searches
}

// The bounds of a search.
const (
	maxConfirm     = 5
	leastTolerance = 0.01 // a window of seconds cannot tell rates apart that are closer than 1%
	mostTolerance  = 0.5
	leastTrial     = time.Second
	mostTrial      = time.Hour
)

// Run searches for the peaks of the targets and shows the brackets.
func (c *peakCommand) Run(con console) error {
	gates, err := c.gates()
	if err != nil {
		return inputError{err}
	}
	r := &searchRounds{now: time.Now}
	if r.all, err = c.options(con); err != nil {
		return inputError{err}
	}
	goal, atMost, err := c.goal(compare.Primary)
	if err != nil {
		return inputError{err}
	}
	r.share, r.atMost = goal.Share, atMost
	if goal.Share > 0 && c.Resume.dir != "" {
		return inputError{
			errors.New("--resume continues all rounds of --until: leave its folder out")}
	}
	var jobs []*bench.Job
	for _, o := range r.all {
		jobs = append(jobs, o.Job)
	}
	dirs, err := c.Resume.folders(jobs,
		func(i int, set string) (string, error) { return peak.Find(r.all[i], set) })
	switch {
	case err != nil:
		return inputError{err}
	case goal.Share == 0:
		for i, dir := range dirs {
			r.all[i].Resume = dir
		}
	case c.Resume.given:
		r.earlier = earlierSearch
	}
	return c.followed(con, c.Runs, func(ctx context.Context, page *serve.Live) error {
		watch := &peakWatch{roundsWatch: newRoundsWatch(con.err), page: page}
		r.search = func(o peak.Options) (*peak.Saved, error) {
			o.Watch = watch
			return peak.Run(ctx, o)
		}
		var found []*peak.Saved
		var known *compare.Known
		failed := c.hired(ctx, con, jobs, func(*crew) (failed error) {
			found, known, failed = r.run(ctx)
			return failed
		})
		watch.Close()
		return c.finish(ctx, con, found, known, gates, failed)
	})
}

// searchRounds searches for the peak of each target: once or, with a share, round after round until
// the peaks are known to it.
type searchRounds struct {
	share  float64
	atMost time.Duration
	all    []peak.Options // one of each target
	search func(o peak.Options) (*peak.Saved, error)
	// earlier, if not nil, returns the search of an earlier process; nil: there is none.
	earlier func(o peak.Options) (*peak.Saved, error)
	now     func() time.Time
}

// betweenRounds is the distance of the seeds of two rounds, which is more than a search uses.
const betweenRounds = 1000

// inRound returns the search of a target in a round from 1, with a seed of its own.
func (r *searchRounds) inRound(target, round int) peak.Options {
	o := r.all[target]
	job, w := *o.Job, *o.Job.Workload
	w.Seed += uint64(round-1) * betweenRounds
	job.Workload, o.Job = &w, &job
	return o
}

// run makes one round of searches, in the given order, or rounds with all targets in random order.
// These end when the peaks are known, ctx is cancelled, a search fails, or the time left does not
// hold a round as long as the longest. It returns all searches and, of several rounds, what is
// known after the whole ones. A search that fails does not prevent the others of one round.
func (r *searchRounds) run(ctx context.Context) (found []*peak.Saved, known *compare.Known,
	err error) {
	peaks := make([]compare.Rounds, len(r.all))
	for i := range peaks {
		peaks[i] = compare.Rounds{Target: r.all[i].Job.Target.Name, Values: map[int]float64{},
			Figure: figure.Figure{Name: figure.Peak, Unit: figure.PerSecond}}
	}
	random := rand.New(rand.NewPCG(r.all[0].Job.Workload.Seed, 0))
	var used, longest time.Duration
	var out failures
	for round := 1; ; round++ {
		took, order := time.Duration(0), random.Perm(len(r.all))
		if r.share == 0 {
			slices.Sort(order)
		}
		for _, target := range order {
			s, spent, err := r.one(r.inRound(target, round))
			if took += spent; s != nil {
				found = append(found, s)
			}
			if err != nil {
				out.add(ctx, failure{r.all[target].Job.Target.Name, nil, err})
			}
			switch {
			case ctx.Err() != nil, r.share > 0 && s == nil, r.share > 0 && err != nil:
				return found, known, out.end(len(r.all), nil)
			case s == nil:
				continue
			}
			if rate, why := peakOf(s); why == "" {
				peaks[target].Values[round] = rate
			} else {
				peaks[target].Why = why
			}
		}
		if r.share == 0 {
			return found, nil, out.end(len(r.all), nil)
		}
		used, longest = used+took, max(longest, took)
		known = compare.Judge(r.share, round, int64(used)/int64(round), peaks)
		if known.Ends() || used+longest > r.atMost || round >= experiment.MostRounds {
			return found, known, nil
		}
	}
}

// one makes a search, or takes that of an earlier process if it is complete. It returns the time
// that the search took.
func (r *searchRounds) one(o peak.Options) (*peak.Saved, time.Duration, error) {
	if r.earlier != nil {
		before, err := r.earlier(o)
		switch {
		case err != nil:
			return nil, 0, err
		case before != nil && before.State == result.Complete:
			return before, before.Took(), nil
		case before != nil:
			o.Resume = before.Dir
		}
	}
	began := r.now()
	s, err := r.search(o)
	return s, r.now().Sub(began), err
}

// earlierSearch returns the newest saved search of the same options and of the command that is
// continued; nil: there is none.
func earlierSearch(o peak.Options) (*peak.Saved, error) {
	dir, err := peak.Find(o, o.Job.Asked.Set)
	if err != nil || dir == "" {
		return nil, err
	}
	return peak.Folders.Read(dir)
}

// peakOf returns the highest stable rate of a search, or why the search does not show it.
func peakOf(s *peak.Saved) (rate float64, why string) {
	switch b := s.Bracket; {
	case b.StableRate <= 0:
		return 0, "no rate was stable"
	case s.Side != nil && s.Side.Name == verdict.SideGenerator:
		return 0, "plimsoll itself was the limit"
	case b.UnstableRate <= 0:
		return 0, "the search met no limit"
	}
	return s.Bracket.StableRate, ""
}

// finish shows the searches, writes the report of all into the folder of the last, and judges the
// gates over the run of each at its peak. It returns how the command ends.
func (c *peakCommand) finish(ctx context.Context, con console, found []*peak.Saved,
	known *compare.Known, gates []compare.Gate, failed error) error {
	held := !slices.ContainsFunc(found, failing)
	if len(found) > 0 {
		failed = cmp.Or(failed, con.print(searches.ReportUntil(found, known),
			found[len(found)-1].Dir, c.extent, c.JSON))
		sayContinue(ctx, con, c.Resume.dir)
	}
	if failed == nil && ctx.Err() == nil {
		runs, err := atPeaks(found)
		if err != nil {
			return err
		}
		passed, err := passes(con, gates, c.searched, runs, c.JSON)
		if err != nil {
			return err
		}
		held = held && passed
	}
	return exitOf(ctx, failed, held)
}

// failing reports whether a search found no stable rate, or whether the system broke a promise or
// lost a server meanwhile.
func failing(s *peak.Saved) bool {
	return s.Bracket.StableRate == 0 ||
		slices.ContainsFunc(s.Trials, func(t peak.Trial) bool { return t.Unsound })
}

// options turns the flags into checked searches, one for each target.
func (c *peakCommand) options(con console) ([]peak.Options, error) {
	var o peak.Options
	if err := c.bounds(&o); err != nil {
		return nil, err
	}
	if c.Duration != nil {
		return nil, errors.New(
			"--duration: the length of a search's trials is --trial: give that flag instead")
	}
	if c.Start != nil {
		if c.Rate != nil {
			return nil, errors.New(
				"--rate and --start both set the first rate of a search: give one of them")
		}
		if _, err := quantity.ParseRate(*c.Start); err != nil {
			return nil, fmt.Errorf("--start: %w", err)
		}
		c.Rate = c.Start
	}
	c.elsewhere, c.onHosts = c.away()
	c.search = true
	jobs, err := c.jobs(con, c.Runs)
	if err != nil {
		return nil, err
	}
	var all []peak.Options
	c.searched = jobs[0].Workload
	o.Objectives = withLatencies(o.Objectives, c.searched)
	for _, job := range jobs {
		of := o
		if of.Job, err = firstTrial(job, &of); err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, nil
}

// withLatencies returns the objectives of a search, with those of its workload that bound a
// latency: a stable rate must keep them.
func withLatencies(objectives []verdict.Objective, w *workload.Workload) []verdict.Objective {
	out := slices.Clone(objectives)
	for _, text := range w.Objectives {
		o, err := verdict.ParseObjective(text)
		if err == nil && !slices.Contains(out, o) { // others are judged at the peak
			out = append(out, o)
		}
	}
	return out
}

// firstTrial returns the job of a trial at the first rate, and sets the rates of the plan.
func firstTrial(job *bench.Job, o *peak.Options) (*bench.Job, error) {
	trial, w := *job, *job.Workload
	if len(w.Faults) > 0 {
		return nil, errors.New(
			"a search has no faults: remove them from the workload, or use plimsoll run or " +
				"plimsoll verify")
	}
	if w.Load.Closed != nil {
		return nil, fmt.Errorf("%w: give the workload load.rate in place of load.closed",
			peak.ErrClosedLoop)
	}
	start := w.Load.Segments[0].From
	if len(w.Load.Segments) > 1 || w.Load.Segments[0].To != start {
		start = float64(w.OfferedMessages()) / w.Duration.Seconds()
	}
	o.Plan.StartRate, o.Plan.MostRate = start, workload.MaxRate
	o.Plan.LeastRate = peak.FewestMessages / o.Trial.Seconds()
	if start < o.Plan.LeastRate {
		return nil, fmt.Errorf(
			"the first rate, %s, offers fewer than %d messages in a trial of %s: choose a higher "+
				"--start, or a longer --trial",
			quantity.Rate(start), peak.FewestMessages, quantity.ExactDuration(o.Trial))
	}
	w.SetRate(start)
	if err := w.SetDuration(o.Trial); err != nil {
		return nil, err
	}
	trial.Workload = &w
	trial.WarmUp.Fastest = trial.WarmUp != bench.WarmUp{}
	return &trial, trial.Check()
}

// bounds reads the flags that bound the search.
func (c *peakCommand) bounds(o *peak.Options) (err error) {
	for _, list := range c.SLO {
		for s := range strings.SplitSeq(list, ",") {
			objective, err := verdict.ParseObjective(s)
			if err != nil {
				return fmt.Errorf("--slo: %w", err)
			}
			o.Objectives = append(o.Objectives, objective)
		}
	}
	o.Plan.MaxTrials, o.Plan.Confirmations = peak.MostTrials, c.Confirm
	o.Plan.Curve = c.Curve
	if c.Confirm < 0 || c.Confirm > maxConfirm {
		return fmt.Errorf("--confirm: must be 0 to %d, not %d", maxConfirm, c.Confirm)
	}
	if o.Plan.Tolerance, err = quantity.ParseShare(c.Tolerance); err != nil {
		return fmt.Errorf("--tolerance: %w", err)
	}
	if t := o.Plan.Tolerance; t < leastTolerance || t > mostTolerance {
		return fmt.Errorf(
			"--tolerance: must be %s to %s, not %s: short trials cannot tell closer rates apart",
			quantity.ExactShare(leastTolerance), quantity.ExactShare(mostTolerance), c.Tolerance)
	}
	if o.Trial, err = quantity.ParseDuration(c.Trial); err != nil {
		return fmt.Errorf("--trial: %w", err)
	}
	if o.Trial < leastTrial || o.Trial > mostTrial {
		return fmt.Errorf("--trial: must be %s to %s, not %s",
			quantity.ExactDuration(leastTrial), quantity.ExactDuration(mostTrial), c.Trial)
	}
	o.Confirm = peak.ConfirmTimes * o.Trial
	if o.MaxTime, err = quantity.ParseDuration(c.MaxTime); err != nil {
		return fmt.Errorf("--max-time: %w", err)
	}
	if o.MaxTime < o.Trial {
		return fmt.Errorf("--max-time: %s is shorter than one trial of %s", c.MaxTime, c.Trial)
	}
	return nil
}

// peakWatch shows a search: a live picture on a terminal, otherwise a line for each trial. It shows
// a study, too: the number of the cell, and the cell's progress.
type peakWatch struct {
	roundsWatch
	page  *serve.Live // nil: none, or a study's
	phase result.PhaseName
	brief bool // a new phase gets no line
	cell  int  // the number of a study's latest cell
}

func (w *peakWatch) Trial(s *peak.Saved, step peak.Step, job *bench.Job) {
	w.brief, w.phase = true, ""
	w.page.Show(s.Dir)
	w.View.Trial(planOf(job), s, step)
}

// Cell shows a cell of a study.
func (w *peakWatch) Cell(number, of int, c *study.Cell, job *bench.Job) {
	w.brief, w.phase = true, "" // runs leave out their phases too
	w.Plan(planOf(job))
	at := c.Table + " at " + c.At
	if number == w.cell {
		at += ", once more"
	}
	w.cell = number
	w.View.Phase(result.PhaseName(fmt.Sprintf("cell %d of %d", number, of)), at)
}

// Phase shows a new phase of a trial in the panel only. Events within a phase, such as the end
// of a node, are printed.
func (w *peakWatch) Phase(name result.PhaseName, sentence string) {
	if w.brief && name != w.phase {
		w.phase = name
		if !w.terminal {
			return
		}
		sentence = ""
	}
	w.View.Phase(name, sentence)
}
