package report

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// A run that another tool measured has zeros for figures that the tool did not record. They
// are shown as unknown.

// imported reports whether another tool measured the run.
func imported(r *result.Run) bool { return r.Imported != nil }

// unlessUnknown is the text of a figure, or none where it is zero because the tool did not
// record it.
func unlessUnknown(r *result.Run, zero bool, text string) string {
	if zero && imported(r) {
		return none
	}
	return text
}

// unrecorded reports whether a figure is zero because the tool did not record it.
func unrecorded(r *result.Run, figure string, zero bool) bool {
	return zero && imported(r) && !r.Imported.Knows(figure)
}

// accountLine counts lost, duplicate and reordered messages, where the tool accounts for them.
func accountLine(r *result.Run) string {
	if imported(r) {
		return "not accounted: " + r.Imported.Tool + " keeps no account of messages"
	}
	return accountSentence(r.Ledger)
}

// publishSeries is the series of publishing: publish latency, or for other tools send latency,
// which starts when a message is handed over.
func publishSeries(r *result.Run) result.Series {
	if imported(r) {
		return result.Send
	}
	return result.Publish
}

// sendFigures are the rows of a comparison in which some runs have no publish latency.
func sendFigures(runs []*result.Saved) []figureRow {
	if !slices.ContainsFunc(inner(runs), imported) {
		return nil
	}
	return latencyFigures(ofSend, result.Send)
}

// importedTable names the source of figures that plimsoll did not measure. It takes the place
// of the table of plimsoll's own figures.
func importedTable(r *result.Run) document.Table {
	t := document.Table{ID: "imported", Title: "Source of this run", Head: heads("source"),
		Words: true,
		Note: "Plimsoll did not measure this run. It made no schedule for it, kept no account " +
			"and asked no cluster."}
	for _, f := range [][2]string{{"measured by", r.Imported.Tool},
		{"read from", r.Imported.File}, {"read by plimsoll", r.Plimsoll.Version}} {
		t.Add(f[0], f[1])
	}
	return t
}
