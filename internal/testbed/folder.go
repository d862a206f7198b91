package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	rootName = ".testbed"
	lockName = "lock"
	dataName = "data"
	lockPoll = 10 * time.Millisecond

	// Further names in the folder of a detached testbed.
	stateName   = "state.json"
	targetName  = "target.yaml"
	secretsName = "secrets"
	logsName    = "logs"
	ownerLog    = "owner.log"
)

// unnamed matches the directories of testbeds without a name.
var unnamed = regexp.MustCompile(`^p\d+-\d+$`)

// folder is one testbed's directory. Its lock is held as long as the owner lives.
type folder struct {
	dir  string
	lock *os.File
}

// openFolder makes a directory under base and locks it. Meanwhile no other process makes or
// removes a directory there. Without a name, the directory gets a unique one. The error is
// os.ErrExist when the name is in use.
func openFolder(ctx context.Context, base, name string) (*folder, error) {
	root := filepath.Join(base, rootName)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, result.InFolder(base, "make the data directory", err)
	}
	if absolute, err := filepath.Abs(base); err == nil {
		leftover.Watch(Base, absolute)
	}
	gate, err := lockWithin(ctx, filepath.Join(root, lockName))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", root, err)
	}
	defer gate.Close()
	if _, err := removeDead(root); err != nil {
		return nil, fmt.Errorf("remove what a dead testbed left: %w", err)
	}
	return makeFolder(root, name)
}

func makeFolder(root, name string) (*folder, error) {
	dir := filepath.Join(root, name)
	var err error
	if name == "" {
		dir, err = os.MkdirTemp(root, "p"+strconv.Itoa(os.Getpid())+"-")
	} else {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return nil, result.InFolder(root, "make the data directory", err)
	}
	r := &folder{dir: dir}
	r.lock, err = tryLock(filepath.Join(dir, lockName))
	if err == nil {
		// The lock file has content, so that a full disk shows here.
		_, err = fmt.Fprintln(r.lock, os.Getpid())
	}
	if err == nil {
		err = os.Mkdir(r.data(), 0o700)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the data directory: %w", err), r.remove())
	}
	return r, nil
}

func (r *folder) data() string { return filepath.Join(r.dir, dataName) }

// remove deletes the directory, and the lock last. If it is interrupted, the free lock still
// shows that the owner is dead.
func (r *folder) remove() error {
	err := removeDir(r.dir)
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	return err
}

func removeDir(dir string) error {
	if err := undo(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == lockName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// removeDead deletes the directories whose lock is free, and returns their names.
func removeDead(root string) (removed []string, err error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		was, err := removeIfDead(filepath.Join(root, e.Name()))
		if err != nil {
			return removed, err
		}
		if was {
			removed = append(removed, e.Name())
		}
	}
	return removed, nil
}

func removeIfDead(dir string) (removed bool, err error) {
	path := filepath.Join(dir, lockName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		// An empty directory was left by a maker that died at once. Any other is not ours.
		err := os.Remove(dir)
		if err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		return false, nil
	}
	lock, err := lockFile(path, os.O_RDWR)
	if errors.Is(err, errHeld) || errors.Is(err, os.ErrNotExist) {
		return false, nil // its owner lives, or has just removed it
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	return true, removeDir(dir)
}

var errHeld = errors.New("another process holds the lock")

// tryLock opens and locks a file, which it makes if necessary, or returns errHeld.
func tryLock(path string) (*os.File, error) { return lockFile(path, os.O_CREATE|os.O_RDWR) }

// lockFile opens and locks an existing file, or returns errHeld.
func lockFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, &os.PathError{Op: "flock", Path: path, Err: err}
}

// lockWithin waits for a file's lock until ctx ends.
func lockWithin(ctx context.Context, path string) (*os.File, error) {
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		f, err := tryLock(path)
		if !errors.Is(err, errHeld) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		case <-ticker.C:
		}
	}
}
