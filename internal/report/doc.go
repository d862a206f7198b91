// Package report is the door to the reports on saved experiments: Read detects the kind of the
// experiments in directories and has the room of that kind make the report.
//
// The rooms are the packages below: runs, searches, sweeps, studies and verifications make one
// report each; overview, versus and known set runs side by side; chart and table have their
// parts; live shows what is under way. Words, numbers and rows that they share are in phrase, fact,
// latency, row, trial, part, poster and form. The package export has the formats of machines.
//
// All rooms promise that every format shows the warnings before the figures, that no format
// prints a figure the samples cannot support, and that a run without some of its data
// (stopped, crashed, never measured) is shown with a note on the missing data. A page
// refers to nothing outside itself, and its size is bounded.
//
// They measure nothing and judge nothing: they show the verdicts and warnings of a run, and ask
// internal/verdict for the rest.
package report
