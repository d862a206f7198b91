//go:build !linux

package process

import "syscall"

// parents is not known.
func parents() map[int]int { return nil }

// running reports whether there is a process.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }
