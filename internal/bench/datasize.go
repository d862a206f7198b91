package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const (
	// sizedLeast is the shortest window in which the size of the data is followed.
	sizedLeast = 10 * time.Minute
	// sizeEvery is the interval between readings of the nodes' files. A reading costs about 2 us
	// per file.
	sizeEvery = 10 * time.Second
	// mostSized bounds the files and folders of a node that a reading counts.
	mostSized = 20_000
)

// dataDir is the folder with a node's data.
type dataDir struct{ node, path string }

var errManyFiles = errors.New("too many files")

// size returns the gauges of the folder: the disk space of its files, and their number. Holes of
// sparse files do not count, and a file that vanishes meanwhile is left out.
func (d dataDir) size(ctx context.Context) ([]result.Gauge, error) {
	var bytes, files, entries int64
	err := filepath.WalkDir(d.path, func(path string, e fs.DirEntry, err error) error {
		if entries++; entries > mostSized {
			return errManyFiles
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // the file has vanished
		}
		var stat syscall.Stat_t
		if syscall.Lstat(path, &stat) == nil {
			bytes, files = bytes+stat.Blocks*512, files+1 // stat's unit on every file system
		}
		return nil
	})
	if errors.Is(err, errManyFiles) {
		return nil, fmt.Errorf("the size of the data of %s is not followed, because it has more "+
			"than %s files and folders", d.node, quantity.Count(int64(mostSized)))
	}
	if err != nil {
		return nil, fmt.Errorf("the size of the data of %s: %w", d.node, err)
	}
	return []result.Gauge{
		{Name: result.DataOnDisk + d.node, Unit: "bytes", Value: float64(bytes)},
		{Name: result.DataFiles + d.node, Value: float64(files)},
	}, nil
}
