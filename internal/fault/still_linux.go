package fault

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// still says whether every thread of a process has stopped, and of the processes
// of its group every first one.
func still(leader int) bool {
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(leader) + "/task/*/stat")
	if err != nil {
		return true
	}
	group, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return true
	}
	for _, path := range threads {
		if _, _, stopped := readStat(path); !stopped {
			return false
		}
	}
	for _, path := range group {
		if of, known, stopped := readStat(path); known && of == leader && !stopped {
			return false
		}
	}
	return true
}

// readStat reads a process' group, and whether it does not run; see proc(5). One
// that is gone does not run.
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
