package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/report/verifications"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type verifyCommand struct {
	several
	uiFlags
	fleetFlags
	Rounds int        `default:"3" placeholder:"N" help:"The number of rounds with each fault, each with another seed and new topics."`
	Matrix bool       `help:"Inject the faults that tell durability levels apart: kill leader and all, power-cut one and all, partition (of several nodes) and pause leader."`
	Quiet  string     `default:"45s" placeholder:"LENGTH" help:"How long nothing must arrive after the last heal before the audit has read everything; must exceed the system's redelivery time."`
	Runs   string     `default:"runs" type:"path" placeholder:"DIR" help:"The parent of the verification's folder."`
	Resume resumeFlag `placeholder:"[DIR]" help:"Continue the verification in DIR, or the newest ones of this command; whole rounds are not repeated."`
	JSON   bool       `name:"json" help:"Print the result as JSON instead of a table."`
	extent
}

const (
	maxRounds  = 1000
	leastQuiet = 100 * time.Millisecond
	mostQuiet  = 10 * time.Minute
	// A fault without a time begins in the second third of the window and ends before the last
	// sixth, which is for the recovery.
	faultPart = 3
	faultFor  = 6
)

// defaultFault is injected when no fault is given, matrixFaults with --matrix.
var (
	defaultFault = []string{"kill leader"}
	matrixFaults = []string{"kill leader", "kill all", "power-cut one", "power-cut all",
		"partition leader", "pause leader"}
)

// Run verifies each target under each fault in turn and shows the judgements.
func (c *verifyCommand) Run(con console) error {
	all, err := c.options(con)
	if err != nil {
		return inputError{err}
	}
	var jobs []*bench.Job
	for _, o := range all {
		jobs = append(jobs, o.Job)
	}
	dirs, err := c.Resume.folders(jobs,
		func(i int, set string) (string, error) { return verify.Find(all[i], set) })
	if err != nil {
		return inputError{err}
	}
	rounds := 0
	var usual, most time.Duration
	for i, dir := range dirs {
		all[i].Resume = dir
		left, err := all[i].Left()
		if err != nil {
			return inputError{err}
		}
		u, m := all[i].Takes(left)
		rounds, usual, most = rounds+left, usual+u, most+m
	}
	fmt.Fprintf(con.err,
		"rounds to make: %d; about %s in all, at most %s, without the start of servers\n",
		rounds, quantity.Duration(int64(usual)), quantity.Duration(int64(most)))
	return c.followed(con, c.Runs, func(ctx context.Context, page *serve.Live) error {
		watch := &verifyWatch{newRoundsWatch(con.err), page}
		var found []*verify.Saved
		failed := c.hired(ctx, con, jobs, func(*crew) (failed error) {
			found, failed = verifyAll(ctx, all, func(o verify.Options) (*verify.Saved, error) {
				o.Watch = watch
				return verify.Run(ctx, o)
			})
			return failed
		})
		watch.Close()
		if len(found) > 0 {
			failed = cmp.Or(failed, c.show(con, found))
			sayContinue(ctx, con, c.Resume.dir)
		}
		return exitOf(ctx, failed, !slices.ContainsFunc(found, broken))
	})
}

// verifyAll makes verifications until ctx is cancelled. One that fails does not prevent the others.
func verifyAll(ctx context.Context, all []verify.Options,
	one func(verify.Options) (*verify.Saved, error)) (found []*verify.Saved, err error) {
	var out failures
	for _, o := range all {
		saved, err := one(o)
		if saved != nil {
			found = append(found, saved)
		}
		if err != nil {
			out.add(ctx, failure{nameOf(o), nil, err})
		}
		if ctx.Err() != nil {
			break
		}
	}
	return found, out.end(len(all), nil)
}

// nameOf names a verification among several: its target and its faults.
func nameOf(o verify.Options) string {
	name := o.Job.Target.Name
	for _, f := range o.Job.Workload.Faults {
		name += ", " + f.String()
	}
	return name
}

// broken reports whether a system broke a promise, or may have broken one.
func broken(s *verify.Saved) bool { return !s.Kept() }

