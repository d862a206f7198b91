package artemis

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The configuration that a server writes may hold passwords: only its owner can read it, and it is
// removed however the reading ends.
func TestExportedConfigurationIsRemoved(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		write func(t *testing.T, path string) error
		reads string
		says  string
	}{
		"read": {func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte("password=secret"), 0o644)
		}, "password=secret", ""},
		"refused, but written": {func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path, []byte("password=secret"), 0o644), refused)
		}, "", "refused"},
		"not written":       {func(*testing.T, string) error { return nil }, "", ""},
		"written elsewhere": {func(_ *testing.T, path string) error { return os.Remove(path) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, exportFile)
			raw, err := exported(folder, func(at string) error {
				err := c.write(t, at)
				if has, e := os.Stat(at); e == nil && has.Mode().Perm() != 0o600 {
					t.Errorf("the file has mode %v", has.Mode())
				}
				return err
			})
			if c.says == "" && err != nil || string(raw) != c.reads {
				t.Errorf("read %q, %v", raw, err)
			} else if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v, want %s", err, c.says)
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file is left behind: %v", err)
			}
		})
	}
}

func TestExportedConfigurationOfOthersStays(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, exportFile)
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := exported(folder, func(string) error { return errors.New("asked") })
	if err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Error(err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "mine" {
		t.Errorf("the file holds %q", raw)
	}
	// A server on another machine.
	raw, err := exported(filepath.Join(folder, "nowhere"), nil)
	if raw != nil || err != nil {
		t.Errorf("%q, %v", raw, err)
	}
}
