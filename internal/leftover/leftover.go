package leftover

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Kind is how a thing is removed.
type Kind string

// Folder is the kind of a folder whose path is its name.
const Folder Kind = "folder"

// entry is the content of a file of the registry.
type entry struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// Shared: the things of this name have locks of their own.
	Shared bool `json:"shared,omitempty"`
}

const (
	mostBytes = 16 << 10 // of an entry
	// mostEntries bounds a sweep. The next one goes on.
	mostEntries = 1000
	newPrefix   = ".new-"
	newLimit    = time.Hour // after which a file that was never completed is removed
)

// registry returns the folder of the registry, into which only this user may write. Unless it is
// made, it may not exist, which is an error.
func registry(made bool) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	var dir string
	cache, err := os.UserCacheDir()
	if home, noHome := os.UserHomeDir(); err == nil && noHome == nil {
		_, err = os.Stat(home) // a user without a home gets none
	}
	if err == nil {
		dir = filepath.Join(cache, "plimsoll", "owned", host)
	} else {
		dir = filepath.Join(os.TempDir(), "plimsoll-"+strconv.Itoa(os.Getuid()), host)
	}
	if made {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	var of syscall.Stat_t
	if err := syscall.Lstat(filepath.Dir(dir), &of); err != nil {
		return "", err
	}
	const others = 0o022
	if int(of.Uid) != os.Getuid() || of.Mode&others != 0 ||
		of.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return "", errors.New("others may write into the registry")
	}
	return dir, nil
}

// Claim is the registration of a thing by its owner. A nil one is that of a thing which could not
// be registered.
type Claim struct {
	file *os.File
	path string
}

// held keeps the locks of this process, whatever becomes of its claims.
var held sync.Map

// Own registers a thing, before it is made.
func Own(kind Kind, name string) *Claim {
	f, path, err := add(entry{Kind: kind, Name: name}, rand.Text())
	if err != nil {
		return nil
	}
	c := &Claim{f, path}
	held.Store(c, true)
	return c
}

// Release ends the registration, after the thing was removed.
func (c *Claim) Release() {
	if c == nil {
		return
	}
	_ = os.Remove(c.path) // a sweep would find nothing to remove
	_ = c.file.Close()
	held.Delete(c)
}

// Watch registers things that have locks of their own, by a name for all of them. It may be called
// again.
func Watch(kind Kind, name string) {
	sum := fnv.New128a()
	_, _ = fmt.Fprintf(sum, "%s %s", kind, name)
	if f, _, err := add(entry{Kind: kind, Name: name, Shared: true},
		fmt.Sprintf("%x", sum.Sum(nil))); err == nil {
		_ = f.Close()
	}
}

// add writes a file of the registry, which is locked from the moment at which a sweep can see it.
func add(e entry, id string) (f *os.File, path string, err error) {
	dir, err := registry(true)
	if err != nil {
		return nil, "", err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, "", err
	}
	made := filepath.Join(dir, newPrefix+rand.Text())
	if f, err = os.OpenFile(made, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, "", err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	path = filepath.Join(dir, id)
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, "", errors.Join(err, f.Close(), os.Remove(made))
	}
	return f, path, nil
}

// Made is a folder that a sweep removes if this process is killed.
type Made struct {
	Path  string
	claim *Claim
}

// Dir makes a folder of an unused name. An empty parent means the folder for temporary files.
func Dir(parent, prefix string) (*Made, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, prefix+strings.ToLower(rand.Text()))
	m := &Made{dir, Own(Folder, dir)}
	if err := os.Mkdir(dir, 0o700); err != nil {
		m.Keep()
		return nil, err
	}
	return m, nil
}

// Remove removes the folder.
func (m *Made) Remove() error {
	if err := os.RemoveAll(m.Path); err != nil {
		return err
	}
	m.Keep()
	return nil
}

// Keep leaves the folder to the user.
func (m *Made) Keep() { m.claim.Release() }

// Remover removes what has the name. It returns what it removed, a sentence each, and whether
// something is there that has an owner.
type Remover func(name string) (removed []string, left bool, err error)

// Sweep removes what has no owner, and passes a sentence on each thing to say.
func Sweep(by map[Kind]Remover, say func(sentence string)) {
	dir, err := registry(false)
	if err != nil {
		return
	}
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostEntries)
	for _, name := range names {
		sweepOne(filepath.Join(dir, name), by, say)
	}
}

func sweepOne(path string, by map[Kind]Remover, say func(sentence string)) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return // its owner lives, or another sweep has it
	}
	held, err := f.Stat()
	if err != nil {
		return
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(held, now) {
		return // it was removed meanwhile
	}
	if strings.HasPrefix(filepath.Base(path), newPrefix) {
		if time.Since(held.ModTime()) > newLimit {
			_ = os.Remove(path)
		}
		return
	}
	var e entry
	raw, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	remove := by[e.Kind]
	if err != nil || remove == nil {
		return // of another version of plimsoll
	}
	removed, left, err := remove(e.Name)
	for _, sentence := range removed {
		say(sentence)
	}
	if err != nil {
		say(fmt.Sprintf("warning: what a killed plimsoll left cannot be removed: %v", err))
		return
	}
	if !left {
		_ = os.Remove(path)
	}
}

// RemoveFolder is the Remover of Folder.
func RemoveFolder(path string) (removed []string, left bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err := os.RemoveAll(path); err != nil {
		return nil, false, err
	}
	return []string{"removed " + path + ", which a killed plimsoll left"}, false, nil
}
