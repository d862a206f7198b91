package fault

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// threadsOf lists the threads of all processes in the groups of these leaders, as paths of
// their stat files.
func threadsOf(leaders []int) (threads []string) {
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

// still reports whether a thread is stopped or has ended.
func still(thread string) bool {
	_, _, stopped := readStat(thread)
	return stopped
}

// readStat reads a process' or a thread's group from its stat file, and whether it is
// stopped or has ended; see proc(5). known is false when the file cannot be read.
func readStat(path string) (group int, known, stopped bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, false, true
	}
	// The fields are: pid (name) state parent group …, where name may hold any character.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 3 {
		return 0, false, true
	}
	group, err = strconv.Atoi(string(fields[2]))
	return group, err == nil, bytes.ContainsAny(fields[0], "TtZX")
}
