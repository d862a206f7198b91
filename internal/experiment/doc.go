// Package experiment is what a sweep, a study, a search for a peak and a verification have in
// common: a folder with an experiment's file and its runs, and the loop that measures one run
// after another.
//
// It promises that a folder appears whole or not at all; that the file is only replaced as a
// whole, so it can be read at any moment; and that one process holds a folder, by a lock that
// dies with the process. A Strategy says what to measure next, from what was measured before.
package experiment
