package maven

import (
	"regexp"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/process"
)

// thrown matches a line that names a thrown exception, either first or as a cause.
var thrown = regexp.MustCompile(`^(?:Caused by: )?([\w.$]+\.\w*(?:Exception|Error)\b.*)`)

// LastComplaint returns the last error in a Java server's log, with the root cause of its
// exception. In a log without errors it returns the last line, because the output of Java
// itself has no level. An error of the main thread ends the server, so it takes precedence
// over later errors of other threads.
func LastComplaint(path string) string {
	var complaint, root, last string
	ofMain, within := false, false
	for text := range process.TailLines(path) {
		last = text
		if before, message, is := strings.Cut(text, " ERROR "); is {
			isMain := strings.HasSuffix(before, "[main]")
			if within = isMain || !ofMain; within {
				complaint, root, ofMain = message, "", isMain
			}
		} else if m := thrown.FindStringSubmatch(text); m != nil && within {
			root = m[1]
		}
	}
	switch {
	case complaint == "":
		complaint = last
	case root != "":
		complaint += ": " + root
	}
	return process.Said(complaint)
}
