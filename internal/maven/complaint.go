package maven

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/process"
)

// thrown is a line that names what Java threw, with or without its cause.
var thrown = regexp.MustCompile(`^(?:Caused by: )?([\w.$]+\.\w*(?:Exception|Error)\b.*)`)

// LastComplaint is the last error in a Java server's log with the root of what
// was thrown for it, or the last line when there is none: what Java itself says
// before a server runs has no level. An error of the main thread is why a
// server ends; what other threads say after it is how.
func LastComplaint(path string) string {
	var complaint, root, last string
	ofMain, within := false, false
	for line := range bytes.Lines(process.Tail(path)) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		last = text
		if before, said, is := strings.Cut(text, " ERROR "); is {
			isMain := strings.HasSuffix(before, "[main]")
			if within = isMain || !ofMain; within {
				complaint, root, ofMain = said, "", isMain
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
