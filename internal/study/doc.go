// Package study asks a question over a grid of measurements, and lays what was
// measured beside what somebody published.
//
// A study is data: a file of YAML that names targets, workloads, tables whose
// cells are runs or searches for a peak, the figures that were published with
// their source, and claims: ratios between two cells that the published figures
// show. Four published comparisons are built in.
//
// It promises that a study's file is checked whole before anything starts; that
// every cell of every table stands in the report, also those that cannot be had
// here, with the reason; that a cell is an ordinary run directory or the folder
// of a search in the study's folder; that a study which was ended at any moment
// goes on without repeating a cell that is complete; and that one cluster serves
// all cells that it can. At a smaller scale than the published one it takes rates
// as shares of peaks measured here, and the report says every value that differs.
//
// Absolute figures are for orientation: they are of another machine. What is
// judged are ratios, and where the generator, the cores that all share or the
// scatter of a cell decided, it says that the machine forbids an answer. It has
// no statistics of its own: internal/verdict and internal/compare do.
//
// # Cells
//
// A cell's workload is made of layers: the study's workload, then the layer of the
// cell's place on each axis. At the smaller scales a rate is a share of a measured
// peak, so the cell's workload is known only after the peak. Resuming finds the same
// rate from the same peaks, and so the same cell. Ratios are judged by
// internal/compare and by the brackets of searches.
package study
