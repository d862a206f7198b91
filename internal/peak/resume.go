package peak

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Find returns the newest folder below the job's Runs with the same search, of a command's set or,
// if that is empty, of any; "": none.
func Find(o Options, set string) (dir string, err error) {
	return Folders.Newest(o.Job.Runs, set, o.same)
}

// same reports whether a search is the one of the options.
func (o *Options) same(s *Saved) bool {
	asked := o.begun()
	return s.Resolved == asked.Resolved && s.Plan == asked.Plan &&
		slices.Equal(s.Objectives, asked.Objectives) && s.TrialSeconds == asked.TrialSeconds &&
		s.ConfirmSeconds == asked.ConfirmSeconds && s.MaxSeconds == asked.MaxSeconds
}

// replay restores the search's state from its folder: it takes the judged trials again, in order.
// An interrupted trial is repeated.
func (f *finder) replay() error {
	if !f.same(f.saved) {
		return fmt.Errorf(
			"the search in %s has another plan: repeat its whole command with --resume", f.Resume)
	}
	before := f.saved.Trials
	f.saved.Trials, f.saved.End, f.saved.Bracket = []Trial{}, Unfinished, Bracket{}
	for _, trial := range before {
		if !trial.Judged {
			continue
		}
		run, err := verdict.Read(filepath.Join(f.folder.Dir(), trial.Dir))
		if err != nil {
			return fmt.Errorf("read trial %d of the search: %w", trial.Number, err)
		}
		if !f.stepTo(trial) {
			return fmt.Errorf("trial %d of the search in %s was judged by the rules of another "+
				"plimsoll: start a new search, without --resume", trial.Number, f.Resume)
		}
		f.usedNs += run.Run.EndedAt.Sub(run.Run.StartedAt).Nanoseconds()
		if run.Run.State == result.Failed {
			f.failed++
		} else {
			f.failed = 0
		}
		f.take(f.step, run)
	}
	return nil
}

// stepTo sets the step of a trial that was already made. It reports whether the search can ask for
// that trial: in its current state, or when only the ends are tried because time runs out, or when
// no higher rate can be tried.
func (f *finder) stepTo(trial Trial) bool {
	same := func() bool {
		step, end := f.search.Next()
		f.step = step
		return end == Unfinished && step.Kind == trial.Kind && step.Long == trial.Long &&
			step.Rate == trial.TargetRate
	}
	if same() || f.settle() && same() {
		return true
	}
	if c := f.saved.Capped; c.Rate > 0 {
		if f.search.Cap(c.Rate); same() {
			f.refusal = c.Why
			return true
		}
	}
	if f.search.ConfirmOnly(); same() {
		f.hurried = true
		return true
	}
	f.search.hurried = f.hurried
	f.search.Cap(trial.TargetRate) // of a search that was saved without its cap
	return same()
}
