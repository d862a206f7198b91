package maven

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Artifacts lists the artifacts to fetch.
type Artifacts struct {
	Name        string   // of the folder, such as broker-4.3.1
	Coordinates []string // group:artifact:version, each pinned
}

const (
	listFile = "jars.txt"
	lockPoll = 100 * time.Millisecond
)

// Fetch returns the folder with the artifacts and their runtime dependencies. mvn fetches
// them when the folder is missing or incomplete. Before that progress, which may be nil, gets
// a sentence. When ctx ends, mvn is killed.
func (a Artifacts) Fetch(
	ctx context.Context, progress func(sentence string),
) (dir string, err error) {
	return wanted{
		name: a.Name, check: a.check, folder: a.folder, whole: whole, fill: a.fetch,
		sentence: "fetching " + a.Name + " and its dependencies with mvn",
	}.fetch(ctx, progress)
}

// wanted is a folder to fill, if it is not whole.
type wanted struct {
	name, sentence string
	check          func() error // refuses contents that only a programming error can produce
	folder         func() (dir string, err error)
	whole          func(dir string) bool
	fill           func(ctx context.Context, mvn, work, dir string) error
}

// fetch returns the folder, filled.
func (w wanted) fetch(ctx context.Context, progress func(sentence string)) (string, error) {
	if err := w.check(); err != nil {
		return "", err
	}
	dir, err := w.folder()
	if err != nil {
		return "", err
	}
	return dir, w.fetchInto(ctx, dir, progress)
}

// fetchInto fills the folder unless it is whole, or another process has filled it meanwhile.
func (w wanted) fetchInto(ctx context.Context, dir string, progress func(sentence string)) error {
	if w.whole(dir) {
		return nil
	}
	mvn, err := findMaven()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("making the folder for %s: %w", w.name, err)
	}
	lock, err := lockWithin(ctx, dir+".lock")
	if err != nil {
		return fmt.Errorf("waiting for another process that fetches %s: %w", w.name, err)
	}
	defer lock.Close()
	if w.whole(dir) {
		return nil
	}
	if progress != nil {
		progress(w.sentence + ", only this once; it may take some minutes")
	}
	return w.fillAnew(ctx, mvn, dir)
}

// fillAnew fills the folder. The caller holds its lock, so existing folders were left by a
// process that died.
func (w wanted) fillAnew(ctx context.Context, mvn, dir string) error {
	part, work := dir+".part", dir+".work"
	if err := errors.Join(os.RemoveAll(part), os.RemoveAll(work), os.RemoveAll(dir)); err != nil {
		return fmt.Errorf("removing what an interrupted fetch left: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // after an error the next fetch removes it
	if err := errors.Join(os.Mkdir(part, 0o755), os.Mkdir(work, 0o755)); err != nil {
		return fmt.Errorf("making the folder for %s: %w", w.name, err)
	}
	err := w.fill(ctx, mvn, work, part)
	if err == nil {
		err = os.Rename(part, dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("fetching %s: %w", w.name, err), os.RemoveAll(part))
	}
	return nil
}

// Fetched reports whether Fetch would find the artifacts on this machine.
func (a Artifacts) Fetched() bool {
	dir, err := a.folder()
	return err == nil && whole(dir)
}

// Classpath returns the argument of java -cp that names every jar of a folder.
func Classpath(dir string) string { return filepath.Join(dir, "*") }

// fetch has mvn copy the jars into dir.
func (a Artifacts) fetch(ctx context.Context, mvn, work, dir string) error {
	err := a.runMaven(ctx, mvn, work, dir)
	if err == nil {
		err = writeList(dir)
	}
	return err
}

// folder returns the path of the folder for the artifacts.
func (a Artifacts) folder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for jars: %w: set HOME or XDG_CACHE_HOME", err)
	}
	sum := sha256.Sum256([]byte(dependencyPlugin + "\n" + strings.Join(a.Coordinates, "\n")))
	return filepath.Join(cache, "plimsoll", "maven", a.Name+"-"+hex.EncodeToString(sum[:6])), nil
}

// check refuses artifacts that only a programming error can produce.
func (a Artifacts) check() error {
	if a.Name == "" || strings.ContainsAny(a.Name, `/\`) || len(a.Coordinates) == 0 {
		return fmt.Errorf("artifacts %q: give a folder's name and coordinates", a.Name)
	}
	for _, c := range a.Coordinates {
		parts := strings.Split(c, ":")
		if len(parts) != 3 || strings.ContainsAny(c, "<>&$ \n[](),") {
			return fmt.Errorf("coordinates %q: write group:artifact:version, "+
				"with one version and no range", c)
		}
	}
	return nil
}

// writeList writes the list of all jars with their sizes. It fails when there is no jar.
func writeList(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if strings.HasSuffix(e.Name(), ".jar") {
			fmt.Fprintf(&b, "%d %s\n", info.Size(), e.Name())
		}
	}
	if b.Len() == 0 {
		return errors.New("mvn succeeded and brought no jar: run it by hand to see why: " +
			"mvn dependency:get -Dartifact=group:artifact:version")
	}
	return os.WriteFile(filepath.Join(dir, listFile), []byte(b.String()), 0o644)
}

// whole reports whether the folder holds every jar of its list.
func whole(dir string) bool {
	list, err := os.ReadFile(filepath.Join(dir, listFile))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(list)) {
		var size int64
		var name string
		if _, err := fmt.Sscanf(line, "%d %s\n", &size, &name); err != nil {
			return false
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() != size {
			return false
		}
	}
	return len(list) > 0
}

// lockWithin waits for a file's lock until ctx ends. Closing the file releases the lock.
func lockWithin(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, &os.PathError{Op: "flock", Path: path, Err: err}
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}
