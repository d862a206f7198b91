package workload

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

//go:embed library/*.yaml
var library embed.FS

const (
	libraryDir = "library/"
	extension  = ".yaml"
)

// Entry is a workload of the library, described in one line.
type Entry struct{ Name, Description string }

// Library returns the built-in workloads, sorted by name.
func Library() []Entry {
	var entries []Entry
	for _, name := range Names() {
		w, _, err := fromLibrary(name)
		if err != nil {
			panic("workload: the library is broken: " + err.Error())
		}
		entries = append(entries, Entry{name, w.Description})
	}
	return entries
}

// Names lists the names of the library, sorted.
func Names() []string {
	files, err := fs.Glob(library, libraryDir+"*"+extension)
	if err != nil {
		panic("workload: the library is broken: " + err.Error())
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(file, libraryDir), extension)
	}
	return names
}

// Find returns the workload that -w names, a built-in workload or the path of a file, and the
// YAML that it was read from. The error is a strict.Violations when a file does not hold a
// valid workload, and one sentence when there is no such file or name.
func Find(nameOrPath string) (w *Workload, source string, err error) {
	if w, source, err = fromLibrary(nameOrPath); !errors.Is(err, fs.ErrNotExist) {
		return w, source, err
	}
	if !strict.IsPath(nameOrPath) {
		return nil, "", errors.New(strict.Unknown("workload", nameOrPath, Names()))
	}
	src, err := strict.ReadFile(nameOrPath)
	if err != nil {
		return nil, "", fmt.Errorf("workload file %w", err)
	}
	w, err = Parse(nameOrPath, src)
	if err != nil {
		return nil, "", err
	}
	return w, string(src), nil
}

func fromLibrary(name string) (*Workload, string, error) {
	// A name with a slash is a path, which must not reach files of the library.
	if strings.ContainsAny(name, `/\`) {
		return nil, "", os.ErrNotExist
	}
	src, err := library.ReadFile(libraryDir + name + extension)
	if err != nil {
		return nil, "", err
	}
	w, err := Parse(name+extension, src)
	return w, string(src), err
}
