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
	// gateLimit bounds the wait while another process makes or removes a directory
	// under the same base.
	gateLimit = 30 * time.Second
	downPoll  = 20 * time.Millisecond
)

// List returns the detached testbeds under base, sorted by name. It first removes what dead
// owners left, and returns the names of the removed testbeds.
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
			continue // it belongs to a run, or was just removed
		}
		if err != nil {
			return nil, removed, err
		}
		s.look()
		all = append(all, s)
	}
	return all, removed, nil
}

// clean removes what dead owners left. root is empty when base never had a testbed.
func clean(ctx context.Context, base string) (root string, removed []string, err error) {
	root = filepath.Join(base, rootName)
	if _, err := os.Stat(root); errors.Is(err, os.ErrNotExist) {
		return "", nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gateLimit)
	defer cancel()
	gate, err := lockWithin(ctx, filepath.Join(root, lockName))
	if err != nil {
		return "", nil, explain(base, fmt.Errorf("lock %s: %w", root, err))
	}
	defer gate.Close()
	removed, err = removeDead(root)
	// The testbed of a run has no name that a user knows.
	removed = slices.DeleteFunc(removed, unnamed.MatchString)
	if err != nil {
		return root, removed, fmt.Errorf("remove what a dead testbed left: %w", err)
	}
	return root, removed, nil
}

// look updates the state's Alive and RSSBytes of all nodes.
func (s *State) look() {
	if s.Hosted {
		return
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Alive = belongs(n.PID, s.PID)
		n.RSSBytes = 0
		if n.Alive {
			n.RSSBytes = residentBytes(n.PID)
		}
	}
}

// Ended describes a testbed that Down ended.
type Ended struct {
	State
	FreedBytes int64 // the disk that its directory took
}

// Down ends a testbed, and returns when nothing of it is left. It asks the owner to end, and
// kills an owner that does not.
func Down(ctx context.Context, s State) (Ended, error) {
	e := Ended{State: s, FreedBytes: size(s.Dir)}
	// This order excludes another process with the owner's number: if the state names the
	// same owner after FindProcess, that process is the owner.
	p, err := os.FindProcess(s.PID)
	if err != nil {
		return e, fmt.Errorf("find the owner of %s: %w", s.Name, err)
	}
	defer func() { _ = p.Release() }()
	now, err := readState(s.Dir)
	if err == nil && now.PID == s.PID {
		err = endOwner(ctx, s, p)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) { // without a state it ended by itself
		return e, err
	}
	// A killed owner leaves its directory.
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
			return fmt.Errorf("end %s (process %d): %w", s.Name, s.PID, err)
		}
		if gone, err := awaitGone(ctx, s.Dir, s.PID); gone || err != nil {
			return err
		}
	}
	return fmt.Errorf(
		"%s does not end: its process %d still holds its lock after it was killed: try again",
		s.Name, s.PID)
}

// awaitGone waits at most endLimit until the owner has ended and its lock is free.
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
			return false, fmt.Errorf("the testbed is still ending: %w", context.Cause(ctx))
		case <-timer.C:
			return false, nil
		case <-ticker.C:
		}
	}
}

// size adds up the disk that the readable files of a directory take, in bytes. Holes in
// sparse files do not count.
func size(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == imagesName && filepath.Dir(path) == dir {
			return filepath.SkipDir // the images' files are mounted in the data directory
		}
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // a file that vanishes meanwhile does not count
		}
		var stat syscall.Stat_t
		if syscall.Lstat(path, &stat) == nil {
			sum += stat.Blocks * 512 // stat's unit on every file system
		}
		return nil
	})
	return sum
}
