package bench

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const dropCaches = "/proc/sys/vm/drop_caches"

func canDropPageCache() error {
	if err := unix.Access(dropCaches, unix.W_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w", dropCaches, err)
	}
	return nil
}

// dropPageCache writes out what only memory holds and forgets all that the
// disks hold too.
func dropPageCache() error {
	unix.Sync()
	// Page cache, directory entries and inodes.
	return os.WriteFile(dropCaches, []byte("3"), 0)
}
