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
	runs, further := Runs(dir, plan)
	return Report(plan, runs, further), nil
}

// Runs reads the judged runs of a sweep's cells and of its further measurements; nil for one
// without a readable run.
func Runs(dir string, p *sweep.Plan) (cells, further []*result.Saved) {
	for _, c := range p.Cells {
		cells = append(cells, readable(dir, c.Run))
	}
	for _, c := range p.Further {
		further = append(further, readable(dir, c.Run))
	}
	return cells, further
}

// readable reads a run; nil: there is none, or it cannot be read.
func readable(dir, name string) *result.Saved {
	if name == "" {
		return nil
	}
	saved, _ := verdict.Read(filepath.Join(dir, name))
	return saved
}
