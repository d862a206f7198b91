package report

import (
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"

	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

var (
	//go:embed assets/sweep.html.tmpl
	sweepTemplate string
	//go:embed assets/sweep.css
	sweepCSS string
)

var sweepHTML = template.Must(template.New("sweep").Parse(sweepTemplate))

// sweepDocument is the data of the template of a sweep's page.
type sweepDocument struct {
	Title, Policy         string
	Style                 template.CSS
	Script                template.JS
	Name, Sentence, Note  string
	Warnings              []string
	Panels                []panel
	Left                  string
	Keys, Heads           []string
	Rows                  []cellRow
	Command               string
	Width, Height         float64
	PlotLeft, PlotRight   float64
	PlotTop, PlotBottom   float64
	TickBelow, TitleBelow float64
}

// SweepHTML writes a sweep's page: small charts of rate and p99 over the varied settings, and
// a table of every cell with links to the cells' own reports. The drawing is in the page, so
// it needs no script. runs are as for SweepTable.
func SweepHTML(w io.Writer, plan *sweep.Plan, runs []*result.Saved) error {
	style := pageStyle() + sweepCSS
	panels, left := multiples(plan, runs)
	doc := sweepDocument{
		Title:  "sweep " + clean(plan.Name) + " · plimsoll",
		Policy: policy(style, themeJS),
		Style:  template.CSS(style), Script: template.JS(themeJS),
		Name: clean(plan.Name),
		Sentence: fmt.Sprintf("Varied: %s. %s, from %s.", varied(plan.Axes), sweepSentence(plan),
			moment(plan.StartedAt)),
		Note: sweepNote, Panels: panels, Left: panelsLeft(left), Rows: cellRows(plan, runs),
		Width: multipleWidth, Height: multipleHeight, PlotLeft: plotLeft,
		PlotRight: multipleWidth - plotRight,
		PlotTop:   plotTop, PlotBottom: multipleHeight - plotBottom,
		TickBelow: multipleHeight - plotBottom + 16, TitleBelow: multipleHeight - 6,
	}
	var shown []*result.Saved
	for _, s := range runs {
		if s != nil {
			shown = append(shown, s)
		}
	}
	doc.Warnings = append(doc.Warnings, sharedBy(shown)...)
	doc.Warnings = append(doc.Warnings, missingCells(plan, runs)...)
	for _, a := range plan.Axes {
		doc.Keys = append(doc.Keys, clean(a.Key))
	}
	for _, c := range cellColumns {
		doc.Heads = append(doc.Heads, c.title)
	}
	for _, word := range plan.Asked.Command {
		doc.Command += " " + clean(word)
	}
	return writePage(w, sweepHTML, doc)
}

// sharedBy are the kinds of warnings of runs, each with the number of runs: the sentences are
// in the runs' own reports.
func sharedBy(runs []*result.Saved) []string {
	var order []string
	first, count := map[string]string{}, map[string]int{}
	for _, s := range runs {
		seen := map[string]bool{}
		for _, w := range s.Run.Warnings {
			if seen[w.Code] {
				continue
			}
			seen[w.Code] = true
			if count[w.Code]++; count[w.Code] == 1 {
				order, first[w.Code] = append(order, w.Code), clean(w.Sentence)
			}
		}
	}
	var out []string
	for _, code := range order {
		text := first[code]
		switch n := count[code]; {
		case n < len(runs):
			text = fmt.Sprintf("in %d of %d cells, such as: %s", n, len(runs), text)
		case n > 1:
			text = "in every cell, such as: " + text
		}
		out = append(out, text)
	}
	return out
}
