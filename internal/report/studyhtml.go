package report

import (
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"

	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/result"
)

var (
	//go:embed assets/study.html.tmpl
	studyTemplate string
	//go:embed assets/study.css
	studyCSS string
)

var studyHTML = template.Must(template.New("study").Parse(studyTemplate))

// studyDocument is the data of the template of a study's page.
type studyDocument struct {
	Title, Policy          string
	Style                  template.CSS
	Script                 template.JS
	Study                  *study.Study
	Name, Sentence, Note   string
	Summary                string
	Claims                 []claimView
	Heads, Columns, Scaled []string
	Tables                 []studyTableView
	Qualities              []study.QualityRow
	Command                string
}

type claimView struct{ Says, Bound, Answer, Class, Sentence string }

type studyTableView struct {
	Table, Title, Figure, From string
	Axes                       []string
	Rows                       []studyRowView
}

type studyRowView struct {
	Labels, Figures      []string
	Theirs, Ours, Remark string
	TheirsWide, OursWide string
	Link                 string
}

// barWide is the length of the longest bar of a table.
const barWide = 120

// StudyHTML writes a study's page: its claims, and every table with the published figures beside
// ours. The bars are in the page, so it needs no script.
func StudyHTML(w io.Writer, r StudyResult) error {
	style := pageStyle() + sweepCSS + studyCSS
	doc := studyDocument{
		Title:  "study " + clean(r.Study.Name) + " · plimsoll",
		Policy: policy(style, themeJS),
		Style:  template.CSS(style), Script: template.JS(themeJS), Study: r.Study, Name: clean(
			r.Study.Name),
		Sentence: fmt.Sprintf("Scale %s: %s, from %s.", r.Plan.Scale, studySentence(r.Plan),
			moment(r.Plan.StartedAt)),
		Note: studyNote, Summary: claimsSentence(r.Outcome.Claims), Heads: studyColumns,
		Columns: r.Outcome.Columns, Qualities: r.Outcome.Qualities, Scaled: r.Outcome.Scaled,
	}
	for _, j := range r.Outcome.Claims {
		class := "open"
		if j.Answer == study.Agrees || j.Answer == study.Differs {
			class = string(j.Answer)
		}
		doc.Claims = append(doc.Claims,
			claimView{clean(j.Says), j.Bound, string(j.Answer), class, clean(j.Sentence)})
	}
	for _, t := range r.Outcome.Tables {
		doc.Tables = append(doc.Tables, studyTableOf(t))
	}
	var words []string
	for _, word := range r.Plan.Asked.Command {
		words = append(words, clean(word))
	}
	doc.Command = commandLine(words)
	return writePage(w, studyHTML, doc)
}

func studyTableOf(t study.TableOutcome) studyTableView {
	view := studyTableView{Table: t.Table, Title: t.Title, Figure: t.Figure, From: t.From,
		Axes: t.Axes}
	theirs, ours := 0.0, 0.0
	for _, r := range t.Rows {
		theirs, ours = max(theirs, r.Theirs), max(ours, r.Ours)
	}
	wide := func(value, most float64) string {
		if value <= 0 || most <= 0 {
			return "0"
		}
		return fmt.Sprintf("%.1f", max(value/most*barWide, 1))
	}
	for _, r := range t.Rows {
		labels, figures := studyRow(t, r)
		row := studyRowView{Labels: labels, Figures: figures, Theirs: figures[1], Ours: figures[2],
			Remark:     clean(r.Remark),
			TheirsWide: wide(r.Theirs, theirs), OursWide: wide(r.Ours, ours)}
		if r.Run != "" {
			row.Link = r.Run + "/" + result.ReportFile
		}
		view.Rows = append(view.Rows, row)
	}
	return view
}
