package testbed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/internal/disk"
	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Base is the kind of a base directory with testbeds, each of which has a lock of its own.
const Base leftover.Kind = "testbeds"

// Removers are the removers of what testbeds, their disks and their firewalls register.
func Removers() map[leftover.Kind]leftover.Remover {
	return map[leftover.Kind]leftover.Remover{Base: Sweep, leftover.Folder: leftover.RemoveFolder,
		disk.Trial: disk.RemoveTrial, firewall.Table: firewall.RemoveTable}
}

// Sweep removes what dead owners left under a base directory: data, mounts and firewalls. left
// reports whether testbeds are up. While another process makes or removes a testbed there, Sweep
// does nothing, because that process sweeps.
func Sweep(base string) (removed []string, left bool, err error) {
	root := filepath.Join(base, rootName)
	if _, err := os.Stat(root); errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	gate, err := lockFile(filepath.Join(root, lockName), os.O_RDWR)
	switch {
	case errors.Is(err, errHeld):
		return nil, true, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, true, err
	}
	defer gate.Close()
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, true, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		dir := filepath.Join(root, e.Name())
		if held, err := isHeld(dir); held || err != nil {
			left = true
			continue // without a look at the data, which may be many files
		}
		freed := size(dir)
		was, err := removeIfDead(dir)
		if err != nil {
			return removed, true, err
		}
		switch {
		case !was:
			left = true
		case unnamed.MatchString(e.Name()):
			removed = append(removed,
				fmt.Sprintf("removed the servers' data of a killed plimsoll, %s in %s",
					quantity.Bytes(freed), dir))
		default:
			removed = append(removed, e.Name()+" was killed; its remaining data is removed")
		}
	}
	return removed, left, nil
}
