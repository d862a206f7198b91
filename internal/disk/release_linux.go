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
	options string // of the file system
}

// mounts are all that this process sees, in the order in which they were made.
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
			return nil, fmt.Errorf("reading the mounts: %q is no mount", lines.Text())
		}
		all = append(all, mounted{device: left[2], dir: unescape(left[4]), kind: right[0], options: right[2]})
	}
	return all, lines.Err()
}

// unescape reads a path as the kernel writes it: blanks and the like are \040.
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

// Release unmounts whatever is mounted below a directory, the last first, and
// removes the bounds on what is below it. A mount that somebody uses still is taken out of the tree after ten
// seconds nevertheless: it ends with its last user. The images stay: they are
// files of the caller's.
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

// release unmounts one of the mounts, in the end without waiting for its users.
func release(all []mounted, m mounted) error {
	if err := hasten(all, m.device); err != nil {
		return err
	}
	err := unmount(context.Background(), m.dir)
	if !errors.Is(err, unix.EBUSY) {
		return err
	}
	if err := unix.Unmount(m.dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("unmounting %s: %w", m.dir, err)
	}
	return nil
}
