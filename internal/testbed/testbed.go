package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/system"
)

// Options says which cluster to start.
type Options struct {
	// Base is the directory that the data is kept under, in a directory of
	// its own that Close deletes. It is made if it is not there.
	Base string
	// Provisioner starts the cluster.
	Provisioner system.Provisioner
	// Provision is what to start; its DataDir is set by Up.
	Provision system.Provision
	// Progress is told in a sentence what takes long; it may be nil.
	Progress func(sentence string)
	// NeedBytes is how much disk the caller expects all nodes together to
	// fill; 0: unknown, and not checked.
	NeedBytes int64
	// Prepare is what the servers must be prepared for before they start.
	Prepare Preparation
}

// Testbed is a cluster that runs on this machine and its data directory. Its
// methods may be called from any goroutine.
type Testbed struct {
	cluster  system.Provisioned
	room     *room
	prepared prepared

	mu     sync.Mutex
	before []func(context.Context) error
	closed bool
}

// Up starts a cluster in a data directory of its own, after removing what dead
// owners left under the same base. When it fails, nothing is left behind but
// the logs. The errors say whether the directory cannot be written, the disk
// is too full, or the servers did not start.
func Up(ctx context.Context, o Options) (*Testbed, error) {
	r, err := openRoom(ctx, o.Base, "")
	if err != nil {
		return nil, explain(o.Base, err)
	}
	bed, err := o.startIn(ctx, r)
	if err != nil {
		return nil, errors.Join(err, r.remove())
	}
	return bed, nil
}

// startIn starts the cluster with its data in the room.
func (o Options) startIn(ctx context.Context, r *room) (*Testbed, error) {
	if err := CheckDisk(o.Base, o.NeedBytes); err != nil {
		return nil, err
	}
	if f, fetches := o.Provisioner.(system.Fetcher); fetches {
		if err := f.Fetch(ctx, o.Progress); err != nil {
			return nil, err
		}
	}
	p := o.Provision
	p.DataDir = r.data()
	made, err := o.prepare(ctx, r, p)
	if err != nil {
		return nil, explain(o.Base, err)
	}
	p.Groups = made.groups
	cluster, err := o.Provisioner.Provision(ctx, p)
	if err != nil {
		return nil, explain(o.Base, err)
	}
	bed := &Testbed{cluster: cluster, room: r, prepared: made}
	if err := made.sync(); err != nil {
		return nil, errors.Join(err, cluster.Stop(ctx))
	}
	return bed, nil
}

// Cluster is the running cluster.
func (t *Testbed) Cluster() system.Provisioned { return t.cluster }

// BeforeClose has Close call f first. What it returns is returned by Close, which
// goes on nevertheless.
func (t *Testbed) BeforeClose(f func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = append(t.before, f)
}

// Close stops the cluster and deletes its data. It is idempotent. When the
// cluster does not stop within ctx the data stays and Close can be called
// again; if it never is, the next Up removes it.
func (t *Testbed) Close(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	var mended []error
	for _, f := range t.before {
		mended = append(mended, f(ctx))
	}
	if err := t.cluster.Stop(ctx); err != nil {
		return errors.Join(append(mended, err)...)
	}
	t.closed = true
	if err := t.room.remove(); err != nil {
		mended = append(mended, fmt.Errorf("deleting the data directory: %w", err))
	}
	return errors.Join(mended...)
}

// CheckDisk refuses a run that the disk cannot hold; need is in bytes, 0 when it
// is not known.
func CheckDisk(base string, need int64) error {
	if need <= 0 {
		return nil
	}
	free, err := freeBytes(base)
	if err != nil {
		return fmt.Errorf("reading the free disk at %s: %w", base, err)
	}
	if free < need {
		return fmt.Errorf("%s has %s free and the run may fill %s: free some, name another directory, or offer less load", base, quantity.Bytes(free), quantity.Bytes(need))
	}
	return nil
}

// freeBytes is the disk that this user can still fill.
func freeBytes(dir string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}

// explain turns what the disk refuses into a sentence that says what to do.
func explain(base string, err error) error {
	where, absErr := filepath.Abs(base)
	if absErr != nil {
		where = base
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk at %s is full: free some or name another directory: %w", where, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s cannot be written: name another directory: %w", where, err)
	}
	return err
}
