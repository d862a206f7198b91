//go:build !linux

package disk

import (
	"context"
	"errors"
)

// SlowWritesPerSecond is what Slow leaves of a disk.
const SlowWritesPerSecond = 50

var errElsewhere = errors.New("disks of a node's own are made on Linux only: run plimsoll there, or take the faults kill, pause and restart")

// Disk is a file system in an image file; there is none here.
type Disk struct{}

// Make makes none here.
func Make(context.Context, string, string, int64) (*Disk, error) { return nil, errElsewhere }

// Sync does nothing here.
func (*Disk) Sync() error { return errElsewhere }

// Cut does nothing here.
func (*Disk) Cut() error { return errElsewhere }

// Renew does nothing here.
func (*Disk) Renew(context.Context) error { return errElsewhere }

// Fill does nothing here.
func (*Disk) Fill() error { return errElsewhere }

// Empty does nothing here.
func (*Disk) Empty() error { return errElsewhere }

// Slow does nothing here.
func (*Disk) Slow() error { return errElsewhere }

// Hasten does nothing here.
func (*Disk) Hasten() error { return errElsewhere }

// Check says that there are none here.
func Check(context.Context, string) error { return errElsewhere }

// CheckSlow says that there are none here.
func CheckSlow() error { return errElsewhere }

// Release has nothing to release here.
func Release(string) error { return nil }
