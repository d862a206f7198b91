package report

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Read reads the report of directories: of runs, or of the folders of experiments of one kind.
func Read(dirs []string) (Report, error) {
	all := make([]string, len(dirs))
	for i, dir := range dirs {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		all[i] = dir
	}
	for _, kind := range kinds {
		if r, is, err := kind(all); is || err != nil {
			return r, err
		}
	}
	saved, err := readAll(all, verdict.Read)
	return Runs(saved), err
}

// kinds read the folders of the experiments of a kind, where all directories are such folders.
var kinds = []func([]string) (Report, bool, error){
	folders("sweeps", sweep.Is, readSweep, func(all []Report) Report { return all[0] }),
	folders("studies", study.Is, ReadStudy, Studies),
	folders("verifications", verify.Is, verify.Read, Verifications),
	folders("searches for a peak", peak.Is, peak.Read, Searches),
}

// folders reads the experiments of a kind; none or all of the directories must be its folders.
func folders[T any](kind string, is func(string) bool, read func(string) (T, error),
	report func([]T) Report) func([]string) (Report, bool, error) {
	return func(dirs []string) (Report, bool, error) {
		n := 0
		for _, dir := range dirs {
			if is(dir) {
				n++
			}
		}
		switch {
		case n == 0:
			return Report{}, false, nil
		case n < len(dirs):
			return Report{}, false, fmt.Errorf("runs and %s cannot be laid side by side: give "+
				"only the one or the other", kind)
		case n > 1 && kind == "sweeps":
			return Report{}, false, errors.New("sweeps are reported one by one: name one of them")
		}
		all, err := readAll(dirs, read)
		if err != nil {
			return Report{}, false, err
		}
		return report(all), true, nil
	}
}

func readAll[T any](dirs []string, read func(string) (T, error)) ([]T, error) {
	all := make([]T, len(dirs))
	for i, dir := range dirs {
		var err error
		if all[i], err = read(dir); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func readSweep(dir string) (Report, error) {
	plan, err := sweep.Read(dir)
	if err != nil {
		return Report{}, err
	}
	return Sweep(plan, CellRuns(dir, plan), FurtherRuns(dir, plan)), nil
}

// CellRuns reads the judged runs of a sweep's cells; nil for a cell without a readable run.
func CellRuns(dir string, p *sweep.Plan) []*result.Saved {
	runs := make([]*result.Saved, len(p.Cells))
	for i, c := range p.Cells {
		runs[i] = cellRun(dir, c.Run)
	}
	return runs
}

// FurtherRuns reads the judged runs of a sweep's further measurements; nil for one without a
// readable run.
func FurtherRuns(dir string, p *sweep.Plan) []*result.Saved {
	runs := make([]*result.Saved, len(p.Further))
	for i, c := range p.Further {
		runs[i] = cellRun(dir, c.Run)
	}
	return runs
}

// cellRun reads a run; nil: there is none, or it cannot be read.
func cellRun(dir, name string) *result.Saved {
	if name == "" {
		return nil
	}
	saved, err := verdict.Read(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return saved
}

// ReadStudy reads a study's folder.
func ReadStudy(dir string) (StudyResult, error) {
	p, s, err := study.Read(dir)
	if err != nil {
		return StudyResult{}, err
	}
	return NewStudyResult(s, p, study.Measurements(dir, p))
}
