// Package folder keeps a folder of measurements: its plan, and the runs that the
// plan asks for.
//
// It promises that a folder appears whole or not at all; that its plan is only
// replaced as a whole, so it can be read at any moment; and that one process holds a
// folder, by a lock that dies with the process. The content of a plan belongs to its
// owner: internal/sweep and internal/study each have a plan of their own.
package folder
