package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	fsType = "ext4"
	// bytesPerFile and mostFiles make inodes enough for the files of any server;
	// each costs 256 bytes, which are written when the file system is made.
	bytesPerFile = 64 << 10
	mostFiles    = 128 << 10
	// makeLimit bounds making a file system.
	makeLimit = time.Minute
	// attachAttempts is how often another loop device is taken when somebody
	// else has just taken the one that was free.
	attachAttempts = 20
	// busyLimit bounds the wait for processes that were killed to let go of
	// their files, and busyPoll is how often it is looked.
	busyLimit = 10 * time.Second
	busyPoll  = 5 * time.Millisecond
)

// Disk is a file system in an image file.
type Disk struct{ image, dir string }

// Make makes an image of so many bytes, which take up room only when they are
// written, and mounts it at a directory. Both are made where they are not there.
// When it fails nothing is left.
func Make(ctx context.Context, image, dir string, bytes int64) (*Disk, error) {
	d := &Disk{image, dir}
	err := d.make(ctx, bytes)
	if err != nil {
		_ = os.Remove(image)
		return nil, fmt.Errorf("making the disk %s: %w", image, err)
	}
	return d, nil
}

func (d *Disk) make(ctx context.Context, bytes int64) error {
	if err := os.MkdirAll(filepath.Dir(d.image), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	// As the kernel names it.
	dir, err := filepath.Abs(d.dir)
	if err == nil {
		d.dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(d.image, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Truncate(bytes), f.Close())
	}
	if err != nil {
		return err
	}
	mkfs, err := findMkfs()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, makeLimit)
	defer cancel()
	// All inodes are written now, so that the kernel does not do it in the
	// background while somebody measures.
	out, err := exec.CommandContext(ctx, mkfs, "-q", "-F", "-m", "0", "-i", strconv.FormatInt(max(bytesPerFile, bytes/mostFiles), 10),
		"-E", "lazy_itable_init=0", d.image).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mkfs.ext4: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if err := d.mount(); err != nil {
		return err
	}
	// A server that finds it in its folder wonders what it is.
	if err := os.Remove(filepath.Join(d.dir, "lost+found")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, unix.Unmount(d.dir, 0))
	}
	return nil
}

func findMkfs() (string, error) {
	for _, name := range []string{"mkfs.ext4", "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("mkfs.ext4 is missing: on Debian and Ubuntu install it with: apt-get install -y e2fsprogs")
}

// mount attaches the image to a loop device, which detaches itself when it is
// unmounted, or at once when this process dies before it has mounted it.
func (d *Disk) mount() error {
	device, err := attach(d.image)
	if err != nil {
		return err
	}
	defer device.Close()
	if err := unix.Mount(device.Name(), d.dir, fsType, unix.MS_NODEV|unix.MS_NOSUID, ""); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", device.Name(), d.dir, err)
	}
	return nil
}

// attach returns an open loop device with the image in it.
func attach(image string) (*os.File, error) {
	backing, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer backing.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("this machine gives no loop devices: %w", err)
	}
	defer control.Close()
	for range attachAttempts {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("finding a free loop device: %w", err)
		}
		device, err := os.OpenFile("/dev/loop"+strconv.Itoa(n), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("opening a loop device: %w", err)
		}
		config := unix.LoopConfig{Fd: uint32(backing.Fd())}
		config.Info.Flags = unix.LO_FLAGS_AUTOCLEAR
		copy(config.Info.File_name[:len(config.Info.File_name)-1], image)
		err = unix.IoctlLoopConfigure(int(device.Fd()), &config)
		if err == nil {
			return device, nil
		}
		device.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("attaching %s to %s: %w", image, device.Name(), err)
		}
	}
	return nil, errors.New("others take every free loop device first: see which with: losetup -a")
}

// Sync writes all to the image that was written to the files so far.
func (d *Disk) Sync() error {
	return d.open(unix.Syncfs)
}

