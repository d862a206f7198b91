package observe

import "golang.org/x/sys/unix"

// volume is the file system of a directory.
type volume struct {
	id        string // stable, as far as the kernel allows
	disk      string // the kernel's name of the whole disk; empty: unknown
	inMemory  bool   // known on Linux only
	freeBytes int64  // that this user can still fill
}

// DiskOf returns the kernel's name of the whole disk that holds a directory; empty: not known.
func DiskOf(dir string) string {
	v, _ := volumeOf(dir)
	return v.disk
}

// stat returns what the kernel says of a directory and of its file system.
func stat(dir string) (fs unix.Statfs_t, at unix.Stat_t, err error) {
	if err = unix.Statfs(dir, &fs); err == nil {
		err = unix.Stat(dir, &at)
	}
	return fs, at, err
}
