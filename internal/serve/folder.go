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

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The bounds of a page of the list.
const (
	maxShown    = 500
	maxCompared = 20
	mostAlike   = 1000 // of one name in the trash folder
)

// TrashFolder is where deleted experiments go, below the served folder.
const TrashFolder = ".trash"

// Folder serves all experiments below a folder.
type Folder struct {
	*Server

	root    string
	entries entries
}

// OpenFolder serves the experiments below root until Close.
func OpenFolder(root string, o Options) (*Folder, error) {
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err == nil {
		_, err = os.ReadDir(root)
	}
	if err != nil {
		return nil, fmt.Errorf("serve the folder %s: %w: name a folder of runs", root, err)
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
	s.mux.HandleFunc("POST /trash/{place...}", f.trash)
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

// listed returns the directory of an experiment of the list. The runs of an experiment belong to
// it and are not listed.
func (f *Folder) listed(place string) (string, error) {
	if place == "" {
		return "", fmt.Errorf("no experiment is named: %w", fs.ErrNotExist)
	}
	dir, err := within(f.root, place)
	if err != nil {
		return "", err
	}
	inner, err := filepath.Rel(f.root, dir)
	if err != nil {
		return "", err
	}
	above := f.root
	for _, part := range strings.Split(filepath.Dir(inner), string(filepath.Separator)) {
		if above = filepath.Join(above, part); part != "." && headFile(above) != nil {
			return "", fmt.Errorf("%s belongs to an experiment: %w", place, fs.ErrPermission)
		}
	}
	if headFile(dir) == nil {
		return "", fmt.Errorf("%s is not an experiment: %w", place, fs.ErrNotExist)
	}
	return dir, nil
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
		"States": []result.State{result.Running, result.Complete, result.Interrupted,
			result.Failed, result.Incomplete},
		"Entries": found[:min(len(found), maxShown)]})
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

func (f *Folder) notes(w http.ResponseWriter, r *http.Request) {
	place := r.PathValue("place")
	dir, err := f.listed(place)
	if err != nil {
		f.fail(w, err)
		return
	}
	n := experiment.ReadNotes(dir)
	f.write(w, http.StatusOK, "notes", map[string]any{"Links": f.bar("")[:1], "Place": place,
		"Tags": strings.Join(n.Tags, ", "), "Note": n.Note, "Running": f.running([]string{dir})})
}

// note saves tags and a note.
func (f *Folder) note(w http.ResponseWriter, r *http.Request) {
	f.change(w, r, func(dir string) error {
		n, err := experiment.NewNotes(r.PostFormValue("tags"), r.PostFormValue("note"))
		if err != nil {
			return err
		}
		return n.Save(dir)
	})
}

// trash moves an experiment to the trash folder.
func (f *Folder) trash(w http.ResponseWriter, r *http.Request) { f.change(w, r, f.moveAway) }

// change changes an experiment of the list, and shows the list.
func (f *Folder) change(w http.ResponseWriter, r *http.Request, what func(dir string) error) {
	dir, err := f.listed(r.PathValue("place"))
	if err == nil {
		err = what(dir)
	}
	if err != nil {
		f.fail(w, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (f *Folder) moveAway(dir string) error {
	if f.running([]string{dir}) {
		return errors.New("the experiment is running: stop it first")
	}
	trash := filepath.Join(f.root, TrashFolder)
	if err := os.Mkdir(trash, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the trash folder: %w", err)
	}
	if info, err := os.Lstat(trash); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder: move it away", TrashFolder)
	}
	to := filepath.Join(trash, filepath.Base(dir))
	for n, name := 2, to; n <= mostAlike; n++ {
		if _, err := os.Lstat(to); err != nil {
			break
		}
		to = fmt.Sprintf("%s-%d", name, n)
	}
	if err := os.Rename(dir, to); err != nil {
		return fmt.Errorf("move the experiment to the trash folder: %w: empty the folder", err)
	}
	latest := filepath.Join(filepath.Dir(dir), result.LatestLink)
	if target, err := os.Readlink(latest); err == nil && target == filepath.Base(dir) {
		_ = os.Remove(latest) // it would lead nowhere
	}
	return nil
}
