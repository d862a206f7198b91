package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxBytes is the largest input that is read.
const MaxBytes = 1 << 20

// ReadFile reads a file that a user named. The error is one sentence with the remedy, and wraps
// its cause if there is one.
func ReadFile(path string) ([]byte, error) {
	return ReadUpTo(path, MaxBytes, "name the file that was meant")
}

// ReadUpTo is ReadFile for files of up to most bytes, whole MiB. The remedy says what to do about
// a larger one.
func ReadUpTo(path string, most int64, remedy string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, explain(path, err)
	}
	defer f.Close()
	var src bytes.Buffer
	if info, err := f.Stat(); err == nil {
		if info.IsDir() {
			return nil, fmt.Errorf("%s is a folder: name a file in it", path)
		}
		src.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	}
	// One byte more than allowed tells a file that is too large from one that is just large
	// enough, also for pipes and devices, which have no size.
	if _, err := src.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, explain(path, err)
	}
	if int64(src.Len()) > most {
		return nil, fmt.Errorf("%s is larger than %d MiB, the most that is read of it: %s", path,
			most>>20, remedy)
	}
	return src.Bytes(), nil
}

func explain(path string, err error) error {
	switch {
	case path == "":
		return errors.New("the file's name is empty: name a file")
	case errors.Is(err, fs.ErrNotExist):
		if near := sibling(path); near != "" {
			return sentence{fmt.Sprintf("%s does not exist: did you mean %s?", path, near), err}
		}
		return sentence{fmt.Sprintf("%s does not exist: check the path", path), err}
	case errors.Is(err, fs.ErrPermission):
		return sentence{
			fmt.Sprintf("%s may not be read: give this user the right to read it", path), err}
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("%s cannot be read: %w: check the path", path, err)
}

// sentence is an error with a text of its own that wraps its cause.
type sentence struct {
	words string
	cause error
}

func (s sentence) Error() string { return s.words }
func (s sentence) Unwrap() error { return s.cause }

// mostSiblings bounds the names of a folder that are compared.
const mostSiblings = 1000

// sibling returns the file beside path whose name was probably meant, or "".
func sibling(path string) string {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return ""
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(mostSiblings)
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	near := Nearest(filepath.Base(path), names)
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(path), near)
}

// IsPath reports whether an argument that may be a name or a path is a path: it contains a
// slash, has the extension of YAML files, or a file of that name exists.
func IsPath(nameOrPath string) bool {
	if strings.ContainsAny(nameOrPath, `/\`) {
		return true
	}
	if ext := filepath.Ext(nameOrPath); ext == ".yaml" || ext == ".yml" {
		return true
	}
	info, err := os.Stat(nameOrPath)
	return err == nil && !info.IsDir()
}
