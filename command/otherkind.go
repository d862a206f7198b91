package command

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// kinds recognise files by keys that no other kind has. The way says how a file of the kind is
// used, with %s for its path; it begins with the flag that takes it, if there is one.
var kinds = []struct {
	is   func(src []byte) bool
	name string
	way  string
}{
	{has(`(?m)^driverClass\s*:`), "a driver file of the OpenMessaging Benchmark",
		"plimsoll import omb-driver %s writes a target file from it, for -t"},
	{has(`"(publishRate|aggregatedPublishLatencyAvg)"\s*:`),
		"a result file of the OpenMessaging Benchmark", "plimsoll import omb %s makes a run of it"},
	{omb.IsWorkload, "a workload file of the OpenMessaging Benchmark", "-w %s offers its load"},
	{has(`(?m)^system\s*:`), "a target file", "-t %s measures it"},
	{has(`(?m)^(claims|tables)\s*:`), "a study file", "plimsoll study run %s measures it"},
	{has(`(?m)^(load|message|producers|durability)\s*:`), "a workload file",
		"-w %s offers its load"},
}

func has(pattern string) func(src []byte) bool { return regexp.MustCompile(pattern).Match }

// otherKind replaces the error of reading a flag's file when the flag does not take files of that
// kind. The new error names the kind and how to use the file.
func otherKind(flag, path string, err error) error {
	if err == nil || !strict.IsPath(path) {
		return err
	}
	src, unread := strict.ReadFile(path)
	if unread != nil {
		return err
	}
	for _, k := range kinds {
		if !k.is(src) {
			continue
		}
		if strings.HasPrefix(k.way, flag+" ") {
			return err
		}
		return fmt.Errorf("%s %s: it is %s: "+k.way, flag, path, k.name, path)
	}
	return err
}