// open calls do with the open directory of the disk.
func (d *Disk) open(do func(fd int) error) error {
	dir, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := do(int(dir.Fd())); err != nil {
		return fmt.Errorf("%s: %w", d.dir, err)
	}
	return nil
}

// See fs/ext4/ext4.h.
const (
	ext4Shutdown        = 0x8004587d // EXT4_IOC_SHUTDOWN
	ext4ShutdownNoFlush = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH
)

// Cut ends the file system as a loss of power does. Whoever uses it still gets
// errors, so stop them first; Renew brings it back.
func (d *Disk) Cut() error {
	err := d.open(func(fd int) error { return unix.IoctlSetPointerInt(fd, ext4Shutdown, ext4ShutdownNoFlush) })
	if err != nil {
		return fmt.Errorf("cutting the power of a disk: %w", err)
	}
	return nil
}

// Renew takes the file system from the image again, as the image is, when those
// who used it have ended: what the journal has is there, what was not synced is
// not. Until then it waits, for ten seconds at most.
func (d *Disk) Renew(ctx context.Context) error {
	if err := d.Hasten(); err != nil {
		return err
	}
	// Never lazily: two mounts of an image would destroy it.
	if err := unmount(ctx, d.dir); err != nil {
		return err
	}
	if err := d.mount(); err != nil {
		return err
	}
	// That Empty removed it may not have been synced.
	return d.Empty()
}

// unmount waits for the last user.
func unmount(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, busyLimit)
	defer cancel()
	ticker := time.NewTicker(busyPoll)
	defer ticker.Stop()
	for {
		err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
		if err == nil || errors.Is(err, unix.EINVAL) { // it is none (any more)
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("unmounting %s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("unmounting %s: somebody uses it still, see who with: fuser -vm %s: %w", dir, dir, err)
		case <-ticker.C:
		}
	}
}

const (
	ballast = ".plimsoll-ballast"
	// leastBallast ends filling: what is left is less than a block.
	leastBallast = 4 << 10
)

// Fill takes all the room that is left.
func (d *Disk) Fill() error {
	f, err := os.OpenFile(filepath.Join(d.dir, ballast), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("filling a disk: %w", err)
	}
	defer f.Close()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return fmt.Errorf("filling %s: %w", d.dir, err)
	}
	var at int64
	for piece := int64(fs.Bfree) * fs.Bsize; piece >= leastBallast; {
		err := unix.Fallocate(int(f.Fd()), 0, at, piece)
		switch {
		case err == nil:
			at += piece
		case errors.Is(err, unix.ENOSPC):
			piece /= 2
		case errors.Is(err, unix.EINTR):
		default:
			return fmt.Errorf("filling %s: %w", d.dir, err)
		}
	}
	return nil
}

// Empty gives back what Fill took.
func (d *Disk) Empty() error {
	if err := os.Remove(filepath.Join(d.dir, ballast)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("emptying a disk: %w", err)
	}
	return nil
}

const (
	// checkBytes are enough for an ext4 with a journal.
	checkBytes = 16 << 20
	checkName  = ".disk-check-"
)

// Check says in a sentence why no disk can be made below a directory, which is
// made when it is not there, or nothing: it makes one, cuts it and removes it.
func Check(ctx context.Context, base string) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("only root may mount a disk for each node: run plimsoll as root")
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	if err := releaseChecks(base); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(base, checkName)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, Release(dir), os.RemoveAll(dir)) }()
	d, err := Make(ctx, filepath.Join(dir, "image"), filepath.Join(dir, "mount"), checkBytes)
	if err == nil {
		err = d.Cut()
	}
	return err
}

// releaseChecks removes what checks left that were killed long ago.
func releaseChecks(base string) error {
	left, err := filepath.Glob(filepath.Join(base, checkName+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < makeLimit {
			continue // somebody's who is at it
		}
		if err := errors.Join(Release(dir), os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("removing what a killed process left: %w", err)
		}
	}
	return nil
}
