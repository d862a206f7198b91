package workload

import (
	"embed"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

//go:embed library/*.yaml
var files embed.FS

var library = strict.Library{Kind: "workload", Files: files}

// Entry is a workload of the library, described in one line.
type Entry struct{ Name, Description string }

// Library returns the built-in workloads, sorted by name.
func Library() []Entry {
	var entries []Entry
	for _, name := range Names() {
		w, _, err := Find(name)
		if err != nil {
			panic("workload: the library is broken: " + err.Error())
		}
		entries = append(entries, Entry{name, w.Description})
	}
	return entries
}

// Names lists the names of the library, sorted.
func Names() []string { return library.Names() }

// Find returns the workload that -w names, a built-in workload or the path of a file, and the
// YAML that it was read from. The error is a strict.Violations when a file does not hold a
// valid workload, and one sentence when there is no such file or name.
func Find(nameOrPath string) (w *Workload, source string, err error) {
	src, fileName, err := library.Read(nameOrPath)
	if err != nil {
		return nil, "", err
	}
	if w, err = Parse(fileName, src); err != nil {
		return nil, "", err
	}
	return w, string(src), nil
}
