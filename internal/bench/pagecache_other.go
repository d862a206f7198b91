//go:build !linux

package bench

import "errors"

func canDropPageCache() error {
	return errors.New("the page cache is dropped on Linux only: take the key out of the workload")
}

// DropPageCache returns an error.
func DropPageCache() error { return canDropPageCache() }
