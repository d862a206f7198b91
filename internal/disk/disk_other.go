//go:build !linux

package disk

import (
	"context"
	"errors"
)

// SlowWritesPerSecond is the bound that Throttle sets.
const SlowWritesPerSecond = 50

var errElsewhere = errors.New("disks for single nodes exist on Linux only: " +
	"run plimsoll there, or use the faults kill, pause and restart")

// Disk is a file system in an image file. This operating system has none.
type Disk struct{}

// Make fails on this operating system.
func Make(context.Context, string, string, int64) (*Disk, error) { return nil, errElsewhere }

// Sync fails on this operating system.
func (*Disk) Sync() error { return errElsewhere }

// Cut fails on this operating system.
func (*Disk) Cut() error { return errElsewhere }

// Remount fails on this operating system.
func (*Disk) Remount(context.Context) error { return errElsewhere }

// Fill fails on this operating system.
func (*Disk) Fill() error { return errElsewhere }

// Empty fails on this operating system.
func (*Disk) Empty() error { return errElsewhere }

// Throttle fails on this operating system.
func (*Disk) Throttle() error { return errElsewhere }

// Unthrottle fails on this operating system.
func (*Disk) Unthrottle() error { return errElsewhere }

// Check fails on this operating system.
func Check(context.Context, string) error { return errElsewhere }

// CheckThrottle fails on this operating system.
func CheckThrottle() error { return errElsewhere }

// Release does nothing: there are no disks.
func Release(string) error { return nil }
