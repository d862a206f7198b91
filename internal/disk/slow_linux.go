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

// SlowWritesPerSecond is what Slow leaves of a disk. A sync of a few bytes takes
// several writes: data, journal and the end of a transaction.
const SlowWritesPerSecond = 50

// Slow bounds how many writes a second the device takes, whoever sends them, so
// that every sync takes longer.
func (d *Disk) Slow() error {
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

// Hasten undoes Slow.
func (d *Disk) Hasten() error {
	all, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.dir == d.dir {
			return hasten(all, m.device)
		}
	}
	return nil // not mounted, and what unmounts it removes the bound before
}

// CheckSlow says in a sentence why disks cannot be made slow here, or nothing.
func CheckSlow() error {
	all, err := mounts()
	if err != nil {
		return err
	}
	_, err = throttleOf(all)
	return err
}

// throttleOf is the file that bounds the writes of every process, the kernel's
// own, which write the journal, among them. That is why it is the root of the
// hierarchy: the one of cgroup v2 has no such file.
func throttleOf(all []mounted) (string, error) {
	for _, m := range all {
		if m.kind == "cgroup" && slices.Contains(strings.Split(m.options, ","), "blkio") {
			path := filepath.Join(m.dir, "blkio.throttle.write_iops_device")
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", errors.New("this machine has no bound for the writes of a disk, which is blkio.throttle.write_iops_device of cgroup v1: boot with systemd.unified_cgroup_hierarchy=0, or leave slow-disk out")
}

// hasten removes the bound of a device, if it has one.
func hasten(all []mounted, device string) error {
	throttle, err := throttleOf(all)
	if err != nil {
		return nil // where there is no such file nobody has a bound
	}
	raw, err := os.ReadFile(throttle)
	if err != nil {
		return fmt.Errorf("reading which disks are slow: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, device+" ") {
			return bound(throttle, device, 0)
		}
	}
	return nil
}

// bound sets how many writes a second a device takes; 0: any number.
func bound(throttle, device string, perSecond int) error {
	f, err := os.OpenFile(throttle, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(device + " " + strconv.Itoa(perSecond))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("bounding the writes of disk %s: %w", device, err)
	}
	return nil
}
