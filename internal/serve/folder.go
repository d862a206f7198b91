package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// The bounds of a page of the list.
const (
	maxShown    = 500
	maxCompared = 20
)

// Folder serves all experiments below a folder.
type Folder struct {
	*Server

	root     string
	entries  entries
	away     entries    // in the trash folder
	changing sync.Mutex // one change of an experiment at a time
}

// OpenFolder serves the experiments below root until Close.
func OpenFolder(given string, o Options) (*Folder, error) {
	root, err := filepath.Abs(given)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err == nil {
		_, err = os.ReadDir(root)
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err // its path is that of the sentence
	}
	if err != nil {
		return nil, fmt.Errorf("serve the folder %s: %w: name a folder of runs", given, err)
	}
	f := &Folder{root: root}
	s, listener, err := newServer(o, f)
	if err != nil {
		return nil, err
	}
	f.Server = s
	s.mux.HandleFunc("GET /{$}", f.list)
	s.mux.HandleFunc("GET /compare", f.compare)
	s.mux.HandleFunc("GET /runs/{place...}", s.page)
	s.mux.HandleFunc("GET /notes/{place...}", f.notes)
	s.mux.HandleFunc("POST /notes/{place...}", f.note)
	s.mux.HandleFunc("GET /trash/{$}", f.deleted)
	s.mux.HandleFunc("GET /", f.nowhere)
	s.mux.HandleFunc("POST /trash/{place...}", f.trash)
	s.mux.HandleFunc("POST /restore/{place...}", f.restore)
	s.serve(listener)
	return f, nil
}

func (f *Folder) find(place string) ([]string, error) {
	if place == "" {
		return nil, fmt.Errorf("no experiment is named: %w", fs.ErrNotExist)
	}
	dir, err := within(f.root, place)
	return []string{dir}, err
}

func (*Folder) running(dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return read(dir, dir).State == result.Running
	})
}

func (*Folder) ended() <-chan struct{} { return nil }

func (f *Folder) bar(place string) []link {
	links := []link{{"/", "All experiments"}}
	if _, err := f.listed(place); err == nil {
		links = append(links, link{address("/notes/", place), "Tags, notes, delete"})
	}
	return links
}

// address returns the address of a place.
func address(fixed, place string) string { return (&url.URL{Path: fixed + place}).String() }

// listed returns the directory of an experiment of the list.
func (f *Folder) listed(place string) (string, error) { return experimentAt(f.root, place) }

// experimentAt returns the directory of an experiment below a folder. The runs of an experiment
// belong to it and have no place of their own.
func experimentAt(root, place string) (string, error) {
	if place == "" {
		return "", fmt.Errorf("no experiment is named: %w", fs.ErrNotExist)
	}
	dir, err := within(root, place)
	if err != nil {
		return "", err
	}
	inner, err := filepath.Rel(root, dir)
	if err != nil {
		return "", err
	}
	if err := outsideExperiments(root, inner); err != nil {
		return "", err
	}
	if headFile(dir) == nil {
		return "", fmt.Errorf("%q is not an experiment: %w", place, fs.ErrNotExist)
	}
	return dir, nil
}

// outsideExperiments requires that no folder above a path below root is an experiment.
func outsideExperiments(root, path string) error {
	above := root
	for part := range strings.SplitSeq(filepath.Dir(path), string(filepath.Separator)) {
		if above = filepath.Join(above, part); part != "." && headFile(above) != nil {
			return fmt.Errorf("%q belongs to an experiment: %w", filepath.ToSlash(path),
				fs.ErrPermission)
		}
	}
	return nil
}

func (f *Folder) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	want := wanted{q.Get("q"), q.Get("kind"), q.Get("state"), q.Get("sort")}
	all, more := f.entries.below(f.root)
	found := want.of(all)
	said := fmt.Sprintf("%s of %s experiments", quantity.Count(int64(len(found))),
		quantity.Count(int64(len(all))))
	if len(found) > maxShown {
		said += fmt.Sprintf(", of which %d are shown: search for fewer", maxShown)
	}
	if more {
		said += fmt.Sprintf("; the folder has more than the %s that a list reads: serve a folder "+
			"within it", quantity.Count(maxEntries))
	}
	f.write(w, http.StatusOK, "list", map[string]any{"Folder": filepath.Base(f.root),
		"Want": want, "Said": said + ".", "Any": len(all) > 0, "Kinds": kinds,
		"Trash": isFolder(filepath.Join(f.root, TrashFolder)),
		"States": []result.State{result.Running, result.Complete, result.Interrupted,
			result.Failed, result.Incomplete},
		"Entries": found[:min(len(found), maxShown)]})
}

// nowhere answers for an address that has no page.
func (f *Folder) nowhere(w http.ResponseWriter, _ *http.Request) {
	f.write(w, http.StatusNotFound, "sentence", sentence{frame{Links: f.bar("")},
		"There is no page at this address: begin at all experiments."})
}

func (f *Folder) compare(w http.ResponseWriter, r *http.Request) {
	places := r.URL.Query()["run"]
	if len(places) < 2 || len(places) > maxCompared {
		f.fail(w, fmt.Errorf("tick 2 to %d experiments to compare them: %d are ticked",
			maxCompared, len(places)))
		return
	}
	var dirs []string
	for _, place := range places {
		dir, err := within(f.root, place)
		if err != nil {
			f.fail(w, err)
			return
		}
		dirs = append(dirs, dir)
	}
	f.show(w, r, "compare "+strings.Join(dirs, "\n"), dirs, frame{Links: f.bar("")})
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
