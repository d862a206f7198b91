package fault

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system/process"
)

// threadsOf lists the threads of these processes and of all that descend from them, as paths
// of their stat files.
func threadsOf(leaders []int) (threads []string) {
	for pid := range process.Descendants(leaders...) {
		all, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
		if err == nil {
			threads = append(threads, all...)
		}
	}
	return threads
}

// still reports whether a thread is stopped or has ended.
func still(thread string) bool {
	raw, err := os.ReadFile(thread)
	if err != nil {
		return true
	}
	// The fields are: pid (name) state …, where name may hold any character; see proc(5).
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	return len(fields) == 0 || bytes.ContainsAny(fields[0], "TtZX")
}
