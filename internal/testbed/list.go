package testbed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	// gateLimit bounds the wait for another process that makes or removes a
	// directory under the same base.
	gateLimit = 30 * time.Second
	downPoll  = 20 * time.Millisecond
)

// List returns the testbeds under base that stay up, by name, after removing
// what dead owners left, whose names it returns too.
func List(ctx context.Context, base string) (all []State, removed []string, err error) {
	base, err = filepath.Abs(base)
	if err != nil {
		return nil, nil, err
	}
	root, removed, err := clean(ctx, base)
	if err != nil || root == "" {
		return nil, removed, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, removed, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s, err := readState(filepath.Join(root, e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // a run's own, or gone in this moment
		}
		if err != nil {
			return nil, removed, err
		}
		s.look()
		all = append(all, s)
	}
	return all, removed, nil
}

// clean removes what dead owners left. root is empty when no testbed was ever
// made under base.
func clean(ctx context.Context, base string) (root string, removed []string, err error) {
	root = filepath.Join(base, rootName)
	if _, err := os.Stat(root); errors.Is(err, os.ErrNotExist) {
		return "", nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gateLimit)
	defer cancel()
	gate, err := lockWithin(ctx, filepath.Join(root, lockName))
	if err != nil {
		return "", nil, explain(base, fmt.Errorf("locking %s: %w", root, err))
	}
	defer gate.Close()
	removed, err = removeDead(root)
	// A run's own testbed has no name that anybody knows.
	removed = slices.DeleteFunc(removed, func(name string) bool { return unnamed.MatchString(name) })
	if err != nil {
		return root, removed, fmt.Errorf("removing what a dead testbed left: %w", err)
	}
	return root, removed, nil
}

// look fills in how the servers are now.
func (s *State) look() {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Alive = belongs(n.PID, s.PID)
		n.RSSBytes = 0
		if n.Alive {
			n.RSSBytes = residentBytes(n.PID)
		}
	}
}

// Ended is a testbed that Down has ended.
type Ended struct {
	State
	FreedBytes int64 // what its directory held
}

// Down ends a testbed and returns when nothing of it is left. Its owner is
// asked to end, and killed when it does not.
func Down(ctx context.Context, s State) (Ended, error) {
	e := Ended{State: s, FreedBytes: size(s.Dir)}
	// In this order: an owner that holds the lock after its process was taken
	// hold of is that process, and not another that got its number.
	p, err := os.FindProcess(s.PID)
	if err != nil {
		return e, fmt.Errorf("finding the owner of %s: %w", s.Name, err)
	}
	defer func() { _ = p.Release() }()
	now, err := readState(s.Dir)
	if err == nil && now.PID == s.PID {
		err = endOwner(ctx, s, p)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) { // not there: it has just ended by itself
		return e, err
	}
	// What a killed owner left.
	_, _, err = clean(ctx, filepath.Dir(filepath.Dir(s.Dir)))
	return e, err
}

func endOwner(ctx context.Context, s State, p *os.Process) error {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		held, err := isHeld(s.Dir)
		if err != nil || !held {
			return err
		}
		if err := p.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("ending %s (process %d): %w", s.Name, s.PID, err)
		}
		if gone, err := awaitGone(ctx, s.Dir, s.PID); gone || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s does not end: its process %d was killed and holds its lock still", s.Name, s.PID)
}

// awaitGone waits until the owner holds its lock no more and has ended, within
// endLimit.
func awaitGone(ctx context.Context, dir string, pid int) (bool, error) {
	timer := time.NewTimer(endLimit)
	defer timer.Stop()
	ticker := time.NewTicker(downPoll)
	defer ticker.Stop()
	for {
		held, err := isHeld(dir)
		if err != nil {
			return false, err
		}
		if !held && !belongs(pid, pid) {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("it is ending by itself: %w", context.Cause(ctx))
		case <-timer.C:
			return false, nil
		case <-ticker.C:
		}
	}
}

// size adds up the disk that the files of a directory take, as far as they can
// be seen. Files with holes are longer than that.
func size(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == imagesName && filepath.Dir(path) == dir {
			return filepath.SkipDir // what is in them is in the data, where they are mounted
		}
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what vanishes meanwhile is not counted
		}
		var stat syscall.Stat_t
		if syscall.Lstat(path, &stat) == nil {
			sum += stat.Blocks * 512 // whatever the file system's own blocks are
		}
		return nil
	})
	return sum
}
