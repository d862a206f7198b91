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
	// Until is how far the interval of a figure may reach above it, as a share, in a sweep whose
	// cells are measured until these primary figures, with commas between, are known; 0: once.
	Until   float64 `json:"until,omitempty"`
	Primary string  `json:"primary,omitempty"`
	// Further are further measurements of the cells, round by round.
	Further []Further `json:"further,omitempty"`
}

// Further is a further measurement of a cell.
type Further struct {
	Of    int `json:"of"`    // the index of the cell
	Round int `json:"round"` // from 2
	experiment.Cell
}

// size returns the number of measurements.
func (p *Plan) size() int { return len(p.Cells) + len(p.Further) }

// at returns one of all measurements: first those of the cells.
func (p *Plan) at(i int) *experiment.Cell {
	if i < len(p.Cells) {
		return &p.Cells[i].Cell
	}
	return &p.Further[i-len(p.Cells)].Cell
}

// same reports whether two plans ask for the same cells.
func (p *Plan) same(other *Plan) bool {
	return p.Until == other.Until && p.Primary == other.Primary &&
		slices.EqualFunc(p.Axes, other.Axes, func(a, b Axis) bool {
			return a.Key == b.Key && slices.Equal(a.Values, b.Values)
		}) &&
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
	for i, c := range p.Further {
		if c.Of < 0 || c.Of >= len(p.Cells) || c.Round < 2 {
			return fmt.Errorf("further measurement %d is of no cell", i+1)
		}
		if err := experiment.CheckName(c.Run); err != nil {
			return err
		}
	}
	return experiment.CheckCount(len(p.Cells) + len(p.Further))
}

// Folders are the folders of sweeps.
var Folders = experiment.Kind[Plan]{Name: experiment.Sweep, Work: "sweep",
	Head: func(p *Plan) *experiment.Record { return &p.Record }, Check: (*Plan).check}

// Folder is a sweep's folder whose lock this process holds.
type Folder = experiment.Folder[Plan]

// Create makes a sweep's folder below runs. The folder appears whole or not at all.
func Create(runs string, plan *Plan) (*Folder, error) {
	return Folders.Create(runs, plan, "sweep", plan.Name)
}

// Find returns the folder of the newest sweep below runs with the same cells.
func Find(runs string, like *Plan) (dir string, err error) {
	dir, err = Folders.Newest(runs, "", like.same)
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
