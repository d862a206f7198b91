// Package experiment is the common part of sweeps, studies, searches for a peak and verifications:
// the cells of a grid, a folder with an experiment's file and its runs, and the loop that measures
// one run after another.
//
// It promises that a folder appears whole or not at all; that the file is only replaced as a
// whole, so it can be read at any moment; and that one process holds a folder, by a lock that
// dies with the process. A Strategy decides the next measurement from the results so far.
package experiment
