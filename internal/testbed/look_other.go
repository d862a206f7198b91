//go:build !linux

package testbed

import "syscall"

// belongs says whether the process runs; whose it is cannot be told here.
func belongs(pid, _ int) bool { return syscall.Kill(pid, 0) == nil }

// residentBytes is not read here.
func residentBytes(int) int64 { return 0 }
