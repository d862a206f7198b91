package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

var notInNames = regexp.MustCompile(`[^a-z0-9.]+`)

// NamePart returns a name in the form that folder names have.
func NamePart(name string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// Stamp returns a time in the form that folder names have.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T150405") }

// NewFolder makes a folder below root for runs that belong together. Its name has the time and
// the words, and a number when the name is taken.
func NewFolder(root string, now time.Time, words ...string) (dir string, err error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", fmt.Errorf("create the folder for runs: %w", err)
	}
	id := Stamp(now) + "-" + NamePart(strings.Join(words, "-"))
	for n := 1; n < 1000; n++ {
		dir = filepath.Join(root, id)
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		if err = os.Mkdir(dir, 0o755); err == nil || !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("create the folder %s: %w", id, err)
	}
	return dir, nil
}

// maxDocument bounds a JSON file of plimsoll: such files have some tens of kilobytes.
const maxDocument = 16 << 20

// ReadDocument reads a JSON file of a directory. what names the kind of directory, for errors.
func ReadDocument(dir, file, what string, into any) error {
	path := filepath.Join(dir, file)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is not the folder of %s: it has no %s", dir, what, file)
	case err != nil:
		return fmt.Errorf("read %s: %w", path, err)
	case !info.Mode().IsRegular() || info.Size() > maxDocument:
		return fmt.Errorf("%s is not a file that plimsoll wrote", path)
	}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// Lives reports whether a process with this number exists. On a machine that runs for long it
// may be another process.
func Lives(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
