//go:build !linux

package fault

// still cannot be told here.
func still(int) bool { return true }
