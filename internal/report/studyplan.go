package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// StudyPlan writes a study's question, its published figures, and the planned measurements,
// for a terminal of the given width.
func StudyPlan(w io.Writer, r StudyResult, width int, color bool) error {
	p := newPage(width, color)
	s := r.Study
	p.line(p.paint.as(strong, clean(s.Name+": "+s.Title)))
	p.said("question", "", s.Question)
	p.said("theirs", "", s.Source)
	for i, sentence := range s.Testbed {
		p.said(map[bool]string{true: "measured on"}[i == 0], "", sentence)
	}
	for i, sentence := range s.Missing {
		p.said(map[bool]string{true: "differs"}[i == 0], "", sentence)
	}
	for i := range s.Tables {
		p.plannedTable(&s.Tables[i], r)
	}
	for i, c := range s.Claims {
		if i == 0 {
			p.line("")
			p.line(p.paint.as(strong, "their claims, as ratios with which ours are compared"))
		}
		p.said("", "", fmt.Sprintf("%s (%s, %s to %s)", clean(c.Says), c.Figure, c.Of, c.To))
	}
	p.studyQualities(r.Outcome)
	for i, sentence := range r.Outcome.Scaled {
		if i == 0 {
			p.line("")
			p.line(p.paint.as(strong, "at scale "+r.Plan.Scale))
		}
		p.said("", "", sentence)
	}
	_, err := w.Write(p.Bytes())
	return err
}

// plannedTable writes the cells of a table: the published figure and the planned measurement.
func (p *page) plannedTable(t *study.Table, r StudyResult) {
	const gap = 2
	var lines [][]string
	for _, c := range r.Plan.Cells {
		if c.Table != t.Name {
			continue
		}
		line := t.Labels(c.At)
		for _, o := range r.Outcome.Tables {
			for _, row := range o.Rows {
				if o.Table == t.Name && row.At == c.At {
					_, figures := studyRow(o, row)
					line = append(line, figures[1])
				}
			}
		}
		lines = append(lines, append(line, plannedCell(c)))
	}
	if len(lines) == 0 {
		return
	}
	var heads []string
	for _, a := range t.Axes {
		heads = append(heads, a.Name)
	}
	heads = append(append(heads, t.Figures...), "here")
	widths := make([]int, len(heads))
	for _, line := range append([][]string{heads}, lines...) {
		for k, text := range line {
			widths[k] = max(widths[k], columns(clean(text))+gap)
		}
	}
	p.line("")
	p.line(p.paint.as(strong, clean(t.Name+": "+t.Title)) +
		p.paint.as(faint, "  theirs: "+clean(t.From)))
	for i, line := range append([][]string{heads}, lines...) {
		out := ""
		for k, text := range line {
			out += pad(clean(text), widths[k])
		}
		if i == 0 {
			out = p.paint.as(faint, out)
		}
		p.line(out)
	}
}

// plannedCell describes the planned measurement of a cell in a few words.
func plannedCell(c study.Cell) string {
	if c.Absent {
		return c.Why()
	}
	w, err := workload.Parse("the cell's workload", []byte(c.Workload))
	if err != nil {
		return none
	}
	parts := []string{string(c.Measure), level(int(w.Durability)),
		plural(int64(w.Partitions), "partition", "partitions")}
	if w.Subscriptions > 1 {
		parts = append(parts, plural(int64(w.Subscriptions), "subscription", "subscriptions"))
	}
	if w.Load.Closed != nil {
		parts = append(parts, plural(int64(w.Producers), "sender", "senders"),
			"batches of "+w.Load.Closed.Batch.String())
	}
	if c.Rate != "" {
		parts = append(parts, "rate "+c.Rate)
	}
	return strings.Join(slices.Clip(parts), ", ")
}
