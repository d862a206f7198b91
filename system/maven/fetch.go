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
	// Sums lists the SHA-256 of all jars: the text of a file that Pins has written. Without
	// lines for Name, the jars are as trustworthy as mvn's repositories at their first fetch.
	Sums string
}

const lockPoll = 100 * time.Millisecond

// Fetch returns the folder with the artifacts and their runtime dependencies, which are the pinned
// ones. mvn fetches them when the folder is missing or incomplete. Before that progress, which may
// be nil, gets a sentence. When ctx ends, mvn is killed.
func (a Artifacts) Fetch(
	ctx context.Context, progress func(sentence string),
) (dir string, err error) {
	return a.wanted().fetch(ctx, progress)
}

// Pins fetches the jars anew and returns their lines for Sums.
func (a Artifacts) Pins(ctx context.Context) (lines string, err error) {
	a.Sums = ""
	return a.wanted().pins(ctx)
}

// Pinned returns the lines for the jars in Sums.
func (a Artifacts) Pinned() (lines string) { return pinnedSums(a.Sums, a.Name).lines(a.Name) }

func (a Artifacts) wanted() wanted {
	w := wanted{
		name: a.Name, pinned: pinnedSums(a.Sums, a.Name),
		check: a.check, folder: a.folder, fill: a.fetch,
		sentence: "fetching " + a.Name + " and its dependencies with mvn",
	}
	w.trusted = func(files []listed, _ []byte) error { return w.pinned.compare(sumsOf(files)) }
	return w
}

// wanted is a folder to fill, if it is not whole.
type wanted struct {
	name, sentence string
	pinned         sums         // nil: nothing is pinned
	check          func() error // refuses contents that only a programming error can produce
	folder         func() (dir string, err error)
	// fill has mvn bring the files, and returns what can be pinned of them.
	fill func(ctx context.Context, mvn, work, dir string) (brought sums, err error)
	// trusted compares a folder's list with what is pinned.
	trusted func(files []listed, list []byte) error
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
	if whole(dir) {
		return w.verify(dir)
	}
	mvn, err := findMaven()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make the folder for %s: %w: set XDG_CACHE_HOME to a folder that this "+
			"user may write to", w.name, err)
	}
	lock, err := lockWithin(ctx, dir+".lock")
	if err != nil {
		return fmt.Errorf("wait for another process that fetches %s: %w", w.name, err)
	}
	defer lock.Close()
	if whole(dir) {
		return w.verify(dir)
	}
	if progress != nil {
		progress(w.sentence + ", only this once; it may take some minutes")
		if w.pinned == nil {
			progress("no checksums of " + w.name + " are pinned: its files are checked only " +
				"against the checksums of mvn's repositories")
		}
	}
	return w.fillAnew(ctx, mvn, dir)
}

// fillAnew fills the folder. The caller holds its lock, so existing folders were left by a
// process that died.
func (w wanted) fillAnew(ctx context.Context, mvn, dir string) error {
	part, work := dir+".part", dir+".work"
	if err := errors.Join(os.RemoveAll(part), os.RemoveAll(work), os.RemoveAll(dir)); err != nil {
		return fmt.Errorf("remove what an interrupted fetch left: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // after an error the next fetch removes it
	if err := errors.Join(os.Mkdir(part, 0o755), os.Mkdir(work, 0o755)); err != nil {
		return fmt.Errorf("make the folder for %s: %w", w.name, err)
	}
	brought, err := w.fill(ctx, mvn, work, part)
	if err == nil && w.pinned != nil {
		err = w.pinned.compare(brought)
	}
	if err == nil {
		err = os.Rename(part, dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("fetch %s: %w", w.name, err), os.RemoveAll(part))
	}
	return nil
}

// verify returns an error unless the folder's files are the pinned ones. The folder is whole.
func (w wanted) verify(dir string) error {
	files, list := readList(dir)
	if w.pinned != nil {
		if err := w.trusted(files, list); err != nil {
			return fmt.Errorf("%s does not list the pinned files: %s",
				filepath.Join(dir, listFile), fetchAnew(dir))
		}
	}
	return verify(dir, files, time.Now())
}

// pins fetches the files into a temporary folder.
func (w wanted) pins(ctx context.Context) (string, error) {
	if err := w.check(); err != nil {
		return "", err
	}
	mvn, err := findMaven()
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp("", "plimsoll-pins-")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(work, "files")
	if err = os.Mkdir(dir, 0o755); err == nil {
		var brought sums
		if brought, err = w.fill(ctx, mvn, work, dir); err == nil {
			return brought.lines(w.name), os.RemoveAll(work)
		}
	}
	return "", errors.Join(fmt.Errorf("fetch %s: %w", w.name, err), os.RemoveAll(work))
}

// Fetched reports whether Fetch would find the artifacts on this machine.
func (a Artifacts) Fetched() bool {
	dir, err := a.folder()
	return err == nil && whole(dir)
}

// Classpath returns the argument of java -cp that names every jar of a folder.
func Classpath(dir string) string { return filepath.Join(dir, "*") }

// fetch has mvn copy the jars into dir.
func (a Artifacts) fetch(ctx context.Context, mvn, work, dir string) (sums, error) {
	err := a.runMaven(ctx, mvn, work, dir)
	if err != nil {
		return nil, err
	}
	files, err := listJars(dir)
	if err == nil {
		err = writeList(dir, files)
	}
	return sumsOf(files), err
}

// folder returns the path of the folder for the artifacts.
func (a Artifacts) folder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for jars: %w: set HOME or XDG_CACHE_HOME", err)
	}
	sum := sha256.Sum256([]byte(listFile + "\n" + dependencyPlugin + "\n" +
		strings.Join(a.Coordinates, "\n")))
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

// listJars lists the jars of a folder. It fails when there is none.
func listJars(dir string) (files []listed, err error) {
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil {
		return nil, err
	}
	for _, jar := range jars {
		info, err := os.Stat(jar)
		if err != nil {
			return nil, err
		}
		sum, err := sumOf(jar)
		if err != nil {
			return nil, err
		}
		files = append(files, listed{sum, info.Size(), filepath.Base(jar)})
	}
	if len(files) == 0 {
		return nil, errors.New("mvn succeeded and brought no jar: run it by hand to see why: " +
			"mvn dependency:get -Dartifact=group:artifact:version")
	}
	return files, nil
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
