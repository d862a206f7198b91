package process

import (
	"errors"
	"slices"
	"syscall"
)

// Family returns a process and all processes that descend from it, the process first. It
// finds children that lead process groups of their own. Where the operating system does not report
// parents, it returns only the process.
func Family(pid int) []int {
	all := []int{pid}
	for other := range Descendants(pid) {
		if other != pid {
			all = append(all, other)
		}
	}
	slices.Sort(all[1:])
	return all
}

// Descendants returns the ancestor, one of the given processes, of each process that runs
// and descends from it. A given process is its own ancestor.
func Descendants(of ...int) map[int]int {
	found := make(map[int]int, len(of))
	if len(of) == 0 {
		return found // reading the parents of all processes takes milliseconds
	}
	for _, pid := range of {
		found[pid] = pid
	}
	parents := parents()
	for pid := range parents {
		// A process may end and its number be used again while the parents are read, so
		// the way up is bounded.
		at := pid
		for range len(parents) {
			if _, known := found[at]; known || at <= 1 {
				break
			}
			at = parents[at]
		}
		if ancestor, known := found[at]; known {
			found[pid] = ancestor
		}
	}
	return found
}

// Signal sends a signal to the members of a family: to the process group of the first,
// and to each other. A process that has ended is no error.
func Signal(family []int, s syscall.Signal) error {
	var failed []error
	for i, pid := range family {
		if i == 0 {
			pid = -pid
		}
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
