package metrics

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Found is a run directory, with the name that its metrics have.
type Found struct{ Name, Dir string }

// Source returns the run directories that may be shown. It is called for every scrape.
type Source func() []Found

// depth is the number of levels at which runs are found below a folder: an experiment's folder is
// one level, an experiment within a sweep or a study another.
const depth = 3

// Below is the source of all runs below a folder. A folder is listed again when it has changed.
func Below(root string) Source {
	l := &lister{root: root, known: map[string]listing{}}
	return l.list
}

// lister remembers the contents of folders.
type lister struct {
	root  string
	known map[string]listing
}

type listing struct {
	changed time.Time
	runs    []Found
	folders []string
}

func (l *lister) list() []Found {
	var out []Found
	seen := map[string]listing{}
	level := []string{l.root}
	for range depth {
		var next []string
		for _, dir := range level {
			held := l.read(dir)
			seen[dir] = held
			out, next = append(out, held.runs...), append(next, held.folders...)
		}
		level = next
	}
	l.known = seen
	return out
}

// read lists a folder. One that cannot be read holds nothing.
func (l *lister) read(dir string) listing {
	info, err := os.Stat(dir)
	if err != nil {
		return listing{}
	}
	// A change within the clock's step of the listing would not be seen.
	if held, ok := l.known[dir]; ok && held.changed.Equal(info.ModTime()) &&
		time.Since(held.changed) > time.Second {
		return held
	}
	held := listing{changed: info.ModTime()}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return listing{}
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(path, result.RunFile)); err != nil {
			held.folders = append(held.folders, path)
			continue
		}
		name, err := filepath.Rel(l.root, path)
		if err != nil {
			name = path
		}
		held.runs = append(held.runs, Found{Name: filepath.ToSlash(name), Dir: path})
	}
	return held
}
