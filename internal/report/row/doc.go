// Package row has the rows and columns of tables that set runs side by side: every figure of a run,
// the settings and circumstances in which runs differ, and those that they share.
//
// It promises that a figure has a bar only among runs that may be ranked by it, and that a figure
// which no run has, has no row.
package row
