package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// SchemaVersion is written to every plan. Readers accept it and older ones.
const SchemaVersion = 1

// planFile is the plan in a sweep's folder.
const planFile = "sweep.json"

// Plan is sweep.json: what was asked for and how far it was known to be.
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
	return slices.EqualFunc(p.Axes, other.Axes, func(a, b Axis) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }) &&
		slices.EqualFunc(p.Cells, other.Cells, func(a, b Cell) bool { return a.Workload == b.Workload && a.Target == b.Target })
}

// Folder is a sweep's folder, held by this process.
type Folder struct {
	Dir  string
	Plan Plan
	lock *os.File
}

var notInNames = regexp.MustCompile(`[^a-z0-9.]+`)

// Create makes a sweep's folder below runs. It appears whole or not at all.
func Create(runs string, plan Plan) (*Folder, error) {
	plan.SchemaVersion = SchemaVersion
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(plan.Name), "-"), "-")
	plan.ID = plan.StartedAt.UTC().Format("2006-01-02T150405") + "-sweep-" + name
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return nil, fmt.Errorf("create the folder for runs: %w", err)
	}
	work, err := os.MkdirTemp(runs, ".new-")
	if err != nil {
		return nil, fmt.Errorf("create the sweep's folder: %w", err)
	}
	f := &Folder{Dir: work, Plan: plan}
	if err := errors.Join(os.Chmod(work, 0o755), f.take(), f.settle(runs)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(work), f.Close())
	}
	return f, nil
}

// settle gives the folder its name; where that is taken, a number is added.
func (f *Folder) settle(runs string) error {
	id := f.Plan.ID
	for n := 2; n < 1000; n++ {
		if err := f.save(); err != nil {
			return err
		}
		final := filepath.Join(runs, f.Plan.ID)
		err := os.Rename(f.Dir, final)
		if err == nil {
			f.Dir = final
			return nil
		}
		if !errors.Is(err, os.ErrExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("create the sweep's folder: %w", err)
		}
		f.Plan.ID = fmt.Sprintf("%s-%d", id, n)
	}
	return fmt.Errorf("create the sweep's folder: the name %s is taken", id)
}

// Open takes a sweep's folder to go on with it.
func Open(dir string) (*Folder, error) {
	plan, err := Read(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Plan: plan}
	if err := f.take(); err != nil {
		return nil, err
	}
	// Whoever held it until now may have written since.
	if f.Plan, err = Read(dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take locks the folder for as long as this process lives.
func (f *Folder) take() error {
	lock, err := os.Open(f.Dir)
	if err != nil {
		return fmt.Errorf("lock the sweep's folder: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("the sweep in %s is under way in another process: wait for its end, or stop it", f.Dir)
		}
		return fmt.Errorf("lock %s: %w", f.Dir, err)
	}
	f.lock = lock
	return nil
}

// Close gives the folder up.
func (f *Folder) Close() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// Is reports whether a directory is a sweep's folder.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, planFile))
	return err == nil
}

// maxPlan bounds sweep.json: a thousand cells take some megabytes.
const maxPlan = 64 << 20

// Read reads the plan in a sweep's folder. The states of its cells are those
// that were known when it was written.
func Read(dir string) (Plan, error) {
	path := filepath.Join(dir, planFile)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Plan{}, fmt.Errorf("%s is not a sweep's folder: it has no %s", dir, planFile)
	}
	if err != nil {
		return Plan{}, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxPlan {
		return Plan{}, fmt.Errorf("%s is not a file that plimsoll wrote", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Plan{}, fmt.Errorf("read %s: %w", path, err)
	}
	var p Plan
	if err := json.Unmarshal(raw, &p); err != nil {
		return Plan{}, fmt.Errorf("read %s: %w", path, err)
	}
	if p.SchemaVersion < 1 || p.SchemaVersion > SchemaVersion {
		return Plan{}, fmt.Errorf("%s has schema version %d, this plimsoll reads 1 to %d", path, p.SchemaVersion, SchemaVersion)
	}
	return p, p.check(path)
}

// check holds what readers rely on.
func (p *Plan) check(path string) error {
	for i, c := range p.Cells {
		if len(c.Values) != len(p.Axes) {
			return fmt.Errorf("%s is damaged: cell %d has %d values for %d keys", path, i+1, len(c.Values), len(p.Axes))
		}
		if c.Run != "" && (filepath.Base(c.Run) != c.Run || c.Run == ".." || c.Run == ".") {
			return fmt.Errorf("%s is damaged: cell %d names a run outside the folder", path, i+1)
		}
	}
	return nil
}

// Find returns the newest sweep below runs that asks for the same cells.
func Find(runs string, like Plan) (dir string, err error) {
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("look for a sweep to go on with: %w", err)
	}
	var newest time.Time
	for _, e := range entries {
		path := filepath.Join(runs, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !Is(path) {
			continue
		}
		if p, err := Read(path); err == nil && p.same(&like) && !p.StartedAt.Before(newest) {
			dir, newest = path, p.StartedAt
		}
	}
	if dir == "" {
		return "", fmt.Errorf("there is no sweep of these cells in %s: start it without --resume", runs)
	}
	return dir, nil
}

// MustBe refuses a plan that asks for other cells than the folder's.
func (f *Folder) MustBe(p Plan) error {
	if !f.Plan.same(&p) {
		return fmt.Errorf("the sweep in %s was asked for other cells: leave -w, -t and --vary out to go on with it", f.Dir)
	}
	return nil
}

func (f *Folder) save() error {
	raw, err := json.MarshalIndent(f.Plan, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", planFile, err)
	}
	return result.ReplaceFile(filepath.Join(f.Dir, planFile), append(raw, '\n'))
}
