package prove

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Options control how truths are tried.
type Options struct {
	Clock   clock.Clock
	Virtual bool // the clock's time is virtual
	Build   result.Build
	Process time.Time // the start of this process
	// Tell is called at the start of each truth, from several goroutines. It may be nil.
	Tell func(t Truth)
}

// Tried is a truth with its outcome.
type Tried struct {
	Name    string  `json:"name"`
	Planted string  `json:"planted"`
	Verdict Outcome `json:"verdict"`
	Rows    []Row   `json:"figures"`
	Seconds float64 `json:"seconds"`
}

// concurrentTruths is the number of concurrent truths that run at a time.
const concurrentTruths = 3

// Run tries the truths. First it runs those whose latencies matter, one after another, and
// then the others concurrently. When ctx ends it returns the truths tried so far and the
// error of ctx.
func Run(ctx context.Context, truths []Truth, o Options) ([]Tried, error) {
	// Each run restores GOMAXPROCS at its end, which goes wrong with concurrent runs.
	places := runtime.GOMAXPROCS(0)
	defer func() { runtime.GOMAXPROCS(places) }()
	all := make([]*Tried, len(truths))
	turns := make(chan struct{}, concurrentTruths)
	var errs []error
	for i, t := range truths {
		if !t.Concurrent && t.Search == nil && ctx.Err() == nil {
			tried, err := try(ctx, t, o)
			all[i], errs = tried, append(errs, err)
		}
	}
	var concurrent sync.WaitGroup
	failed := make([]error, len(truths))
	for _, i := range longestFirst(truths) {
		turns <- struct{}{}
		concurrent.Go(func() {
			defer func() { <-turns }()
			if ctx.Err() == nil {
				all[i], failed[i] = try(ctx, truths[i], o)
			}
		})
	}
	concurrent.Wait()
	var tried []Tried
	for _, t := range all {
		if t != nil {
			tried = append(tried, *t)
		}
	}
	if ctx.Err() != nil {
		return tried, ctx.Err()
	}
	return tried, errors.Join(append(errs, failed...)...)
}

// longestFirst returns the indexes of the concurrent truths. Searches, which take longest,
// come first.
func longestFirst(truths []Truth) (searches []int) {
	var runs []int
	for i, t := range truths {
		switch {
		case t.Search != nil:
			searches = append(searches, i)
		case t.Concurrent:
			runs = append(runs, i)
		}
	}
	return append(searches, runs...)
}

// try makes the run of a truth and checks it. It returns nil when ctx ended meanwhile.
func try(ctx context.Context, t Truth, o Options) (*Tried, error) {
	if o.Tell != nil {
		o.Tell(t)
	}
	made, err := leftover.Dir("", "plimsoll-prove-")
	if err != nil {
		return nil, fmt.Errorf("prove %s: %w", t.Name, err)
	}
	defer func() { _ = made.Remove() }()
	began := time.Now()
	e, err := gather(ctx, t, made.Path, o)
	if ctx.Err() != nil {
		return nil, nil //nolint:nilnil // interrupted: the truth was not tried
	}
	if err != nil {
		return nil, fmt.Errorf("prove %s: %w", t.Name, err)
	}
	tried := &Tried{
		Name: t.Name, Planted: t.Planted, Verdict: Holds, Seconds: time.Since(began).Seconds(),
	}
	limited := e.limited()
	for _, check := range t.Checks {
		for _, row := range check(e) {
			row = row.judged(limited)
			tried.Rows = append(tried.Rows, row)
			if worse(row.Verdict, tried.Verdict) {
				tried.Verdict = row.Verdict
			}
		}
	}
	return tried, nil
}

func worse(a, b Outcome) bool {
	order := map[Outcome]int{Holds: 0, Unknown: 1, Misses: 2}
	return order[a] > order[b]
}

// gather makes the run or the search of a truth and returns what it shows.
func gather(ctx context.Context, t Truth, runs string, o Options) (*evidence, error) {
	e := &evidence{workload: t.Load.workload(t.Name), virtual: o.Virtual}
	if err := e.workload.Validate(); err != nil {
		return nil, err
	}
	s := sim.New(o.Clock, func(p sim.Planted) { e.planted = p })
	var given []target.Setting
	for name, value := range t.Settings {
		given = append(given, target.Setting{Name: name, Value: value})
	}
	settings, err := system.Resolve(s.Describe().Settings, given)
	if err != nil {
		return nil, err
	}
	job := &bench.Job{
		Workload: e.workload, Target: &target.Target{Name: "sim", System: "sim"},
		System: s, Settings: settings,
		Runs: runs, Clock: o.Clock, Build: o.Build, Process: o.Process, Idle: t.Load.Idle,
	}
	if err := job.Check(); err != nil {
		return nil, err
	}
	if t.Search != nil {
		e.search, err = peak.Run(ctx, t.Search.options(job))
		return e, err
	}
	dir, err := bench.Run(ctx, job, silent{})
	if err != nil {
		return nil, err
	}
	saved, err := verdict.Read(dir)
	if err != nil {
		return nil, err
	}
	e.run = &saved.Run
	if e.late = saved.Total(result.SimulatedLate); e.late == nil {
		e.late = result.NewHistogram()
	}
	if e.ownLag = saved.Total(result.OwnLag); e.ownLag == nil {
		e.ownLag = result.NewHistogram()
	}
	return e, nil
}

const (
	tolerance = 0.05             // of a search's bracket
	searchFor = 45 * time.Second // bounds a search
)

func (s Search) options(job *bench.Job) peak.Options {
	return peak.Options{
		Job: job, Objectives: s.Objectives, Trial: s.Trial, Confirm: s.Confirm,
		MaxTime: searchFor, Watch: silent{},
		Plan: peak.Plan{
			StartRate: s.Start, Tolerance: tolerance, Confirmations: 1, MaxTrials: peak.MostTrials,
			LeastRate: s.Start / 10, MostRate: s.Start * 100,
		},
	}
}

// limited returns the reason why the run's figures are not valid, or "" when they are.
func (e *evidence) limited() string {
	if e.search != nil {
		return e.doubt()
	}
	for _, v := range e.run.Verdicts {
		if v.Name == verdict.Generator && v.Outcome != result.Holds {
			return v.Sentence
		}
	}
	return ""
}

// doubt returns the reason why a search may have found the machine's limit, or "".
func (e *evidence) doubt() string {
	for _, p := range e.search.Trials {
		if c := p.Verdict.Clause(verdict.ClauseGenerator); c.Outcome == result.Broken {
			return c.Sentence
		}
	}
	return ""
}

// silent ignores all progress.
type silent struct{}

func (silent) Phase(result.PhaseName, string)           {}
func (silent) Interval(result.Interval)                 {}
func (silent) Trial(*peak.Saved, peak.Step, *bench.Job) {}
func (silent) TrialEnded(*peak.Saved)                   {}
