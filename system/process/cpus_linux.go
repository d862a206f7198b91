package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// CPUs returns the CPUs that a process may use, in ascending order.
func CPUs(pid int) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return nil, fmt.Errorf("read the CPUs of process %d: %w", pid, err)
	}
	var all []int
	for cpu := 0; len(all) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all, nil
}

// Core returns the lowest CPU of the core to which a CPU belongs, or the CPU itself if that is
// unknown.
func Core(cpu int) int {
	raw, err := os.ReadFile(fmt.Sprintf(
		"/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
	if err != nil {
		return cpu
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(raw)), ",")
	first, _, _ = strings.Cut(first, "-")
	if lowest, err := strconv.Atoi(first); err == nil {
		return lowest
	}
	return cpu
}

// rounds bounds how often Confine looks for threads that were started meanwhile.
const rounds = 20

// Confine lets every thread of a process run on the given CPUs only. Threads and processes that
// these threads start later inherit the CPUs. A process that has ended is no error.
func Confine(pid int, cpus []int) error {
	set := setOf(cpus)
	var done []string
	for range rounds {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
		if err != nil {
			return err
		}
		more := false
		for _, task := range tasks {
			if slices.Contains(done, task) {
				continue
			}
			done, more = append(done, task), true
			tid, err := strconv.Atoi(filepath.Base(task))
			if err != nil {
				continue
			}
			if err := unix.SchedSetaffinity(tid, &set); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("give process %d its CPUs: %w", pid, err)
			}
		}
		if !more {
			return nil
		}
	}
	return fmt.Errorf("give process %d its CPUs: it starts threads all the time", pid)
}

func setOf(cpus []int) (set unix.CPUSet) {
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return set
}

// onCPUs calls start with this thread on the given CPUs, which a child inherits; nil: on the
// thread's current ones. The caller has locked its goroutine to the thread.
func onCPUs(cpus []int, start func() error) error {
	if cpus == nil {
		return start()
	}
	before, set := unix.CPUSet{}, setOf(cpus)
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("read the CPUs of a thread: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("give a child its CPUs: %w", err)
	}
	err := start()
	return errors.Join(err, unix.SchedSetaffinity(0, &before))
}
