//go:build !linux

package firewall

import "errors"

var errElsewhere = errors.New("nodes are kept apart on Linux only: run plimsoll there, or take the faults kill, pause and restart")

// Separate does nothing here.
func Separate(string, [][]Member) error { return errElsewhere }

// Enclose does nothing here.
func Enclose(string, []Member, []int) error { return errElsewhere }

// Remove has nothing to remove here.
func Remove(string) error { return nil }

// Check says that nothing can be kept apart here.
func Check() error { return errElsewhere }