// options turns the flags into checked verifications, one for each target and fault.
func (c *verifyCommand) options(con console) ([]verify.Options, error) {
	quiet, err := quantity.ParseDuration(c.Quiet)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--quiet: %w", err)
	case quiet < leastQuiet || quiet > mostQuiet:
		return nil, fmt.Errorf("--quiet: must be %s to %s, not %s",
			quantity.ExactDuration(leastQuiet), quantity.ExactDuration(mostQuiet), c.Quiet)
	case c.Rounds < 1 || c.Rounds > maxRounds:
		return nil, fmt.Errorf("--rounds: must be 1 to %s, not %d", quantity.Count(maxRounds),
			c.Rounds)
	case c.Matrix && len(c.Fault) > 0:
		return nil, errors.New("--matrix has its own faults: give --matrix or --fault, not both")
	}
	given := c.Fault
	if c.Matrix {
		given = matrixFaults
	}
	c.Fault = nil
	c.elsewhere, c.onHosts = c.away()
	jobs, err := c.jobs(con, c.Runs)
	if err != nil {
		return nil, err
	}
	var all []verify.Options
	for _, job := range jobs {
		loads, err := faulty(job.Workload, given)
		if err != nil {
			return nil, err
		}
		for _, w := range loads {
			round := *job
			round.Workload = w
			err := round.Check()
			if c.Matrix && errors.Is(err, fault.ErrAlone) {
				fmt.Fprintf(con.err, "target %s: left out: %v\n", job.Target.Name, err)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("target %s: %w", job.Target.Name, err)
			}
			all = append(all, verify.Options{Job: &round, Rounds: c.Rounds, Quiet: quiet})
		}
	}
	return all, nil
}

// faulty returns the workload once for each of the given faults. Without given faults it
// returns the workload with its own faults together, or with the default fault.
func faulty(w *workload.Workload, given []string) ([]*workload.Workload, error) {
	if w.Backlog != nil {
		return nil, errors.New(
			"a round reads all messages after its load: remove backlog from the workload")
	}
	const scenario = "a round of verify has single faults: measure %s with plimsoll run"
	for _, f := range w.Faults {
		if len(given) == 0 && f.Do.IsScenario() {
			return nil, fmt.Errorf(scenario, f.Do)
		}
	}
	if len(given) == 0 && len(w.Faults) > 0 {
		return []*workload.Workload{w}, nil
	}
	if len(given) == 0 {
		given = defaultFault
	}
	var all []*workload.Workload
	for _, text := range given {
		f, given, err := workload.ParseFault(text)
		if err != nil {
			return nil, fmt.Errorf("--fault: %w", err)
		}
		if f.Do.IsScenario() {
			return nil, fmt.Errorf(scenario, f.Do)
		}
		if !given.At {
			f.At = (w.Duration / faultPart).Round(time.Millisecond)
			if !given.Within {
				f.Within = f.At
			}
		}
		if !given.For {
			f.For = (w.Duration / faultFor).Round(time.Millisecond)
		}
		load := *w
		load.Faults = []workload.Fault{f}
		if err := load.Validate(); err != nil {
			return nil, fmt.Errorf("--fault %q: %w", text, err)
		}
		all = append(all, &load)
	}
	return all, nil
}

// show prints the verifications and writes the reports: of each round into its directory, of each
// verification into its folder, and of all into the last one's.
func (c *verifyCommand) show(con console, found []*verify.Saved) error {
	for _, s := range found {
		for _, r := range s.Rounds {
			run, err := verdict.Read(filepath.Join(s.Dir, r.Dir))
			if err == nil {
				err = writeOwnReport(run)
			}
			if err != nil {
				return err
			}
		}
	}
	last := len(found) - 1
	for _, s := range found[:last] {
		one := verifications.Report([]*verify.Saved{s})
		if _, err := writePage(s.Dir, one.Page); err != nil {
			return err
		}
	}
	return con.print(verifications.Report(found), found[last].Dir, c.extent, c.JSON)
}

// verifyWatch shows a verification: a picture of its runs on a terminal, a line for each round
// elsewhere.
type verifyWatch struct {
	roundsWatch
	page *serve.Live
}

func (w *verifyWatch) Round(s *verify.Saved, number int, job *bench.Job) {
	w.page.Show(s.Dir)
	w.Plan(planOf(job))
	w.Phase(result.PhaseConnect,
		fmt.Sprintf("%s, %s: round %d of %d", s.Name, s.Faults[0], number, s.Wanted))
}

func (w *verifyWatch) Rounded(s *verify.Saved) {
	r := s.Rounds[len(s.Rounds)-1]
	for _, g := range r.Guarantees {
		if g.Name == verify.NoLoss {
			w.Phase(result.PhaseAccount,
				fmt.Sprintf("round %d of %d: %s", r.Number, s.Wanted, g.Sentence))
		}
	}
}
