// Package omb reads and writes the files of the OpenMessaging Benchmark (OMB):
// its workloads and drivers become plimsoll's own, its results become run
// directories, and a run can be written as one of its results.
//
// It promises that every field of OMB's files, and of the known forks, is translated, refused
// at its line with a sentence, or named in a note. Values that OMB assumes without stating them
// are notes, too. A value that OMB did not record stays unknown in an imported run, and the run
// says how its driver measured (result.Import). No secret of a driver file reaches a target.
//
// A system's own part is in that system's folder: a Translator's Dialect translates OMB's
// driver files for the system and says how OMB's driver measures.
//
// A target of a driver file holds only settings that its system accepts together, at the level of
// the file: the others are left out with a note.
//
// It starts nothing and judges nothing: internal/verdict judges what the file of an imported run
// has, and marks what it lacks as unknown. Package command asks IsWorkload which files are OMB's.
package omb
