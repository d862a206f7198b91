package disk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mounted is a line of /proc/self/mountinfo; see proc(5).
type mounted struct {
	device  string // major:minor
	dir     string
	kind    string
	options string // of the file system, not of the mount
}

// mounts lists the mounts that this process sees, in the order of their creation.
func mounts() ([]mounted, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []mounted
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		mount, fs, found := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(mount), strings.Fields(fs)
		if !found || len(left) < 5 || len(right) < 3 {
			return nil, fmt.Errorf("read the mounts: %q is not a mount", lines.Text())
		}
		all = append(all, mounted{
			device: left[2], dir: unescape(left[4]), kind: right[0], options: right[2],
		})
	}
	return all, lines.Err()
}

// unescape decodes a path in mountinfo, where the kernel writes a space as \040.
func unescape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+4 <= len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// Release unmounts all mounts below a directory, the last first, and removes their write
// bounds. A mount that is still in use after 10 s leaves the directory tree at once and
// ends with its last user. Release keeps the images, which belong to the caller.
func Release(dir string) error {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := mounts()
	if err != nil {
		return err
	}
	var failed error
	for i := len(all) - 1; i >= 0; i-- {
		if strings.HasPrefix(all[i].dir, dir+string(filepath.Separator)) {
			failed = errors.Join(failed, release(all, all[i]))
		}
	}
	return failed
}

// release unmounts one mount. After busyLimit it no longer waits for the mount's users.
func release(all []mounted, m mounted) error {
	if err := unthrottle(all, m.device); err != nil {
		return err
	}
	err := unmount(context.Background(), m.dir)
	if !errors.Is(err, unix.EBUSY) {
		return err
	}
	if err := unix.Unmount(m.dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("unmount %s: %w", m.dir, err)
	}
	return nil
}
