package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/live"
	"github.com/plimsoll-bench/plimsoll/internal/report/overview"
	"github.com/plimsoll-bench/plimsoll/internal/report/runs"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/systems"
)

// maxTrials bounds a set of trials, so that a typing error does not start months of runs.
const maxTrials = 1000

type runCommand struct {
	several
	uiFlags
	fleetFlags
	Trials int `default:"1" placeholder:"N" help:"The number of runs of each target. Each round measures every target once, in another order and with the next seed; the runs are then compared."`
	untilFlags
	Primary string `default:"${default_primary}" placeholder:"FIGURES" help:"The figures that decide --until and the comparison of two targets, separated by commas: publish.p99, e2e.p50, rate, cpu and the like."`
	Resume  bool   `help:"Continue the newest set of trials of the same command; complete runs are not repeated."`
	Runs    string `default:"runs" type:"path" placeholder:"DIR" help:"The parent of the run directories."`
	failIf
	JSON bool `name:"json" help:"Print the result as JSON instead of a table."`
	extent
	priced
	Keep bool `help:"Leave the clusters that plimsoll starts running for later use; plimsoll testbed down stops them."`

	before func(jobs []*bench.Job)    // called before anything starts; nil: not
	after  func(runs []*result.Saved) // called when the result has been shown; nil: not
}

// Run measures each target in turn and shows the result.
func (c *runCommand) Run(con console) error {
	if c.Trials < 1 || c.Trials > maxTrials {
		return inputError{fmt.Errorf("--trials must be from 1 to %s, not %d",
			quantity.Count(maxTrials), c.Trials)}
	}
	gates, err := c.gates()
	if err != nil {
		return inputError{err}
	}
	until, err := c.until(c.Primary)
	if err != nil {
		return inputError{err}
	}
	if err := c.price(nil); err != nil {
		return err // before anything is measured
	}
	c.elsewhere, c.onHosts = c.away()
	jobs, err := c.jobs(con, c.Runs)
	if err != nil {
		return inputError{err}
	}
	tellBills(con, jobs)
	if c.Keep {
		if err := c.canKeep(jobs); err != nil {
			return inputError{err}
		}
	}
	if c.before != nil {
		c.before(jobs)
	}
	c.tellTooShort(con, until, jobs)
	return c.followed(con, c.Runs, func(ctx context.Context, page *serve.Live) error {
		for _, job := range jobs {
			job.Began = page.Show
		}
		var runs []*result.Saved
		var out failures
		failed := c.hired(ctx, con, jobs, func(*crew) (err error) {
			runs, out, err = c.measure(ctx, con, jobs, until)
			return errors.Join(err, out.end(len(jobs), runs))
		})
		if left := unmeasured(jobs, runs, out); ctx.Err() != nil && len(left) > 0 {
			con.say("interrupted before these targets were measured: " + strings.Join(left, ", "))
		}
		if len(runs) > 0 {
			failed = cmp.Or(failed, c.show(ctx, con, runs))
		}
		passed, err := passes(con, gates, jobs[0].Workload, runs, c.JSON)
		if last := overview.Closing(runs); last != "" {
			con.say(last)
		}
		if c.after != nil && len(runs) > 0 {
			c.after(runs)
		}
		return c.exit(ctx, runs, passed, cmp.Or(failed, err))
	})
}

// single reports whether each target is measured once.
func (c *runCommand) single() bool { return c.Trials == 1 && c.Until == "" }

// unmeasured returns the names of the targets that have no run and did not fail.
func unmeasured(jobs []*bench.Job, runs []*result.Saved, out failures) (names []string) {
	for _, job := range jobs {
		name := job.Target.Name
		if !slices.ContainsFunc(runs, func(s *result.Saved) bool { return s.Run.Name == name }) &&
			!slices.ContainsFunc(out, func(one failure) bool { return one.target == name }) {
			names = append(names, name)
		}
	}
	return names
}

// exit returns how the command ends. Incomplete runs that were not interrupted have stopped
// themselves.
func (*runCommand) exit(ctx context.Context, runs []*result.Saved, passed bool,
	failed error) error {
	err := exitOf(ctx, failed, passed && !slices.ContainsFunc(runs, isUnsound))
	if err == nil && slices.ContainsFunc(runs, stoppedItself) {
		return exitError(exitSpent)
	}
	return err
}

