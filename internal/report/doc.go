// Package report makes documents of saved experiments, and writes the formats of machines: CSV,
// JSON and the Go benchmark format. It also has the live view of a run in progress.
//
// Each kind of experiment has one function that describes it as a document.Document, which
// internal/document prints as a page, as Markdown and on a terminal. Read detects the kind of the
// experiments in directories.
//
// It promises that every format shows the warnings before the figures, that no format
// prints a figure the samples cannot support, and that a run without some of its data
// (stopped, crashed, never measured) is shown with a note on the missing data. The HTML
// page refers to nothing outside itself, and its size is bounded: time lines longer
// than a screen are thinned so that the smallest and the largest value of each stretch
// are kept.
//
// The cost of a run is shown only as far as it is known: a figure that one server lacks is left out
// for the whole system, and the resource use of servers inside plimsoll's own process is not
// divided between servers and plimsoll. Several runs are not ranked: their settings come first, and
// runs that are not comparable, or that plimsoll itself limited, are marked as such.
//
// It measures nothing and judges nothing: it shows the verdicts and warnings of the
// run, and asks internal/verdict for the rest.
package report
