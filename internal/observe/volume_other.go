//go:build !linux

package observe

import (
	"fmt"
	"syscall"
)

// volume is the file system of a directory.
type volume struct {
	id        string
	disk      string // unknown on this operating system
	inMemory  bool   // unknown on this operating system
	freeBytes int64  // that this user can still fill
}

// volumeOf returns the file system of a directory.
func volumeOf(dir string) (volume, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return volume{}, err
	}
	var at syscall.Stat_t
	if err := syscall.Stat(dir, &at); err != nil {
		return volume{}, err
	}
	return volume{id: fmt.Sprintf("%x", at.Dev), freeBytes: int64(fs.Bavail) * int64(fs.Bsize)}, nil
}
