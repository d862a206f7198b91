//go:build !linux

package observe

import "fmt"

// volumeOf returns the file system of a directory.
func volumeOf(dir string) (volume, error) {
	fs, at, err := stat(dir)
	if err != nil {
		return volume{}, err
	}
	return volume{id: fmt.Sprintf("%x", at.Dev), freeBytes: int64(fs.Bavail) * int64(fs.Bsize)}, nil
}