// stoppedItself reports whether a run ended its load before its time.
func stoppedItself(r *result.Saved) bool { return r.Run.State == result.Interrupted }

// isComplete reports whether a run need not be repeated.
func isComplete(r *result.Saved) bool { return r.Run.State == result.Complete }

// isUnsound reports whether a run shows that the system broke a promise.
func isUnsound(r *result.Saved) bool { return !verdict.Sound(&r.Run) }

// measure runs each job the requested number of times, until the user interrupts. A target whose
// run failed gets no further run. It returns the runs that were made, also with an error.
func (c *runCommand) measure(ctx context.Context, con console, jobs []*bench.Job,
	until *experiment.Until) (runs []*result.Saved, out failures, err error) {
	live := newLive(con.err)
	var kept []testbed.State
	defer func() {
		for _, s := range kept {
			con.note(fmt.Sprintf("%s stays up: use it with %s, end it with %s", s.Name, useOf(s),
				endOf(s)))
		}
	}()
	defer live.Close()
	trials := &experiment.Trials{Jobs: jobs, Rounds: c.Trials, Until: until,
		Begin: func(trial result.Trial, job *bench.Job) {
			live.Plan(planOf(job))
			switch {
			case until != nil:
				live.Phase(result.PhaseConnect, fmt.Sprintf("round %d until known to %s: %s",
					trial.Round, quantity.ExactShare(until.Share), job.Target.Name))
			case c.Trials > 1:
				live.Phase(result.PhaseConnect, fmt.Sprintf("trial %d of %d: %s", trial.Round,
					trial.Rounds, job.Target.Name))
			}
		},
		Failed: func(at int, run *result.Saved, err error) {
			out.add(ctx, failure{jobs[at].Target.Name, run, err})
		},
	}
	if c.Keep {
		trials.Prepare = func(at int) (*bench.Job, error) {
			live.Plan(planOf(jobs[at]))
			return keep(ctx, jobs[at], &kept, live)
		}
	}
	if c.Resume {
		if err := trials.Resume(c.Runs); err != nil {
			return nil, nil, inputError{err}
		}
	}
	err = trials.Run(ctx, c.Runs, live)
	return trials.Runs, out, err
}

// starts reports whether a run would start the cluster itself.
func starts(job *bench.Job) bool { return system.Starts(job.System, job.Target) }

// canKeep refuses --keep for jobs without clusters to keep, before anything starts.
func (f *fleetFlags) canKeep(jobs []*bench.Job) error {
	if f.hasHosts() || f.Workers != "" || f.WorkersFrom != "" {
		return errors.New("--keep is for servers and load of this machine: start the cluster " +
			"with plimsoll testbed up, which takes --hosts, and measure its target")
	}
	if !slices.ContainsFunc(jobs, starts) {
		return errors.New(
			"--keep: plimsoll starts no cluster for these targets: leave the flag out")
	}
	return nil
}

// keep starts a job's cluster in a process that outlives this one, and returns the job that
// measures that cluster.
func keep(ctx context.Context, job *bench.Job, kept *[]testbed.State, live bench.Watch) (*bench.Job,
	error) {
	if !starts(job) {
		return job, nil
	}
	request := testbedRequest{
		Target: job.Target.YAML(), Durability: int(job.Workload.Durability),
		NeedBytes: job.Estimate().DiskBytes,
	}
	state, err := bringUp(ctx, request, job.Target, job.Runs,
		func(sentence string) { live.Phase(result.PhaseConnect, sentence) })
	if err != nil {
		return nil, err
	}
	*kept = append(*kept, state)
	t, source, err := systems.FindTarget(state.Target)
	if err != nil {
		return nil, err
	}
	there, err := newJob(job.Workload, t, job.Runs, 0)
	if err != nil {
		return nil, err
	}
	there.DataDir = baseOf(job.Target, job.Runs)
	there.Asked, there.Began, there.WarmUp = job.Asked, job.Began, job.WarmUp
	there.Asked.Target, there.Warmth = source, &bench.Warmth{}
	return there, nil
}

// failures are the targets of a command whose runs failed.
type failures []failure

