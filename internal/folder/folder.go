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

// Kind describes one kind of folder, such as a sweep's. P is the type of its plan.
type Kind[P any] struct {
	Word string // the kind's name, and with .json the plan's file name: sweep
	// ID returns the field of a plan that holds the folder's name.
	ID func(plan *P) *string
	// Check refuses a plan that its readers cannot rely on. path is for its errors.
	Check func(plan *P, path string) error
}

// Folder is a folder whose lock this process holds. It must be used by one goroutine.
type Folder[P any] struct {
	Dir  string
	Plan P
	kind *Kind[P]
	lock *os.File
}

func (k *Kind[P]) file() string { return k.Word + ".json" }

// Create makes a folder below runs, with the name that the plan gives. When a folder of
// that name exists, Create appends a number. The folder appears whole or not at all.
func (k *Kind[P]) Create(runs string, plan P) (*Folder[P], error) {
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return nil, fmt.Errorf("create the folder for runs: %w", err)
	}
	work, err := os.MkdirTemp(runs, ".new-")
	if err != nil {
		return nil, fmt.Errorf("create the %s's folder: %w", k.Word, err)
	}
	f := &Folder[P]{Dir: work, Plan: plan, kind: k}
	if err := errors.Join(os.Chmod(work, 0o755), f.take(), f.rename(runs)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(work), f.Close())
	}
	return f, nil
}

// rename moves the folder to its final name below runs, and writes that name into the plan.
func (f *Folder[P]) rename(runs string) error {
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
	return fmt.Errorf(
		"create the %s's folder: %s and its numbered variants are taken: remove old results",
		f.kind.Word, first)
}

// Open takes the lock of an existing folder, to resume the work in it.
func (k *Kind[P]) Open(dir string) (*Folder[P], error) {
	plan, err := k.Read(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder[P]{Dir: dir, Plan: plan, kind: k}
	if err := f.take(); err != nil {
		return nil, err
	}
	// The last process that held the lock may have changed the plan since.
	if f.Plan, err = k.Read(dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take locks the folder until Close, or until this process ends.
func (f *Folder[P]) take() error {
	lock, err := os.Open(f.Dir)
	if err != nil {
		return fmt.Errorf("lock the %s's folder: %w", f.kind.Word, err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf(
				"the %s in %s is under way in another process: wait until it ends, or stop it",
				f.kind.Word, f.Dir)
		}
		return fmt.Errorf("lock %s: %w", f.Dir, err)
	}
	f.lock = lock
	return nil
}

// Close releases the folder's lock.
func (f *Folder[P]) Close() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// Save replaces the plan's file as a whole.
func (f *Folder[P]) Save() error {
	return save(filepath.Join(f.Dir, f.kind.file()), f.Plan)
}

// save replaces a JSON file as a whole.
func save(path string, content any) error {
	raw, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return result.ReplaceFile(path, append(raw, '\n'))
}

// Is reports whether a directory is a folder of this kind.
func (k *Kind[P]) Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, k.file()))
	return err == nil
}

// maxPlan bounds a plan's file in bytes. The plan of a thousand cells takes some megabytes.
const maxPlan = 64 << 20

// Read reads the plan in a folder without taking the lock: another process may change it.
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

// CheckVersion refuses a plan whose schema version this plimsoll does not know.
func CheckVersion(path string, version, newest int) error {
	if version < 1 || version > newest {
		return fmt.Errorf(
			"%s has schema version %d, this plimsoll reads 1 to %d: use a newer plimsoll",
			path, version, newest)
	}
	return nil
}

// CheckName refuses a run's name that leads out of the folder. An empty name is allowed.
func CheckName(path, name string) error {
	if name != "" && (filepath.Base(name) != name || name == ".." || name == ".") {
		return fmt.Errorf("%s is damaged: it names a run outside the folder", path)
	}
	return nil
}

// Newest returns the folder below runs that began last, of those whose plan like accepts.
// It returns "" when there is none.
func (k *Kind[P]) Newest(
	runs string, like func(plan *P) (began time.Time, is bool),
) (dir string, err error) {
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("look for a %s to resume: %w", k.Word, err)
	}
	var newest time.Time
	for _, e := range entries {
		path := filepath.Join(runs, e.Name())
		if strings.HasPrefix(e.Name(), ".") || !k.Is(path) {
			continue
		}
		plan, err := k.Read(path)
		if err != nil {
			continue // damaged, or written by another version: it cannot be resumed
		}
		if began, is := like(&plan); is && !began.Before(newest) {
			dir, newest = path, began
		}
	}
	return dir, nil
}
