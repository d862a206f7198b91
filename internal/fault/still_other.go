//go:build !linux

package fault

// familyOf is not known here.
func familyOf([]int) []string { return nil }

// still cannot be told here.
func still(string) bool { return true }
