//go:build !linux

package skew

// Evidence returns what the kernel says of this machine's clock in a sentence, or "" where
// it says nothing.
func Evidence() string { return "" }
