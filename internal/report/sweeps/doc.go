// Package sweeps makes the report on a sweep: the cells of its grid in a table, charts of their
// figures over an axis, and the reasons of cells that have none.
//
// The grid and its cells are in internal/sweep.
package sweeps
