package process

import (
	"errors"
	"os"
	"syscall"
)

// RemoveFolder removes a server's folder with its content. When a file system is mounted on
// the folder, it only empties the folder.
func RemoveFolder(dir string) error {
	err := os.RemoveAll(dir)
	if errors.Is(err, syscall.EBUSY) {
		if left, failed := os.ReadDir(dir); failed == nil && len(left) == 0 {
			return nil
		}
	}
	return err
}
