package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Kind is what sets one kind of folder apart. P is its plan.
type Kind[P any] struct {
	Word string // what it is called, and with .json its plan's file: sweep
	// ID is where a plan has the folder's name.
	ID func(plan *P) *string
	// Check holds what readers of a plan rely on; path is for its errors.
	Check func(plan *P, path string) error
}

// Folder is a folder that this process holds. It is used by one goroutine.
type Folder[P any] struct {
	Dir  string
	Plan P
	kind *Kind[P]
	lock *os.File
}

func (k *Kind[P]) file() string { return k.Word + ".json" }

// Create makes a folder below runs, named as the plan says; where that is taken,
// a number is added. It appears whole or not at all.
func (k *Kind[P]) Create(runs string, plan P) (*Folder[P], error) {
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return nil, fmt.Errorf("create the folder for runs: %w", err)
	}
	work, err := os.MkdirTemp(runs, ".new-")
	if err != nil {
		return nil, fmt.Errorf("create the %s's folder: %w", k.Word, err)
	}
	f := &Folder[P]{Dir: work, Plan: plan, kind: k}
	if err := errors.Join(os.Chmod(work, 0o755), f.take(), f.settle(runs)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(work), f.Close())
	}
	return f, nil
}

// settle gives the folder its name.
func (f *Folder[P]) settle(runs string) error {
	id := f.kind.ID(&f.Plan)
	first := *id
	for n := 2; n < 1000; n++ {
		if err := f.Save(); err != nil {
			return err
		}
		final := filepath.Join(runs, *id)
		err := os.Rename(f.Dir, final)
		if err == nil {
			f.Dir = final
			return nil
		}
		if !errors.Is(err, os.ErrExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("create the %s's folder: %w", f.kind.Word, err)
		}
		*id = fmt.Sprintf("%s-%d", first, n)
	}
	return fmt.Errorf("create the %s's folder: the name %s is taken", f.kind.Word, first)
}

// Open takes a folder to go on with it.
func (k *Kind[P]) Open(dir string) (*Folder[P], error) {
	plan, err := k.Read(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder[P]{Dir: dir, Plan: plan, kind: k}
	if err := f.take(); err != nil {
		return nil, err
	}
	// Whoever held it until now may have written since.
	if f.Plan, err = k.Read(dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take locks the folder for as long as this process lives.
func (f *Folder[P]) take() error {
	lock, err := os.Open(f.Dir)
	if err != nil {
		return fmt.Errorf("lock the %s's folder: %w", f.kind.Word, err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("the %s in %s is under way in another process: wait for its end, or stop it", f.kind.Word, f.Dir)
		}
		return fmt.Errorf("lock %s: %w", f.Dir, err)
	}
	f.lock = lock
	return nil
}

// Close gives the folder up.
func (f *Folder[P]) Close() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// Save replaces the plan in the folder as a whole.
func (f *Folder[P]) Save() error {
	raw, err := json.MarshalIndent(f.Plan, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", f.kind.file(), err)
	}
	return result.ReplaceFile(filepath.Join(f.Dir, f.kind.file()), append(raw, '\n'))
}

// Is reports whether a directory is a folder of this kind.
func (k *Kind[P]) Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, k.file()))
	return err == nil
}

// maxPlan bounds a plan's file: a thousand cells take some megabytes.
const maxPlan = 64 << 20

// Read reads the plan in a folder: what was known when it was written.
func (k *Kind[P]) Read(dir string) (plan P, err error) {
	path := filepath.Join(dir, k.file())
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return plan, fmt.Errorf("%s is not a %s's folder: it has no %s", dir, k.Word, k.file())
	}
	if err != nil {
		return plan, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxPlan {
		return plan, fmt.Errorf("%s is not a file that plimsoll wrote", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return plan, fmt.Errorf("read %s: %w", path, err)
	}
	if err := json.Unmarshal(raw, &plan); err != nil {
		return plan, fmt.Errorf("read %s: %w", path, err)
	}
	return plan, k.Check(&plan, path)
}

// CheckVersion refuses a plan of a schema that is not known.
func CheckVersion(path string, version, newest int) error {
	if version < 1 || version > newest {
		return fmt.Errorf("%s has schema version %d, this plimsoll reads 1 to %d", path, version, newest)
	}
	return nil
}

// CheckName refuses the name of a run that does not lie in the folder itself.
func CheckName(path, name string) error {
	if name != "" && (filepath.Base(name) != name || name == ".." || name == ".") {
		return fmt.Errorf("%s is damaged: it names a run outside the folder", path)
	}
	return nil
}

// Newest returns the folder below runs whose plan is like what is looked for and
// began last; empty: there is none.
func (k *Kind[P]) Newest(runs string, like func(plan *P) (began time.Time, is bool)) (dir string, err error) {
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("look for a %s to go on with: %w", k.Word, err)
	}
	var newest time.Time
	for _, e := range entries {
		path := filepath.Join(runs, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !k.Is(path) {
			continue
		}
		plan, err := k.Read(path)
		if err != nil {
			continue // damaged, or of another plimsoll: none to go on with
		}
		if began, is := like(&plan); is && !began.Before(newest) {
			dir, newest = path, began
		}
	}
	return dir, nil
}
