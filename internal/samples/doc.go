// Package samples finds out what a workload keeps of a real system's messages: how large they are
// and how far a codec shrinks them. Their contents are read and forgotten.
package samples
