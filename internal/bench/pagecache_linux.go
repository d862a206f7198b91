package bench

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const dropCaches = "/proc/sys/vm/drop_caches"

func canDropPageCache() error {
	if err := unix.Access(dropCaches, unix.W_OK); err != nil {
		return fmt.Errorf("only root may write %s: %w", dropCaches, err)
	}
	return nil
}

// DropPageCache writes this machine's dirty pages to the disks, and then drops the cached pages.
func DropPageCache() error {
	unix.Sync()
	// Page cache, directory entries and inodes.
	return os.WriteFile(dropCaches, []byte("3"), 0)
}
