package process

import (
	"errors"
	"os"
	"syscall"
)

// RemoveFolder removes a server's folder and all that is in it. A folder on
// which a file system is mounted cannot be removed: it is left empty.
func RemoveFolder(dir string) error {
	err := os.RemoveAll(dir)
	if errors.Is(err, syscall.EBUSY) {
		if left, failed := os.ReadDir(dir); failed == nil && len(left) == 0 {
			return nil
		}
	}
	return err
}