type failure struct {
	target string
	saved  *result.Saved // nil: nothing was measured
	err    error
}

// targetsFailed names the targets that failed, of a command with several targets.
type targetsFailed struct{ error }

// add adds a failure. If the user's interrupt caused it, only what was left behind is kept.
func (f *failures) add(ctx context.Context, one failure) {
	if ctx.Err() != nil {
		one.err = bench.LeftBy(one.err)
	}
	if one.err != nil {
		*f = append(*f, one)
	}
}

// end returns the error of the command. With several targets, the error names the failed ones, and
// the runs of the others record each target without a run.
func (f failures) end(targets int, runs []*result.Saved) error {
	if len(f) == 0 {
		return nil
	}
	if targets == 1 {
		return f[0].err
	}
	var sentences, leftOut []string
	for _, one := range f {
		sentence := strings.ReplaceAll(strings.TrimSpace(one.err.Error()), "\n", "; ")
		sentences = append(sentences, fmt.Sprintf("target %s: %s", one.target, sentence))
		if one.saved == nil {
			leftOut = append(leftOut, one.target+": its run failed: "+sentence)
		}
	}
	if len(leftOut) > 0 {
		for _, s := range runs {
			s.Run.Asked.LeftOut = append(s.Run.Asked.LeftOut, leftOut...)
			if err := result.Save(s.Dir, &s.Run); err != nil {
				sentences = append(sentences, err.Error())
			}
		}
	}
	return targetsFailed{errors.New(strings.Join(sentences, "\n"))}
}

// show prints the result and writes the report of all runs into the last run's directory. It says
// how to continue a set of trials that was interrupted and has a complete run.
func (c *runCommand) show(ctx context.Context, con console, all []*result.Saved) error {
	if !c.single() && slices.ContainsFunc(all, isComplete) {
		defer sayContinue(ctx, con, "")
	}
	if err := c.price(all); err != nil {
		return err
	}
	report, dir := runs.Report(all), all[len(all)-1].Dir
	if c.JSON || c.single() {
		return con.print(report, dir, c.extent, c.JSON)
	}
	path, err := writePage(dir, report.Page)
	if err == nil {
		err = showTrials(con, all, c.Primary, c.extent)
	}
	if err == nil {
		con.note("report: " + relative(path))
	}
	return err
}

// writeOwnReport writes the report of a single run into its directory.
func writeOwnReport(run *result.Saved) error {
	_, err := writePage(run.Dir, runs.Report([]*result.Saved{run}).Page)
	return err
}

// relative shortens a path below the working directory.
func relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	short, err := filepath.Rel(here, path)
	if err != nil || filepath.IsAbs(short) || len(short) > len(path) {
		return path
	}
	return short
}

// planOf returns the live view's information about a run before it starts.
func planOf(job *bench.Job) live.Plan {
	w := job.Workload
	return live.Plan{
		Name: job.Target.Name, TargetRate: float64(w.OfferedMessages()) / w.Duration.Seconds(),
		Closed: w.Load.Closed != nil, Subscriptions: w.Subscriptions,
		Phases: []live.PlannedPhase{
			{Name: result.PhaseConnect},
			{Name: result.PhaseWarmup, Ns: int64(w.Warmup), AtMost: w.Settle},
			{Name: result.PhaseMeasure, Ns: int64(w.Duration), AtMost: w.Backlog != nil},
			{Name: result.PhaseDrain, Ns: int64(w.Drain), AtMost: true},
			{Name: result.PhaseAccount},
		},
	}
}

const defaultWidth = 100

// terminal returns the width of a terminal, and whether it is one.
func terminal(w io.Writer) (width int, isTerminal bool) {
	switch within := w.(type) {
	case *checkedWriter:
		w = within.Writer
	case talk:
		w = within.Writer
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return defaultWidth, false
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width, true
	}
	return defaultWidth, true
}

// newLive returns a picture on standard error, which commands the terminal.
func newLive(w io.Writer) *live.View {
	said, talks := w.(talk)
	if talks {
		w = said.Writer
	}
	_, isTerminal := terminal(w)
	view := live.New(w, isTerminal, func() int {
		width, _ := terminal(w)
		return width
	})
	if talks && isTerminal {
		said.panel.Store(view)
	}
	return view
}
