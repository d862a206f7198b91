package report

import (
	"math"
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

// unlessRecorded is the text of a figure, or none where it is zero because the tool did not record
// it. A zero that the tool did record is shown.
func unlessRecorded(r *result.Run, figure string, zero bool, text string) string {
	return unlessUnknown(r, zero && (!imported(r) || !r.Imported.Knows(figure)), text)
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

// forImported removes from the charts of a run the lines that another tool cannot have
// recorded.
func forImported(r *result.Run, all []*document.Chart) []*document.Chart {
	all = slices.DeleteFunc(all, func(c *document.Chart) bool {
		return c.ID == "self" || c.ID == "cpu" ||
			c.ID == "backlog" && unlessRecorded(r, result.RecordedBacklog,
				r.Summary.MaxBacklog == 0, c.ID) == none
	})
	for _, c := range all {
		switch c.ID {
		case "throughput":
			c.Note = "Each period: acknowledged, and received by all subscriptions together."
		case "backlog":
			c.Title, c.Note = "Backlog", "Backlog: acknowledged and not yet received."
		case "latency":
			c.Note = "From the moment each message was handed over, by the period in which " +
				"it ended."
		case "heat":
			c.Empty = "The tool recorded only one distribution of the whole run, so there " +
				"is nothing to show over time."
		}
	}
	return all
}

// importedLines are the lines over time of a run that another tool measured, without the
// figures that it did not record.
func importedLines(r *result.Run, lines []line) []line {
	unknown := []string{"offered", "in_flight", "cpu", "gc"}
	for figure, zero := range map[string]bool{
		result.RecordedReceived: r.Summary.ReceivedRate == 0,
		result.RecordedBacklog:  r.Summary.MaxBacklog == 0,
	} {
		if unlessRecorded(r, figure, zero, figure) == none {
			unknown = append(unknown, figure)
		}
	}
	for i, l := range lines {
		if slices.Contains(unknown, l.name) {
			lines[i].value = func(result.Interval, float64) float64 { return math.NaN() }
		}
	}
	return append(lines, latencyLines(result.Send)...)
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

// withoutPublish removes the rows of publish latency when no run has it.
func withoutPublish(runs []*result.Saved, all []figureRow) []figureRow {
	if slices.ContainsFunc(inner(runs), func(r *result.Run) bool { return !imported(r) }) {
		return all
	}
	return slices.DeleteFunc(all, func(f figureRow) bool { return f.section == ofPublish })
}
