package sweeps

import (
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Read reads a sweep's folder and reports on it.
func Read(dir string) (form.Report, error) {
	plan, err := sweep.Read(dir)
	if err != nil {
		return form.Report{}, err
	}
	return Report(plan, CellRuns(dir, plan), FurtherRuns(dir, plan)), nil
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
