//go:build !linux

package firewall

import "errors"

var errElsewhere = errors.New("nodes are separated on Linux only: " +
	"run plimsoll there, or use the faults kill, pause and restart")

// Separate fails on this operating system.
func Separate(string, [][]Member) error { return errElsewhere }

// Enclose fails on this operating system.
func Enclose(string, []Member, []int) error { return errElsewhere }

// Remove does nothing: there are no tables.
func Remove(string) error { return nil }

// Check fails on this operating system.
func Check() error { return errElsewhere }
