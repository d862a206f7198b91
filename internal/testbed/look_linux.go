package testbed

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// belongs reports whether a process runs and is the owner or a child of the owner.
func belongs(pid, owner int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The fields are: pid (name) state parent …, where name may hold any character.
	_, rest, found := bytes.Cut(raw[max(0, bytes.LastIndexByte(raw, ')')):], []byte(") "))
	fields := strings.Fields(string(rest))
	return found && len(fields) > 1 && fields[0] != "Z" &&
		(pid == owner || fields[1] == strconv.Itoa(owner))
}

// residentBytes returns a process' resident memory, or 0 when it cannot be read.
func residentBytes(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var total, resident int64
	if _, err := fmt.Sscan(string(raw), &total, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
