package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// SlowWritesPerSecond is the bound that Throttle sets. A sync of a few bytes takes several
// writes: data, journal and the end of a transaction.
const SlowWritesPerSecond = 50

// Throttle bounds the device to SlowWritesPerSecond writes a second, so that every sync
// takes longer. The bound holds for the writes of all processes.
func (d *Disk) Throttle() error {
	all, err := mounts()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(m mounted) bool { return m.dir == d.dir })
	if at < 0 {
		return fmt.Errorf("%s is not mounted", d.dir)
	}
	throttle, err := throttleOf(all)
	if err != nil {
		return err
	}
	return bound(throttle, all[at].device, SlowWritesPerSecond)
}

// Unthrottle removes the bound of Throttle.
func (d *Disk) Unthrottle() error {
	all, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.dir == d.dir {
			return unthrottle(all, m.device)
		}
	}
	return nil // not mounted: the bound is removed before each unmount
}

// CheckThrottle returns an error when this machine cannot throttle disks.
func CheckThrottle() error {
	all, err := mounts()
	if err != nil {
		return err
	}
	_, err = throttleOf(all)
	return err
}

// throttleOf returns the path of the file that bounds the writes of every process. The
// kernel's own writes, such as those of the journal, must be among them. Therefore the
// file is that of the hierarchy's root, which cgroup v2 does not have.
func throttleOf(all []mounted) (string, error) {
	for _, m := range all {
		if m.kind == "cgroup" && slices.Contains(strings.Split(m.options, ","), "blkio") {
			path := filepath.Join(m.dir, "blkio.throttle.write_iops_device")
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", errors.New("this machine cannot bound the writes of a disk: it lacks " +
		"blkio.throttle.write_iops_device of cgroup v1: boot with " +
		"systemd.unified_cgroup_hierarchy=0, or leave slow-disk out")
}

// unthrottle removes a device's bound, if it has one.
func unthrottle(all []mounted, device string) error {
	throttle, err := throttleOf(all)
	if err != nil {
		return nil // without that file no device has a bound
	}
	raw, err := os.ReadFile(throttle)
	if err != nil {
		return fmt.Errorf("read which disks are slow: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, device+" ") {
			return bound(throttle, device, 0)
		}
	}
	return nil
}

// bound sets how many writes a second a device takes. 0 removes the bound.
func bound(throttle, device string, perSecond int) error {
	f, err := os.OpenFile(throttle, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(device + " " + strconv.Itoa(perSecond))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("bound the writes of disk %s: %w", device, err)
	}
	return nil
}
