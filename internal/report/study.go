package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// StudyResult is a study as far as it was run: the source of its reports.
type StudyResult struct {
	Study    *study.Study
	Plan     *study.Plan
	Measured []study.Measured // of the plan's cells
	Outcome  study.Outcome
}

// NewStudyResult sets the measured figures beside the published ones.
func NewStudyResult(s *study.Study, p *study.Plan, measured []study.Measured) (StudyResult, error) {
	outcome, err := study.Assess(s, p, measured)
	return StudyResult{s, p, measured, outcome}, err
}

// StudyFormats are the forms that a study can be written in.
func StudyFormats() []string { return []string{"table", "html", "md", "json"} }

// RenderStudy writes a study in the named format.
func RenderStudy(w io.Writer, format string, r StudyResult) error {
	switch format {
	case "table":
		return StudyTerminal(w, r, defaultWidth, false)
	case "html":
		return StudyHTML(w, r)
	case "md":
		return StudyMarkdown(w, []StudyResult{r})
	case "json":
		return StudyJSON(w, r)
	}
	if slices.Contains(Formats(), format) {
		return fmt.Errorf(
			"a study is written as table, html, md or json, not as %s: each of its cells is a "+
				"run directory that can be", format)
	}
	return errors.New(strict.Unknown("report format", format, StudyFormats()))
}

