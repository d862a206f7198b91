package process

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// RemoveFolder removes a folder with its content, and empties a folder on which a file
// system is mounted.
func TestRemoveFolder(t *testing.T) {
	for _, mounted := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "n1")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if mounted {
			err := syscall.Mount("plimsoll-test", dir, "tmpfs", 0, "size=64k")
			if errors.Is(err, syscall.EPERM) {
				t.Skipf("%s: only root may mount a file system", t.Name())
			}
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Unmount(dir, 0)
		}
		if err := os.MkdirAll(filepath.Join(dir, "data", "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := RemoveFolder(dir); err != nil {
			t.Errorf("mounted %t: %v", mounted, err)
		}
		left, err := os.ReadDir(dir)
		if mounted && (err != nil || len(left) > 0) || !mounted && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("mounted %t: left %v, %v", mounted, left, err)
		}
	}
}
