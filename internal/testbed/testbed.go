package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Options describes the cluster to start.
type Options struct {
	// Base is the directory for the data, which is made if it does not exist. The data is
	// in a directory of its own below Base, which Close deletes.
	Base string
	// Provisioner starts the cluster.
	Provisioner system.Provisioner
	// Provision describes the cluster. Up sets its DataDir.
	Provision system.Provision
	// Progress receives a sentence before each long step. It may be nil.
	Progress func(sentence string)
	// NeedBytes is the disk that the caller expects all nodes together to fill. 0 means
	// unknown, and skips the check.
	NeedBytes int64
	// Prepare lists what the servers need before they start, so that faults can be
	// injected later.
	Prepare Preparation
	// Hosts are the machines that the servers run on; nil: this one.
	Hosts Hosts
	// Versions are those in which hosts will start servers later, beside that of the settings.
	Versions []string
}

// Testbed is a cluster that plimsoll started, with its data directory. It is safe for
// concurrent use.
type Testbed struct {
	cluster  system.Provisioned
	folder   *folder
	prepared prepared
	hosts    Hosts // nil: this machine

	mu     sync.Mutex
	before []func(context.Context) error
	closed bool
}

// Up starts a cluster in a new data directory, after it has removed what dead owners left
// under the same base. When it fails, it leaves nothing but the logs. Its errors tell apart a
// directory that cannot be written, a full disk, and servers that did not start.
func Up(ctx context.Context, o Options) (*Testbed, error) {
	r, err := openFolder(ctx, o.Base, "")
	if err != nil {
		return nil, explain(o.Base, err)
	}
	bed, err := o.startIn(ctx, r)
	if err != nil {
		return nil, errors.Join(err, r.remove())
	}
	return bed, nil
}

// startIn starts the cluster with its data in the folder.
func (o Options) startIn(ctx context.Context, r *folder) (*Testbed, error) {
	p := o.Provision
	p.DataDir = r.data()
	if p.LogDir == "" {
		p.LogDir = filepath.Join(r.dir, logsName)
	}
	if err := o.ready(ctx, &p); err != nil {
		return nil, err
	}
	made, err := o.prepare(ctx, r, &p)
	if err != nil {
		return nil, explain(o.Base, err)
	}
	cluster, err := o.Provisioner.Provision(ctx, p)
	if err != nil {
		return nil, explain(o.Base, err)
	}
	bed := &Testbed{cluster: cluster, folder: r, prepared: made, hosts: o.Hosts}
	if err := made.sync(); err != nil {
		return nil, errors.Join(err, cluster.Stop(ctx))
	}
	return bed, nil
}

// ready has the machine of the servers, or each of them, make ready for the start.
func (o Options) ready(ctx context.Context, p *system.Provision) error {
	if o.Hosts != nil {
		r := o.request(*p)
		p.Groups = r.Groups
		return o.Hosts.Prepare(ctx, r)
	}
	if err := CheckDisk(o.Base, o.NeedBytes); err != nil {
		return err
	}
	if f, fetches := o.Provisioner.(system.Fetcher); fetches {
		return f.Fetch(ctx, p.Settings, o.Progress)
	}
	return nil
}

// Cluster returns the running cluster.
func (t *Testbed) Cluster() system.Provisioned { return t.cluster }

// DataDir returns the directory in which each node has the folder of its name.
func (t *Testbed) DataDir() string { return t.folder.data() }

// BeforeClose registers a function that Close calls first. Close continues after its error
// and returns it.
func (t *Testbed) BeforeClose(f func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = append(t.before, f)
}

// Close stops the cluster and deletes its data. It is idempotent. When the cluster does not
// stop before ctx ends, the data stays and Close can be repeated. Otherwise the next Up
// removes the data.
func (t *Testbed) Close(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	var failed []error
	for _, f := range t.before {
		failed = append(failed, f(ctx))
	}
	if err := t.cluster.Stop(ctx); err != nil {
		return errors.Join(append(failed, err)...)
	}
	t.closed = true
	if err := t.folder.remove(); err != nil {
		failed = append(failed, fmt.Errorf("delete the data directory: %w", err))
	}
	return errors.Join(failed...)
}

// CheckDisk refuses a run that needs more disk than base has free. need is in bytes. 0 means
// unknown, and skips the check.
func CheckDisk(base string, need int64) error {
	if need <= 0 {
		return nil
	}
	free, err := FreeBytes(base)
	if err != nil {
		return fmt.Errorf("read the free disk at %s: %w", base, err)
	}
	if free < need {
		// Without its path, because pages that are published have this sentence.
		return fmt.Errorf("the disk of the servers' data has %s free and the run may fill %s: "+
			"free some, name another directory, or offer less load",
			quantity.Bytes(free), quantity.Bytes(need))
	}
	return nil
}

// FreeBytes returns the room on the disk of a folder that this user can still fill.
func FreeBytes(dir string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}

// explain adds the remedy to an error of a full or read-only disk.
func explain(base string, err error) error {
	where, absErr := filepath.Abs(base)
	if absErr != nil {
		where = base
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk at %s is full: free some or name another directory: %w",
			where, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s cannot be written: name another directory: %w", where, err)
	}
	return err
}
