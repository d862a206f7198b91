package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/plimsoll-bench/plimsoll/result"
)

// TrashFolder is where deleted experiments go, below the served folder. An experiment has the same
// path there, or a number after it.
const TrashFolder = ".trash"

// mostAlike bounds the experiments of one path in the trash folder.
const mostAlike = 1000

// trash moves an experiment to the trash folder.
func (f *Folder) trash(w http.ResponseWriter, r *http.Request) {
	f.change(w, r, func(place string) error {
		dir, err := f.listed(place)
		if err != nil {
			return err
		}
		return f.moveAway(dir)
	})
}

// restore moves an experiment from the trash folder to where it was.
func (f *Folder) restore(w http.ResponseWriter, r *http.Request) { f.change(w, r, f.moveBack) }

// change moves an experiment, and shows the list.
func (f *Folder) change(w http.ResponseWriter, r *http.Request, move func(place string) error) {
	f.changing.Lock()
	defer f.changing.Unlock()
	if err := move(r.PathValue("place")); err != nil {
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
	if !isFolder(trash) {
		return fmt.Errorf("%s is not a folder: move it away", TrashFolder)
	}
	from, err := filepath.Rel(f.root, dir)
	if err != nil {
		return err
	}
	to := filepath.Join(TrashFolder, from)
	for n, name := 2, to; n <= mostAlike; n++ {
		if _, err := os.Lstat(filepath.Join(f.root, to)); err != nil {
			break
		}
		to = fmt.Sprintf("%s-%d", name, n)
	}
	if err := f.move(from, to); err != nil {
		return fmt.Errorf("move the experiment to the trash folder: %w: empty the folder", err)
	}
	latest := filepath.Join(filepath.Dir(dir), result.LatestLink)
	if target, err := os.Readlink(latest); err == nil && target == filepath.Base(dir) {
		_ = os.Remove(latest) // it would lead nowhere
	}
	return nil
}

func (f *Folder) moveBack(place string) error {
	trash := filepath.Join(f.root, TrashFolder)
	if !isFolder(trash) {
		return fmt.Errorf("%s is not a folder: nothing can be restored: %w", TrashFolder,
			fs.ErrNotExist)
	}
	dir, err := experimentAt(trash, place)
	if err != nil {
		return err
	}
	to, err := filepath.Rel(trash, dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(f.root, to)); err == nil {
		return fmt.Errorf("%s is in the folder: rename or delete it, and restore again", to)
	}
	if err := f.move(filepath.Join(TrashFolder, to), to); err != nil {
		return fmt.Errorf("restore the experiment: %w", err)
	}
	return nil
}

// move renames a directory below the root, and makes the folders above its new name. A path that
// leads out of the root, or into an experiment, is an error.
func (f *Folder) move(from, to string) error {
	if err := outsideExperiments(f.root, to); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return root.Rename(from, to)
}

// deleted answers with the experiments in the trash folder.
func (f *Folder) deleted(w http.ResponseWriter, _ *http.Request) {
	var all []entry
	if trash := filepath.Join(f.root, TrashFolder); isFolder(trash) {
		all, _ = f.away.below(trash)
	}
	f.write(w, http.StatusOK, "deleted", map[string]any{"Links": f.bar("")[:1],
		"Entries": all[:min(len(all), maxShown)]})
}
