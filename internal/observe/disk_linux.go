package observe

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// setDirect switches a file's direct I/O, which bypasses the page cache.
func setDirect(f *os.File, direct bool) error {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if flags &^= unix.O_DIRECT; direct {
		flags |= unix.O_DIRECT
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags)
	return err
}

// reserve allocates a file's disk blocks, where the file system supports it.
func reserve(f *os.File, bytes int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, bytes)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}

// syncData waits until a file's data is on the disk.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
