package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
)

const (
	fsType = "ext4"
	// bytesPerFile and mostFiles provide inodes for the files of any server. Each inode
	// costs 256 bytes, which are written when the file system is made.
	bytesPerFile = 64 << 10
	mostFiles    = 128 << 10
	// makeLimit bounds the creation of a file system.
	makeLimit = time.Minute
	// attachAttempts is the number of loop devices to try when other processes take each
	// free device first.
	attachAttempts = 20
	// busyLimit bounds the wait for killed processes to close their files. The wait
	// checks at intervals of busyPoll.
	busyLimit = 10 * time.Second
	busyPoll  = 5 * time.Millisecond
)

// Disk is a file system in an image file. Its methods must not be called concurrently.
type Disk struct{ image, dir string }

// Make makes a sparse image of so many bytes and mounts it at dir. It creates missing
// directories. When it fails, no image and no mount is left.
func Make(ctx context.Context, image, dir string, bytes int64) (*Disk, error) {
	d := &Disk{image, dir}
	err := d.make(ctx, bytes)
	if err != nil {
		_ = os.Remove(image)
		return nil, fmt.Errorf("make the disk %s: %w", image, err)
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
	// The kernel lists mounts by absolute paths without symbolic links.
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
	// mkfs writes all inodes now. Otherwise the kernel would write them in the
	// background, during a measurement.
	out, err := exec.CommandContext(ctx, mkfs, "-q", "-F", "-m", "0",
		"-i", strconv.FormatInt(max(bytesPerFile, bytes/mostFiles), 10),
		"-E", "lazy_itable_init=0", d.image).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mkfs.ext4: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if err := d.mount(); err != nil {
		return err
	}
	// A server may refuse a data directory that holds an unknown folder.
	err = os.Remove(filepath.Join(d.dir, "lost+found"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
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
	return "", errors.New(
		"mkfs.ext4 is missing: on Debian and Ubuntu install it with: apt-get install -y e2fsprogs")
}

// mount attaches the image to a loop device and mounts the device. The device detaches
// itself when it is unmounted, or at once when this process dies before the mount.
func (d *Disk) mount() error {
	device, err := attach(d.image)
	if err != nil {
		return err
	}
	defer device.Close()
	err = unix.Mount(device.Name(), d.dir, fsType, unix.MS_NODEV|unix.MS_NOSUID, "")
	if err != nil {
		return fmt.Errorf("mount %s at %s: %w", device.Name(), d.dir, err)
	}
	return nil
}

// attach returns an open loop device that holds the image.
func attach(image string) (*os.File, error) {
	backing, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer backing.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf(
			"this machine has no loop devices: load the kernel module loop: %w", err)
	}
	defer control.Close()
	for range attachAttempts {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("find a free loop device: %w", err)
		}
		device, err := os.OpenFile("/dev/loop"+strconv.Itoa(n), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("open a loop device: %w", err)
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
			return nil, fmt.Errorf("attach %s to %s: %w", image, device.Name(), err)
		}
	}
	return nil, errors.New(
		"other processes take every free loop device first: list the devices with: losetup -a")
}

// Sync writes all changes of the file system to the image.
func (d *Disk) Sync() error {
	return d.open(unix.Syncfs)
}

// open calls do with a descriptor of the disk's root directory.
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

// Cut ends the file system as a loss of power does. Processes that still use it get errors,
// so stop them first. Remount brings the file system back.
func (d *Disk) Cut() error {
	err := d.open(func(fd int) error {
		return unix.IoctlSetPointerInt(fd, ext4Shutdown, ext4ShutdownNoFlush)
	})
	if err != nil {
		return fmt.Errorf("cut the power of a disk: %w", err)
	}
	return nil
}

// Remount mounts the image again as a power cut left it: with the changes in the journal,
// without changes that were not synced. It first waits at most 10 s until no process uses
// the old mount. It also ends Throttle and Fill.
func (d *Disk) Remount(ctx context.Context) error {
	if err := d.Unthrottle(); err != nil {
		return err
	}
	// A lazy unmount would allow two mounts of the image, which would destroy it.
	if err := unmount(ctx, d.dir); err != nil {
		return err
	}
	if err := d.mount(); err != nil {
		return err
	}
	// The image may still hold the ballast, because its removal was not synced.
	return d.Empty()
}

// unmount unmounts a directory once no process uses it, and waits at most busyLimit.
func unmount(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, busyLimit)
	defer cancel()
	ticker := time.NewTicker(busyPoll)
	defer ticker.Stop()
	for {
		err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
		if err == nil || errors.Is(err, unix.EINVAL) { // it is not mounted
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("unmount %s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("unmount %s: find the process that uses it with: fuser -vm %s: %w",
				dir, dir, err)
		case <-ticker.C:
		}
	}
}

const (
	ballast = ".plimsoll-ballast"
	// leastBallast ends the filling: less than a block is left.
	leastBallast = 4 << 10
)

// Fill uses all free space of the disk, until Empty.
func (d *Disk) Fill() error {
	f, err := os.OpenFile(filepath.Join(d.dir, ballast), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("fill a disk: %w", err)
	}
	defer f.Close()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return fmt.Errorf("fill %s: %w", d.dir, err)
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
			return fmt.Errorf("fill %s: %w", d.dir, err)
		}
	}
	return nil
}

// Empty frees the room that Fill took.
func (d *Disk) Empty() error {
	err := os.Remove(filepath.Join(d.dir, ballast))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("empty a disk: %w", err)
	}
	return nil
}

const (
	// checkBytes is enough for an ext4 with a journal.
	checkBytes = 16 << 20
	checkName  = ".disk-check-"
)

// Check returns an error when no disk can be made below base. It creates base, makes a
// disk there, cuts its power and removes it.
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
	if base, err = filepath.Abs(base); err != nil {
		return err
	}
	dir := filepath.Join(base, checkName+rand.Text())
	claim := leftover.Own(Trial, dir)
	defer func() {
		removed := errors.Join(Release(dir), os.RemoveAll(dir))
		if err = errors.Join(err, removed); removed == nil {
			claim.Release()
		}
	}()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	d, err := Make(ctx, filepath.Join(dir, "image"), filepath.Join(dir, "mount"), checkBytes)
	if err == nil {
		err = d.Cut()
	}
	return err
}

// releaseChecks removes the disks of checks that were killed long ago.
func releaseChecks(base string) error {
	left, err := filepath.Glob(filepath.Join(base, checkName+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < makeLimit {
			continue // gone, or of a check that may still run
		}
		if err := errors.Join(Release(dir), os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("remove what a killed process left: %w", err)
		}
	}
	return nil
}
