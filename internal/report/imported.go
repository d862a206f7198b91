package report

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A run that another tool measured has zeros for what that tool did not record.
// They mean unknown, and are shown as such.

// imported reports whether another tool measured the run.
func imported(r *result.Run) bool { return r.Imported != nil }

// unlessUnknown is the text of a figure, or none where it is zero because the
// tool that measured did not record it.
func unlessUnknown(r *result.Run, zero bool, text string) string {
	if zero && imported(r) {
		return none
	}
	return text
}

// accountLine says what became of acknowledged messages.
func accountLine(r *result.Run) string {
	if imported(r) {
		return "not accounted: " + clean(r.Imported.Tool) + " keeps no account of messages"
	}
	return accountSentence(r.Ledger)
}

// publishSeries is the series that says how long publishing took: other tools
// have the one that begins when a message is handed over.
func publishSeries(r *result.Run) result.Series {
	if imported(r) {
		return result.Send
	}
	return result.Publish
}

// sendFigures are rows for runs that have no publish latency, so that all of a
// comparison have something in common.
func sendFigures(runs []*result.Saved) []figure {
	if !slices.ContainsFunc(inner(runs), imported) {
		return nil
	}
	return latencyFigures(ofSend, result.Send)
}

// forImported leaves out of the charts of a run what another tool cannot have
// recorded.
func forImported(all []chart) []chart {
	all = slices.DeleteFunc(all, func(c chart) bool { return c.Kind == "self" || c.Kind == "cpu" })
	for i, c := range all {
		switch c.Kind {
		case "throughput":
			all[i].Note = "Each period: acknowledged, and received by all subscriptions together."
		case "backlog":
			all[i].Title, all[i].Note = "Backlog", "Backlog: acknowledged and not yet received."
		case "latency":
			all[i].Note = "From the moment each message was handed over, by the period in which " +
				"it ended."
		case "heat":
			all[i].Empty = "Only one distribution of the whole run was recorded, so there is " +
				"none over time."
		}
	}
	return all
}

// importedLines are the lines of a run over time that another tool measured:
// what it did not record has no value.
func importedLines(lines []line) []line {
	for i, l := range lines {
		if slices.Contains([]string{"offered", "in_flight", "cpu", "gc"}, l.name) {
			lines[i].value = func(result.Interval, float64) float64 { return math.NaN() }
		}
	}
	return append(lines, latencyLines(result.Send)...)
}

// importedTable says where figures come from that plimsoll did not measure, in
// place of what it says of itself.
func importedTable(r *result.Run) table {
	t := table{ID: "imported", Title: "Where this comes from", Head: []string{"source"},
		Words: true,
		Note: "Plimsoll did not measure this run. It made no schedule for it, kept no account " +
			"and asked no cluster."}
	for _, f := range []fact{{"measured by", r.Imported.Tool}, {"read from", r.Imported.File},
		{"read by plimsoll", r.Plimsoll.Version}} {
		t.Rows = append(t.Rows, row{Name: f.Name, Values: []string{clean(f.Value)}})
	}
	return t
}

// byAnother is the mark of a run that is not ranked because another tool
// measured it.
const byAnother = "measured by another tool"

// withoutPublish leaves the rows of publish latency out where no run has it.
func withoutPublish(runs []*result.Saved, all []figure) []figure {
	if slices.ContainsFunc(inner(runs), func(r *result.Run) bool { return !imported(r) }) {
		return all
	}
	return slices.DeleteFunc(all, func(f figure) bool { return f.section == ofPublish })
}
