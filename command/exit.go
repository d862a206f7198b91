package command

import (
	"fmt"
	"strings"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitSpent       = 3
	exitInterrupted = 130
)

// exitCodes are the exit codes with their meanings, for the help.
var exitCodes = []struct {
	code  int
	means string
}{
	{exitDone, "done"},
	{exitFailed, "the run failed or a check did not hold"},
	{exitUsage, "wrong input"},
	{exitSpent, "a run stopped at --max-cost"},
	{exitInterrupted, "interrupted"},
}

// exitList returns all exit codes in one sentence.
func exitList() string {
	var all []string
	for _, e := range exitCodes {
		all = append(all, fmt.Sprintf("%d %s", e.code, e.means))
	}
	return strings.Join(all, ", ") + "."
}
