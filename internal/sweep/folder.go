package sweep

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/folder"
	"github.com/plimsoll-bench/plimsoll/result"
)

// SchemaVersion is the version of the format that this plimsoll writes. It reads older ones.
const SchemaVersion = 1

// Plan is the content of sweep.json: the request, and the recorded progress.
type Plan struct {
	SchemaVersion int       `json:"schema_version"`
	ID            string    `json:"id"`
	Name          string    `json:"name"` // of the workload
	StartedAt     time.Time `json:"started_at"`
	EndedAt       time.Time `json:"ended_at,omitzero"` // all cells were tried
	Command       []string  `json:"command"`
	Axes          []Axis    `json:"axes"`
	Cells         []Cell    `json:"cells"`
}

// same reports whether two plans ask for the same cells.
func (p *Plan) same(other *Plan) bool {
	return slices.EqualFunc(p.Axes, other.Axes,
		func(a, b Axis) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }) &&
		slices.EqualFunc(p.Cells, other.Cells,
			func(a, b Cell) bool { return a.Workload == b.Workload && a.Target == b.Target })
}

// check refuses a plan that readers cannot rely on.
func (p *Plan) check(path string) error {
	if err := folder.CheckVersion(path, p.SchemaVersion, SchemaVersion); err != nil {
		return err
	}
	for i, c := range p.Cells {
		if len(c.Values) != len(p.Axes) {
			return fmt.Errorf("%s is damaged: cell %d has %d values for %d keys", path, i+1,
				len(c.Values), len(p.Axes))
		}
		if err := folder.CheckName(path, c.Run); err != nil {
			return err
		}
	}
	return nil
}

// kind describes the folder of a sweep.
var kind = folder.Kind[Plan]{Word: "sweep", ID: func(p *Plan) *string { return &p.ID },
	Check: (*Plan).check}

// Folder is a sweep's folder whose lock this process holds.
type Folder struct{ *folder.Folder[Plan] }

// Create makes a sweep's folder below runs. The folder appears whole or not at all.
func Create(runs string, plan Plan) (*Folder, error) {
	plan.SchemaVersion = SchemaVersion
	plan.ID = result.Stamp(plan.StartedAt) + "-sweep-" + result.NamePart(plan.Name)
	f, err := kind.Create(runs, plan)
	if err != nil {
		return nil, err
	}
	return &Folder{f}, nil
}

// Open takes the lock of a sweep's folder, to resume the sweep.
func Open(dir string) (*Folder, error) {
	f, err := kind.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{f}, nil
}

// Is reports whether a directory is a sweep's folder.
func Is(dir string) bool { return kind.Is(dir) }

// Read reads the plan in a sweep's folder. The states of its cells are as last saved.
func Read(dir string) (Plan, error) { return kind.Read(dir) }

// Find returns the folder of the newest sweep below runs with the same cells.
func Find(runs string, like Plan) (dir string, err error) {
	dir, err = kind.Newest(runs,
		func(p *Plan) (time.Time, bool) { return p.StartedAt, p.same(&like) })
	if err == nil && dir == "" {
		err = fmt.Errorf("there is no sweep of these cells in %s: start it without --resume", runs)
	}
	return dir, err
}

// MustBe refuses a plan with other cells than the folder's.
func (f *Folder) MustBe(p Plan) error {
	if !f.Plan.same(&p) {
		return fmt.Errorf(
			"the sweep in %s has other cells: leave -w, -t and --vary out to continue it", f.Dir)
	}
	return nil
}
