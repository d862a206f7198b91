//go:build !linux

package bench

// fileSystem names the file system of a folder. On this operating system it is unknown.
func fileSystem(string) string { return "" }
