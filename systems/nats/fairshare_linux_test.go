package nats

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A node whose folder is a separate file system fills no more than that file system.
func TestFairShare(t *testing.T) {
	const size = 1 << 20
	dir := t.TempDir()
	all, _, err := freeDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Other processes may write to the disk meanwhile.
	if got, err := fairShare(dir, 4); err != nil || got < all/5 || got > all/3 {
		t.Errorf("of %d, each of 4 gets %d: %v", all, got, err)
	}
	own := filepath.Join(dir, "n2")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	err = syscall.Mount("plimsoll-test", own, "tmpfs", 0, "size=1m")
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("%s: mounting takes root", t.Name())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(own, 0)
	if got, err := fairShare(dir, 4); err != nil || got != size/10*9 {
		t.Errorf("with a file system of %d on one: %d: %v", size, got, err)
	}
}
