package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// parents returns the parent of each process of this machine. Processes that have ended
// and wait for their parent are left out.
func parents() map[int]int {
	all := map[int]int{}
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if parent, alive := parentOf(pid); alive {
			all[pid] = parent
		}
	}
	return all
}

// parentOf reads the parent of a process from its stat file; see proc(5).
func parentOf(pid int) (parent int, alive bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The fields are: pid (name) state parent …, where name may hold any character.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 2 || bytes.ContainsAny(fields[0], "ZXx") {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// running reports whether a process runs, and is not merely waiting for its parent.
func running(pid int) bool {
	_, alive := parentOf(pid)
	return alive
}
