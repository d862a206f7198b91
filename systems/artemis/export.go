package artemis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// exportFile is where a server writes its configuration when it is told to, in the folder for
// temporary files of its instance.
const exportFile = "broker_config_as_properties.txt"

// exporting is held while a server's file is written, read and removed.
var exporting sync.Mutex

// config is a server's configuration in the running server's words. It is nil for a server on
// another machine, whose files cannot be read.
func (m *management) config(ctx context.Context) (map[string]string, error) {
	journal, err := m.text(ctx, broker, "JournalDirectory")
	if err != nil {
		return nil, err
	}
	// An instance has data/journal and tmp.
	folder := filepath.Join(journal, "..", "..", "tmp")
	if _, err := os.Stat(journal); err != nil {
		return nil, nil //nolint:nilerr // it is on another machine
	}
	raw, err := exported(folder, func(path string) error {
		_, err := m.call(ctx, broker, "exportConfigAsProperties")
		if r := (*refusal)(nil); err != nil && !errors.As(err, &r) {
			m.mayCome = path
		}
		return err
	})
	if err != nil || raw == nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(line, "="); ok {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all, nil
}

// exported returns the file that a server writes into a folder when it is asked. The file may hold
// passwords: it is readable only to its owner before the server writes, and is removed however
// this ends. It is nil where this process may not write into the folder, and where the server
// writes elsewhere.
func exported(folder string, ask func(path string) error) (raw []byte, err error) {
	exporting.Lock()
	defer exporting.Unlock()
	path := filepath.Join(folder, exportFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, nil
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("the server writes its configuration to %s, which exists: remove "+
			"the file, or move it if it is needed", path)
	case err != nil:
		return nil, fmt.Errorf("making room for the server's configuration: %w", err)
	}
	defer func() {
		if removed := os.Remove(path); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("removing the configuration that the server wrote, "+
				"which may hold passwords: %w", removed))
		}
	}()
	if err := errors.Join(ownedLike(f, folder), f.Close()); err != nil {
		return nil, fmt.Errorf("making room for the server's configuration: %w", err)
	}
	if err := ask(path); err != nil {
		return nil, fmt.Errorf("having the server write its configuration: %w", err)
	}
	raw, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the configuration that the server wrote: %w", err)
	}
	return raw, nil
}

// ownedLike gives a file to the owner of a folder, as which the server runs.
func ownedLike(f *os.File, folder string) error {
	at, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner, ok := at.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
