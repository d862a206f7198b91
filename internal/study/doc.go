// Package study answers a question with a grid of measurements and shows the results
// beside published figures.
//
// A study is data: a file of YAML that names targets, workloads, tables whose
// cells are runs or searches for a peak, the figures that were published with
// their source, and claims: ratios between two cells that the published figures
// show. Four published comparisons are built in.
//
// It promises that a study's file is checked as a whole before anything starts; that
// every cell of every table stands in the report, with a reason for each cell that
// cannot be measured here; that a cell is an ordinary run directory or the folder of a
// search; that a study which was stopped at any moment resumes without repeating a
// complete cell; and that cells share one cluster where they can. At a smaller scale
// than the published one, rates are shares of peaks measured here, and the report
// names every value that differs.
//
// Absolute figures are for orientation, because they are of another machine. Ratios
// are judged. A claim is not decided, with the reasons and with what would decide it, unless its
// cells had the published share of their peaks and the published range, kept up, and had one
// limit, and unless the scatter of the rounds leaves the ratio on one side of the bound. A claim is
// not measured when one of its cells was not. Verdicts and intervals are those of internal/verdict
// and internal/compare.
//
// A study with rounds measures each cell several times in random order. If it has neither published
// figures nor claims, systems at one level are ranked as far as the rounds distinguish them
// (Standing). equal-footing is such a study: every system, at each durability level that it has.
//
// A cluster of the user's can take the place of a target (Study.Replace). A cell that needs faults,
// or settings of servers that the cluster does not have, is then absent, with the reason.
//
// # Cells
//
// A cell's workload is made of layers: the study's workload, then the layer of the
// cell's place on each axis. At the smaller scales a rate is a share of a measured
// peak, so the cell's workload is known only after the peak. Resuming finds the same
// rate from the same peaks, and so the same cell. Ratios are judged by
// internal/compare and by the brackets of searches.
package study
