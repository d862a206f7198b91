//go:build !linux

package process

import "errors"

var errNoCPUs = errors.New("plimsoll gives processes their own CPUs on Linux only")

// CPUs is not known.
func CPUs(int) ([]int, error) { return nil, errNoCPUs }

// Core returns the CPU itself.
func Core(cpu int) int { return cpu }

// Confine is not possible.
func Confine(int, []int) error { return errNoCPUs }

func onCPUs(_ []int, start func() error) error { return start() }
