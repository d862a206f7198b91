// Package report shows results to people: one HTML page that works offline,
// Markdown, CSV, JSON, the Go benchmark format, a table for the terminal, and
// the live view of a run under way.
//
// It promises that each form says the warnings before the figures, that no
// form prints a figure the samples cannot support, and that a run without
// some of its data (stopped, crashed, never measured) is shown with a word on
// what is missing. The HTML page refers to nothing outside itself, and its size
// is bounded: time lines longer than a screen are thinned so that the least
// and the greatest value of each stretch are kept.
//
// What a run cost is shown only as far as it is known: a figure that one of the
// servers lacks is no figure of the system, and what servers inside plimsoll's
// own process spent is not divided between the two. Several runs are ranked by
// nothing: their settings come first, and runs that are not comparable, or that
// plimsoll itself limited, are marked as such.
//
// It measures nothing and judges nothing: verdicts and warnings are shown as
// the run carries them, and what else is to be judged, internal/verdict is asked.
package report