// StudyJSON writes the outcome of a study, for machines.
func StudyJSON(w io.Writer, r StudyResult) error {
	raw, err := json.MarshalIndent(struct {
		Name   string       `json:"name"`
		Title  string       `json:"title"`
		Source string       `json:"source"`
		Scale  string       `json:"scale"`
		Only   []string     `json:"only,omitempty"`
		Cells  []study.Cell `json:"cells"`
		study.Outcome
	}{r.Study.Name, r.Study.Title, r.Study.Source, r.Plan.Scale, r.Plan.Only, r.Plan.Cells,
		r.Outcome}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode a study as JSON: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// studySentence counts a study's cells by their state.
func studySentence(p *study.Plan) string {
	counts, absent := map[experiment.CellState]int{}, 0
	for _, c := range p.Cells {
		if c.Absent {
			absent++
		} else {
			counts[c.State]++
		}
	}
	out := fmt.Sprintf("%d of %s measured", counts[experiment.Done],
		plural(int64(len(p.Cells)), "cell", "cells"))
	for _, more := range []experiment.CellState{experiment.Failed, experiment.Running,
		experiment.Pending} {
		if counts[more] > 0 {
			out += fmt.Sprintf(", %d %s", counts[more], more)
		}
	}
	if absent > 0 {
		out += fmt.Sprintf(", %d not possible here or left out", absent)
	}
	return out
}

// studyNote limits the use of a study's figures.
const studyNote = "Their figures come from other machines, versions and years: compare ratios " +
	"and shapes, and read absolute figures for orientation only. " +
	"\"times\" is a figure divided by that of the first cell of its table that both have."

// studyColumns are the heads of a table behind its axes.
var studyColumns = []string{"level", "theirs", "ours", "theirs, times", "ours, times"}

// studyRow is a cell in words: its values, then the columns.
func studyRow(t study.TableOutcome, r study.Row) (labels, figures []string) {
	for _, l := range r.Labels {
		labels = append(labels, clean(l))
	}
	value := func(v float64) string {
		if v <= 0 {
			return none
		}
		return t.Unit.String(v)
	}
	lvl, theirs := none, value(r.Theirs)
	if r.Level > 0 {
		lvl = fmt.Sprint(r.Level)
	}
	if r.About {
		theirs = "~" + theirs
	}
	return labels, []string{lvl, theirs, value(r.Ours), study.Times(r.TheirsTimes),
		study.Times(r.OursTimes)}
}

// StudyTerminal writes a study for a terminal of the given width.
func StudyTerminal(w io.Writer, r StudyResult, width int, color bool) error {
	p := newPage(width, color)
	p.line(p.paint.as(strong, "study "+clean(r.Study.Name)+" at scale "+r.Plan.Scale) +
		p.paint.as(faint, "  "+moment(r.Plan.StartedAt)))
	p.said("measured", "", studySentence(r.Plan))
	p.said("question", "", r.Study.Question)
	p.said("theirs", "", r.Study.Source)
	p.said("note", "", studyNote)
	for _, t := range r.Outcome.Tables {
		p.studyTable(t)
	}
	p.studyClaims(r.Outcome.Claims)
	p.studyQualities(r.Outcome)
	for i, s := range r.Outcome.Scaled {
		if i == 0 {
			p.line("")
			p.line(p.paint.as(strong, "not the published size"))
		}
		p.said("", "", s)
	}
	_, err := w.Write(p.Bytes())
	return err
}

func (p *page) studyTable(t study.TableOutcome) {
	p.line("")
	p.line(p.paint.as(strong, clean(t.Table+": "+t.Title)) +
		p.paint.as(faint, "  "+clean(t.Figure)))
	const gap = 2
	heads := append(slices.Clone(t.Axes), studyColumns...)
	lines := [][]string{heads}
	for _, r := range t.Rows {
		labels, figures := studyRow(t, r)
		lines = append(lines, append(labels, figures...))
	}
	widths := make([]int, len(heads))
	for _, line := range lines {
		for k, text := range line {
			widths[k] = max(widths[k], columns(text)+gap)
		}
	}
	for i, line := range lines {
		out := ""
		for k, text := range line {
			if k < len(t.Axes) {
				out += pad(text, widths[k])
			} else {
				out += pad(text, -widths[k])
			}
		}
		if i == 0 {
			p.line(p.paint.as(faint, out))
			continue
		}
		mark := ""
		if t.Rows[i-1].Remark != "" {
			mark = "  *"
		}
		p.line(out + p.paint.as(warn, mark))
	}
	p.studyRemarks(t)
}

// studyRemarks writes the remarks on cells, equal ones once.
func (p *page) studyRemarks(t study.TableOutcome) {
	for _, s := range sharedRemarks(t) {
		p.said("*", warn, s)
	}
}

// sharedRemarks are the remarks of a table's cells, equal ones once with the number of cells.
func sharedRemarks(t study.TableOutcome) []string {
	var order []string
	cells := map[string][]string{}
	for _, r := range t.Rows {
		if r.Remark == "" {
			continue
		}
		if cells[r.Remark] == nil {
			order = append(order, r.Remark)
		}
		cells[r.Remark] = append(cells[r.Remark], r.At)
	}
	var out []string
	for _, remark := range order {
		where := cells[remark][0]
		switch n := len(cells[remark]); {
		case n == len(t.Rows) && n > 1:
			where = "every cell"
		case n > 1:
			where = fmt.Sprintf("%d cells, such as %s", n, where)
		}
		out = append(out, clean(where+": "+remark))
	}
	return out
}

// answerColor is the colour of an answer.
func answerColor(a study.Answer) string {
	switch a {
	case study.Agrees:
		return good
	case study.Differs:
		return bad
	}
	return warn
}

func (p *page) studyClaims(all []study.Judgement) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.line(p.paint.as(strong, "their claims, and whether our figures agree"))
	for _, j := range all {
		p.said(claimWord(j.Answer), answerColor(j.Answer),
			fmt.Sprintf("%s (%s): %s", clean(j.Says), j.Bound, clean(j.Sentence)))
	}
	p.said("", "", claimsSentence(all))
}

// claimWord is an answer in a word that fits beside sentences.
func claimWord(a study.Answer) string {
	if a == study.Forbidden {
		return "forbidden"
	}
	if a == study.NoAnswer {
		return "no answer"
	}
	return string(a)
}

// claimsSentence sums up the answers.
func claimsSentence(all []study.Judgement) string {
	counts := map[study.Answer]int{}
	for _, j := range all {
		counts[j.Answer]++
	}
	return fmt.Sprintf(
		"Of %s our figures agree with %d and differ from %d; the machine forbids an answer to %d, "+
			"and %d were not measured.",
		plural(int64(len(all)), "claim",
			"claims"), counts[study.Agrees], counts[study.Differs], counts[study.Forbidden],
		counts[study.NoAnswer])
}

func (p *page) studyQualities(o study.Outcome) {
	if len(o.Qualities) == 0 {
		return
	}
	p.line("")
	p.line(p.paint.as(strong, "capabilities of the systems"))
	names, widths := 0, make([]int, len(o.Columns))
	for _, q := range o.Qualities {
		names = max(names, columns(qualityName(q))+2)
	}
	head := pad("", names)
	for k, c := range o.Columns {
		widths[k] = max(columns(clean(c)), len(probe.Conditional)) + 2
		head += pad(clean(c), widths[k])
	}
	p.line(p.paint.as(faint, head))
	for _, q := range o.Qualities {
		line := pad(qualityName(q), names)
		for k, a := range q.Answers {
			line += pad(clean(a), widths[k])
		}
		p.line(line)
	}
}

// qualityName names the quality, and says when nothing tried it.
func qualityName(q study.QualityRow) string {
	if q.Probe == "" {
		return clean(q.Name) + ": nothing tries it"
	}
	return clean(q.Probe)
}
