//go:build !linux

package observe

import (
	"errors"
	"os"
)

// setDirect fails: direct I/O differs between operating systems.
func setDirect(*os.File, bool) error { return errors.ErrUnsupported }

// reserve does nothing.
func reserve(*os.File, int64) error { return nil }

// syncData waits until a file's data is on the disk.
func syncData(f *os.File) error { return f.Sync() }
