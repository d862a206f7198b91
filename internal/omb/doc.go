// Package omb reads and writes the files of the OpenMessaging Benchmark (OMB):
// its workloads and drivers become plimsoll's own, its results become run
// directories, and a run can be written as one of its results.
//
// It promises that every field of OMB's files, and of the forks that are
// known, is either translated, refused at its line with a sentence, or named
// in a note; what OMB means without saying it is a note as well. What OMB did
// not record stays unknown in an imported run, and how its drivers measure is
// told with the run (result.Import). No secret of a driver file reaches a target.
//
// What it knows of one system stands in that system's folder: a Translator's Dialect
// translates OMB's driver files for the system and says how OMB's driver measures.
//
// It starts nothing and judges nothing: internal/verdict calls what an imported
// run cannot show unknown. Which files are OMB's, cmd/plimsoll asks IsWorkload.
package omb
