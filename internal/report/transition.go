package report

import "github.com/plimsoll-bench/plimsoll/internal/document"

// doc is a table of the page of runs as a part of a document.
func (t table) doc() document.Table {
	out := document.Table{ID: t.ID, Title: t.Title, Note: t.Note, Head: heads(t.Head...),
		Words: t.Words, Runs: t.Runs, Empty: t.Empty}
	for i, mark := range t.Marks {
		if mark != "" {
			out.Head[i].Mark = "not ranked: " + mark
		}
	}
	for _, r := range t.Rows {
		row := document.Row{Section: r.Section, Name: r.Name, Values: values(r.Values...)}
		for i, bar := range r.Bars {
			row.Values[i].Bar = max(bar, 0)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
