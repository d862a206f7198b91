package maven

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// listFile lists a folder's files. It is written last, so a folder without it is
	// incomplete.
	listFile = "sums.txt"
	// checkedFile notes which files were found unchanged, so that each is read only once.
	checkedFile = "checked.txt"
	// settled is how old a file's last change must be for its note to be trusted. It exceeds
	// the resolution of every file system's times.
	settled = 2 * time.Second
)

// sums are the SHA-256 of files, in hexadecimal, by path.
type sums map[string]string

// pinnedSums returns the sums of one folder in a list with lines of "SHA-256  folder/path", as
// sha256sum prints them. It returns nil when the list does not have the folder.
func pinnedSums(list, folder string) sums {
	var found sums
	for line := range strings.Lines(list) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if file, in := strings.CutPrefix(name, folder+"/"); in {
			if found == nil {
				found = sums{}
			}
			found[file] = sum
		}
	}
	return found
}

// lines returns the list that pinnedSums reads.
func (s sums) lines(folder string) string {
	var b strings.Builder
	for _, file := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s  %s/%s\n", s[file], folder, file)
	}
	return b.String()
}

// listed is a line of a folder's list: a file as it was fetched.
type listed struct {
	sum  string
	size int64
	path string
}

// listOf returns the text of a folder's list.
func listOf(files []listed) []byte {
	var b bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&b, "%s %d %s\n", f.sum, f.size, f.path)
	}
	return b.Bytes()
}

func writeList(dir string, files []listed) error {
	return os.WriteFile(filepath.Join(dir, listFile), listOf(files), 0o644)
}

func sumsOf(files []listed) sums {
	all := sums{}
	for _, f := range files {
		all[f.path] = f.sum
	}
	return all
}

// readList reads a folder's list. A list that is damaged or missing is nil.
func readList(dir string) (all []listed, text []byte) {
	text, err := os.ReadFile(filepath.Join(dir, listFile))
	if err != nil {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		field := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(field) < 3 {
			return nil, nil
		}
		size, err := strconv.ParseInt(field[1], 10, 64)
		if err != nil {
			return nil, nil
		}
		all = append(all, listed{field[0], size, field[2]})
	}
	return all, text
}

// whole reports whether the folder has every file of its list, in its size.
func whole(dir string) bool {
	files, _ := readList(dir)
	for _, f := range files {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.path)))
		if err != nil || !info.Mode().IsRegular() || info.Size() != f.size {
			return false
		}
	}
	return len(files) > 0
}

// verify returns an error when a file differs from the one that was fetched, or when a jar was
// added. A file is read only if it has changed since the last time, or less than settled before
// now.
func verify(dir string, files []listed, now time.Time) error {
	checked, fresh := readChecked(dir), map[string]string{}
	known := map[string]bool{}
	for _, f := range files {
		known[f.path] = true
		file := filepath.Join(dir, filepath.FromSlash(f.path))
		note, changed, err := noteOf(file, f.sum)
		if err != nil {
			return err
		}
		if checked[f.path] != note {
			sum, err := sumOf(file)
			if err != nil {
				return err
			}
			if sum != f.sum {
				return fmt.Errorf("%s has changed since it was fetched: %s", file, fetchAnew(dir))
			}
		}
		if now.Sub(changed) > settled {
			fresh[f.path] = note
		}
	}
	if !maps.Equal(checked, fresh) {
		writeChecked(dir, fresh)
	}
	return noMoreJars(dir, known)
}

func fetchAnew(dir string) string {
	return "delete the folder " + dir + " and start again, which fetches it anew"
}

// noMoreJars refuses jars that nobody fetched, because Java loads every jar of a folder.
func noMoreJars(dir string, known map[string]bool) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err == nil && strings.HasSuffix(name, ".jar") && !known[filepath.ToSlash(name)] {
			err = fmt.Errorf("%s was not fetched with the other files: %s", file, fetchAnew(dir))
		}
		return err
	})
}

// noteOf returns a text that changes with the file's contents, and when they changed last. The
// kernel sets that time, and no program can set it back.
func noteOf(file, sum string) (note string, changed time.Time, err error) {
	var at unix.Stat_t
	if err := unix.Lstat(file, &at); err != nil {
		return "", changed, &os.PathError{Op: "lstat", Path: file, Err: err}
	}
	changed = time.Unix(at.Ctim.Unix())
	note = fmt.Sprintf("%s %d %d %d %d", sum, at.Ino, at.Size, at.Mtim.Nano(), changed.UnixNano())
	return note, changed, nil
}

// readChecked reads the notes of the files that were found unchanged.
func readChecked(dir string) map[string]string {
	notes := map[string]string{}
	raw, err := os.ReadFile(filepath.Join(dir, checkedFile))
	if err != nil {
		return notes
	}
	for line := range strings.Lines(string(raw)) {
		note, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		notes[file] = note
	}
	return notes
}

// writeChecked writes the notes at once. A cache that cannot be written to has no notes, and its
// files are read at every start.
func writeChecked(dir string, notes map[string]string) {
	var b bytes.Buffer
	for _, file := range slices.Sorted(maps.Keys(notes)) {
		fmt.Fprintf(&b, "%s\t%s\n", notes[file], file)
	}
	f, err := os.CreateTemp(dir, checkedFile+"-")
	if err != nil {
		return
	}
	_, err = f.Write(b.Bytes())
	if closed := f.Close(); err == nil && closed == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, checkedFile))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

func textSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// compare returns an error when the files that mvn brought are not the pinned ones.
func (s sums) compare(brought sums) error {
	for _, file := range slices.Sorted(maps.Keys(brought)) {
		switch want := s[file]; want {
		case brought[file]:
		case "":
			return fmt.Errorf("mvn brought %s, which is not one of the pinned files: "+
				"correct the repositories in mvn's settings.xml, and start again", file)
		default:
			return fmt.Errorf("mvn brought %s, whose SHA-256 is %s and should be %s: delete it "+
				"from mvn's local repository, or correct the repositories in mvn's settings.xml, "+
				"and start again", file, brought[file], want)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(s)) {
		if brought[file] == "" {
			return fmt.Errorf("mvn did not bring %s, which is one of the pinned files: "+
				"correct the repositories in mvn's settings.xml, and start again", file)
		}
	}
	return nil
}
