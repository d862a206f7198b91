package observe

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// volumeOf returns the file system of a directory.
func volumeOf(dir string) (volume, error) {
	fs, at, err := stat(dir)
	if err != nil {
		return volume{}, err
	}
	device := fmt.Sprintf("%d:%d", unix.Major(at.Dev), unix.Minor(at.Dev))
	v := volume{
		id:        fmt.Sprintf("%08x%08x", uint32(fs.Fsid.Val[0]), uint32(fs.Fsid.Val[1])),
		disk:      diskOf(device),
		inMemory:  int64(fs.Type) == unix.TMPFS_MAGIC || int64(fs.Type) == unix.RAMFS_MAGIC,
		freeBytes: int64(fs.Bavail) * int64(fs.Bsize),
	}
	if fs.Fsid == (unix.Fsid{}) {
		v.id = fmt.Sprintf("%d-%d", unix.Major(at.Dev), unix.Minor(at.Dev))
	}
	return v, nil
}

// diskOf returns the name of the whole disk of a device number, or "".
func diskOf(device string) string {
	if name := wholeDisk(device); name != "" {
		return name
	}
	// Some file systems have a device number of their own. Their mount names the source.
	mounts, err := procfs.GetMounts()
	if err != nil {
		return ""
	}
	for _, m := range mounts {
		if m.MajorMinorVer != device {
			continue
		}
		var source unix.Stat_t
		if unix.Stat(m.Source, &source) == nil && source.Mode&unix.S_IFMT == unix.S_IFBLK {
			return wholeDisk(fmt.Sprintf("%d:%d", unix.Major(source.Rdev), unix.Minor(source.Rdev)))
		}
	}
	return ""
}

// wholeDisk returns the name of the disk that a block device is or belongs to, or "".
func wholeDisk(device string) string {
	path, err := filepath.EvalSymlinks("/sys/dev/block/" + device)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(path, "partition")); err == nil {
		path = filepath.Dir(path)
	}
	return filepath.Base(path)
}
