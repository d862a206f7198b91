package fault

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// familyOf are the threads of the processes in the groups that the given ones
// lead, as paths to what the kernel says of each.
func familyOf(leaders []int) (threads []string) {
	processes, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	for _, path := range processes {
		if group, known, _ := readStat(path); known && slices.Contains(leaders, group) {
			all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "task", "*", "stat"))
			if err == nil {
				threads = append(threads, all...)
			}
		}
	}
	return threads
}

// still says whether a thread runs no more.
func still(thread string) bool {
	_, _, stopped := readStat(thread)
	return stopped
}

// readStat reads the group of a process or a thread, and whether it does not run;
// see proc(5). One that is gone does not run.
func readStat(path string) (group int, known, stopped bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, false, true
	}
	// pid (name) state parent group …, and a name may hold anything.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 3 {
		return 0, false, true
	}
	group, err = strconv.Atoi(string(fields[2]))
	return group, err == nil, bytes.ContainsAny(fields[0], "TtZX")
}
