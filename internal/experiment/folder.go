package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Kind describes one kind of experiment. S is the type of its file's content.
type Kind[S any] struct {
	Name string // in the file: peak
	Work string // in sentences: search
	Head func(saved *S) *Record
	// Check refuses content on which readers cannot rely; nil: no check.
	Check func(saved *S) error
}

// Folder is an experiment's folder whose lock this process holds. It must be used by one
// goroutine.
type Folder[S any] struct {
	Saved *S
	kind  *Kind[S]
	lock  *os.File
}

// Dir returns the folder's path.
func (f *Folder[S]) Dir() string { return f.kind.Head(f.Saved).Dir }

// Create makes a folder below runs for an experiment that this process begins now. The words
// and the time give its name. When a folder of that name exists, Create appends a number. The
// folder appears whole or not at all.
func (k *Kind[S]) Create(runs string, saved *S, words ...string) (*Folder[S], error) {
	r := k.Head(saved)
	r.SchemaVersion, r.Kind = SchemaVersion, k.Name
	if r.StartedAt.IsZero() {
		r.StartedAt = time.Now().UTC()
	}
	r.begin()
	r.ID = result.Stamp(r.StartedAt) + "-" + result.NamePart(strings.Join(words, "-"))
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return nil, result.InFolder(runs, "create the folder for runs", err)
	}
	work, err := os.MkdirTemp(runs, ".new-")
	if err != nil {
		return nil, result.InFolder(runs, fmt.Sprintf("create the %s's folder", k.Work), err)
	}
	r.Dir = work
	f := &Folder[S]{Saved: saved, kind: k}
	if err := errors.Join(os.Chmod(work, 0o755), f.take(), f.rename(runs)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(work), f.Close())
	}
	return f, nil
}

// rename moves the folder to its final name below runs, and writes that name into the file.
func (f *Folder[S]) rename(runs string) error {
	r := f.kind.Head(f.Saved)
	first := r.ID
	for n := 2; n < 1000; n++ {
		if err := f.Save(); err != nil {
			return err
		}
		final := filepath.Join(runs, r.ID)
		err := os.Rename(r.Dir, final)
		if err == nil {
			r.Dir = final
			return nil
		}
		if !taken(err) {
			return fmt.Errorf("create the %s's folder: %w", f.kind.Work, err)
		}
		r.ID = fmt.Sprintf("%s-%d", first, n)
	}
	return fmt.Errorf(
		"create the %s's folder: %s and its numbered variants are taken: remove old results",
		f.kind.Work, first)
}

// Open takes the lock of an existing folder, to resume the experiment in it. What the file says of
// it stays until Run.
func (k *Kind[S]) Open(dir string) (*Folder[S], error) {
	saved, err := k.Read(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder[S]{Saved: saved, kind: k}
	if err := f.take(); err != nil {
		return nil, err
	}
	// The last process that held the lock may have changed the file since.
	if f.Saved, err = k.Read(dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	k.Head(f.Saved).SchemaVersion = SchemaVersion
	return f, nil
}

// begin records that this process works on the experiment from now on. The file of an older version
// is replaced.
func (f *Folder[S]) begin() error {
	f.kind.Head(f.Saved).begin()
	if err := f.Save(); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(f.Dir(), f.kind.Name+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// take locks the folder until Close, or until this process ends.
func (f *Folder[S]) take() error {
	lock, err := os.Open(f.Dir())
	if err != nil {
		return fmt.Errorf("lock the %s's folder: %w", f.kind.Work, err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf(
				"the %s in %s is under way in another process: wait until it ends, or stop it",
				f.kind.Work, f.Dir())
		}
		return fmt.Errorf("lock %s: %w", f.Dir(), err)
	}
	f.lock = lock
	return nil
}

// Close releases the folder's lock.
func (f *Folder[S]) Close() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// Discard removes the folder of an experiment that measured nothing, and releases its lock.
func (f *Folder[S]) Discard() error { return errors.Join(os.RemoveAll(f.Dir()), f.Close()) }

// Save replaces the experiment's file as a whole.
func (f *Folder[S]) Save() error {
	return result.ReplaceDocument(filepath.Join(f.Dir(), File), f.Saved)
}

// Is reports whether a directory is a folder of this kind.
func (k *Kind[S]) Is(dir string) bool { return fileOf(dir, k.Name) != "" }

// Read reads the file in a folder without taking the lock: another process may change it. A
// running experiment whose process has ended is incomplete.
func (k *Kind[S]) Read(dir string) (*S, error) {
	path := fileOf(dir, k.Name)
	if path == "" {
		return nil, cmp.Or(Damaged(dir),
			fmt.Errorf("%s is not a %s's folder: it has no %s of one", dir, k.Work, File))
	}
	saved := new(S)
	r := k.Head(saved)
	if err := decode(path, saved, r); err != nil {
		return nil, err
	}
	r.read(dir, k.Name, k.Work)
	if k.Check != nil {
		if err := k.Check(saved); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w", path, err)
		}
	}
	return saved, nil
}

// ReadHead reads what the files of all kinds begin with.
func ReadHead(dir string) (*Record, error) {
	file := HeadFile(dir)
	if file == nil {
		return nil, fmt.Errorf("%s is not an experiment's folder: it has no %s", dir, File)
	}
	r := new(Record)
	if err := decode(filepath.Join(dir, file.Name()), r, r); err != nil {
		return nil, err
	}
	kind := cmp.Or(r.Kind, strings.TrimSuffix(file.Name(), ".json"))
	r.read(dir, kind, kind)
	return r, nil
}

// Newest returns the newest folder below runs that like accepts, of a command's set or, if that is
// empty, of any; "" if there is none.
func (k *Kind[S]) Newest(runs, set string, like func(saved *S) bool) (dir string, err error) {
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("look for a %s to resume: %w", k.Work, err)
	}
	var newest time.Time
	for _, e := range entries {
		path := filepath.Join(runs, e.Name())
		if !e.IsDir() || hidden(e.Name()) || !k.Is(path) {
			continue
		}
		saved, err := k.Read(path)
		if err != nil {
			continue // damaged, or written by another version: it cannot be resumed
		}
		r := k.Head(saved)
		if (set == "" || r.Asked.Set == set) && like(saved) && !r.StartedAt.Before(newest) {
			dir, newest = path, r.StartedAt
		}
	}
	return dir, nil
}

// Run makes the measurements of a strategy, and saves how the experiment ended.
func (f *Folder[S]) Run(ctx context.Context, s Strategy, o Options) error {
	o.Dir, o.own = f.Dir(), true
	if err := f.begin(); err != nil {
		return err
	}
	err := run(ctx, s, o)
	f.kind.Head(f.Saved).Finish(ctx, err)
	return errors.Join(err, f.Save())
}
