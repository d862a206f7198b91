package disk

import (
	"errors"
	"os"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
)

// Trial is the kind of the folder in which Check tries a disk.
const Trial leftover.Kind = "trial of a disk"

// RemoveTrial removes such a folder with its mounts.
func RemoveTrial(dir string) (removed []string, left bool, err error) {
	if err := errors.Join(Release(dir), os.RemoveAll(dir)); err != nil {
		return nil, false, err
	}
	return []string{"removed the disk that a killed plimsoll tried in " + dir}, false, nil
}
