package sweep

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// Plan is the content of a sweep's file: the request, and the recorded progress. Its name is the
// workload's.
type Plan struct {
	experiment.Record

	Axes  []Axis `json:"axes"`
	Cells []Cell `json:"cells"`
}

// same reports whether two plans ask for the same cells.
func (p *Plan) same(other *Plan) bool {
	return slices.EqualFunc(p.Axes, other.Axes,
		func(a, b Axis) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }) &&
		slices.EqualFunc(p.Cells, other.Cells,
			func(a, b Cell) bool { return a.Workload == b.Workload && a.Target == b.Target })
}

// check refuses a plan that readers cannot rely on.
func (p *Plan) check() error {
	for i, c := range p.Cells {
		if len(c.Values) != len(p.Axes) {
			return fmt.Errorf("cell %d has %d values for %d keys", i+1, len(c.Values), len(p.Axes))
		}
		if err := experiment.CheckName(c.Run); err != nil {
			return err
		}
	}
	return nil
}

// kind describes the folder of a sweep.
var kind = experiment.Kind[Plan]{Name: "sweep", Work: "sweep",
	Head: func(p *Plan) *experiment.Record { return &p.Record }, Check: (*Plan).check}

// Folder is a sweep's folder whose lock this process holds.
type Folder = experiment.Folder[Plan]

// Create makes a sweep's folder below runs. The folder appears whole or not at all.
func Create(runs string, plan *Plan) (*Folder, error) {
	return kind.Create(runs, plan, "sweep", plan.Name)
}

// Open takes the lock of a sweep's folder, to resume the sweep.
func Open(dir string) (*Folder, error) { return kind.Open(dir) }

// Is reports whether a directory is a sweep's folder.
func Is(dir string) bool { return kind.Is(dir) }

// Read reads the plan in a sweep's folder. The states of its cells are as last saved.
func Read(dir string) (*Plan, error) { return kind.Read(dir) }

// Find returns the folder of the newest sweep below runs with the same cells.
func Find(runs string, like *Plan) (dir string, err error) {
	dir, err = kind.Newest(runs, like.same)
	if err == nil && dir == "" {
		err = fmt.Errorf("there is no sweep of these cells in %s: start it without --resume", runs)
	}
	return dir, err
}

// MustBe refuses a plan with other cells than the folder's.
func MustBe(f *Folder, p *Plan) error {
	if !f.Saved.same(p) {
		return fmt.Errorf(
			"the sweep in %s has other cells: leave -w, -t and --vary out to continue it",
			f.Dir())
	}
	return nil
}
