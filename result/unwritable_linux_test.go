package result

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody gives this thread the rights of another user on files until the test ends, where the
// tests run as root.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Setfsuid(0)
		runtime.UnlockOSThread()
	})
}

// A folder in which no run can be made is refused with a remedy.
func TestUnwritableFolders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir()
	if err := os.Chmod(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		root, want string
		denied     bool
	}{
		{file, "file cannot be written to: not a directory: name another folder", false},
		{filepath.Join(file, "runs"), "not a directory: name another folder", false},
		{locked, "denied: give this user the right to write there, or name another", true},
		{filepath.Join(locked, "runs"), "denied: give this user the right", true},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.denied {
				asNobody(t)
			}
			_, err := Create(c.root, &Run{ID: "x"})
			var unwritable *Unwritable
			if !errors.As(err, &unwritable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}
