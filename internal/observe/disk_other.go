//go:build !linux

package observe

import (
	"errors"
	"os"
)

// setDirect is refused: it is not the same call on other systems.
func setDirect(*os.File, bool) error { return errors.ErrUnsupported }

// reserve does nothing.
func reserve(*os.File, int64) error { return nil }

func syncData(f *os.File) error { return f.Sync() }
