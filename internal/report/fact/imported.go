package fact

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// A run that another tool measured has zeros for figures that the tool did not record. They
// are shown as unknown.

// Imported reports whether another tool measured the run.
func Imported(r *result.Run) bool { return r.Imported != nil }

// UnlessUnknown is the text of a figure, or none where it is zero because the tool did not
// record it.
func UnlessUnknown(r *result.Run, zero bool, text string) string {
	if zero && Imported(r) {
		return document.None
	}
	return text
}

// Unrecorded reports whether a figure is zero because the tool did not record it.
func Unrecorded(r *result.Run, figure string, zero bool) bool {
	return zero && Imported(r) && !r.Imported.Knows(figure)
}

// PublishSeries is the series of publishing: publish latency, or for other tools send latency,
// which starts when a message is handed over.
func PublishSeries(r *result.Run) result.Series {
	if Imported(r) {
		return result.Send
	}
	return result.Publish
}
