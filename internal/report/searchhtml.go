package report

import (
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

var (
	//go:embed assets/peak.html.tmpl
	peakTemplate string
	//go:embed assets/peak.css
	peakCSS string
)

// This page shares its parts with the page of runs.
var peakHTML = template.Must(template.Must(pageHTML.Clone()).New("peak").Parse(peakTemplate))

// searchDocument is the data of the page's template.
type searchDocument struct {
	Title, Policy string
	Style         template.CSS
	Script        template.JS
	Together      *table
	Searches      []searchView
}

// searchView is a search in words and figures, as the page shows it.
type searchView struct {
	Index    int
	Name     string
	Sentence string
	Meta     []string
	Warnings []string
	Cards    []card
	Reasons  []fact
	Achieved drawing
	Others   []drawing
	Latency  drawing
	Trials   table
	Evidence []evidenceView
	Durable  string
	Asked    []fact
}

// drawing is a picture with its words.
type drawing struct {
	Title, Note, Label string
	Drawing            template.HTML
}

// evidenceView is the evidence by which one trial was judged.
type evidenceView struct {
	Title   string
	Clauses []verdictView
}

// SearchHTML writes one page on searches for a peak. Like that of runs it works
// offline.
func SearchHTML(w io.Writer, searches []*peak.Saved) error {
	style, script := pageStyle()+peakCSS, themeJS
	doc := searchDocument{
		Title:  "peak stable throughput · plimsoll",
		Policy: policy(style, script),
		Style:  template.CSS(style), Script: template.JS(script),
	}
	if len(searches) > 1 {
		doc.Together = togetherTable(searches)
	}
	for i, s := range searches {
		doc.Searches = append(doc.Searches, newSearchView(i, s))
	}
	return writePage(w, peakHTML, doc)
}

func togetherTable(searches []*peak.Saved) *table {
	t := &table{ID: "peaks", Title: "Peaks",
		Head: []string{"stable", "confirmed", "unstable", "width", "limited by"},
		Note: "The targets were searched one after the other, with the same workload. They are " +
			"not ranked."}
	for _, s := range searches {
		b := s.Bracket
		values := []string{none, fmt.Sprintf("%d of %d", b.Confirmed, s.Plan.Confirmations), none,
			widthOf(b), sideOf(s)}
		if b.StableRate > 0 {
			values[0] = rate(b.StableRate)
		}
		if b.UnstableRate > 0 {
			values[2] = rate(b.UnstableRate)
		}
		t.Rows = append(t.Rows, row{Name: clean(s.Name), Values: values})
	}
	return t
}

func newSearchView(i int, s *peak.Saved) searchView {
	v := searchView{
		Index: i, Name: clean(s.Name), Sentence: clean(s.Sentence()) +
			".", Warnings: searchWarnings(s), Cards: searchCards(s),
		Meta:     []string{moment(s.StartedAt), string(s.State), askedOf(s)},
		Achieved: hockeyStick(s), Others: []drawing{closeFigure(s),
			slopeFigure(s)}, Latency: latencyFigure(s), Trials: trialsTable(s),
		Durable: durabilitySentence(s.Durability),
	}
	if s.Reason != "" {
		v.Reasons = append(v.Reasons, fact{"Reason", clean(s.Reason)})
	}
	if sentence := sideSentence(s); sentence != "" {
		v.Reasons = append(v.Reasons, fact{"Limited by", sentence})
	}
	for i := range s.Trials {
		p := &s.Trials[i]
		word, _ := outcomeOf(p)
		e := evidenceView{Title: fmt.Sprintf("Trial %d, %s at %s: %s (%s)", p.Number,
			kindOf(p.Kind, p.Long), rate(p.TargetRate), word, clean(p.Dir))}
		for _, c := range p.Verdict.Clauses {
			mark := map[string]string{result.Holds: "✓", result.Broken: "✗"}[c.Outcome]
			e.Clauses = append(e.Clauses, verdictView{Mark: orNone(mark), Outcome: clean(c.Outcome),
				Name: clean(c.Name), Sentence: clean(c.Sentence)})
		}
		v.Evidence = append(v.Evidence, e)
	}
	for _, f := range []fact{{"Workload", s.Asked.Workload}, {"Target", s.Asked.Target}} {
		if f.Value != "" {
			v.Asked = append(v.Asked, f)
		}
	}
	return v
}

func searchCards(s *peak.Saved) []card {
	b := s.Bracket
	stable := card{Label: "Highest stable rate", Number: none,
		Details: []fact{{"confirmed", fmt.Sprintf("%d of %d", b.Confirmed, s.Plan.Confirmations)}}}
	if b.StableRate > 0 {
		stable.Number = rate(b.StableRate)
		stable.Details = append(stable.Details,
			fact{"payload", bytesPerSecond(b.StableRate * float64(s.Load.MessageBytes))})
	}
	stable.Bad = b.StableRate == 0
	unstable := card{Label: "Lowest unstable rate", Number: none,
		Details: []fact{{"above", widthOf(b)},
			{"asked", fmt.Sprintf("%.3g%%", s.Plan.Tolerance*100)}}}
	if b.UnstableRate > 0 {
		unstable.Number = rate(b.UnstableRate)
	}
	side := card{Label: "Limited by", Number: none, Word: true}
	if s.Side != nil {
		side.Number, side.Bad = clean(s.Side.Name), s.Side.Name == verdict.SideGenerator
		if s.Side.Resource != "" {
			side.Details = []fact{{"resource", clean(s.Side.Resource)}}
		}
	}
	long := 0
	for _, p := range s.Trials {
		if p.Long {
			long++
		}
	}
	trials := card{Label: "Trials", Number: fmt.Sprint(len(s.Trials)),
		Details: []fact{{"at most", fmt.Sprint(s.Plan.Most())},
			{"confirmations", fmt.Sprint(long)}}}
	return []card{stable, unstable, side, trials}
}

func trialsTable(s *peak.Saved) table {
	t := table{ID: "trials", Title: "Trials",
		Head: append(append([]string{}, trialHead[1:6]...), "95% interval",
			"verdict"), Empty: "No trial was made.",
		Note: "Backlog: the growth of the number of messages due and not yet arrived: waiting to " +
			"be handed over, in flight, or not yet received."}
	for i := range s.Trials {
		p := &s.Trials[i]
		cells := trialCells(p)
		interval := none
		if p.Verdict.Sloped {
			interval = signed(p.Verdict.SlopeLow) + " to " + signed(p.Verdict.SlopeHigh)
		}
		t.Rows = append(t.Rows, row{Name: cells[0],
			Values: append(append([]string{}, cells[1:6]...), interval, cells[6])})
	}
	if missing := missingTrials(s); len(missing) > 0 {
		t.Note += " Without a latency: " + strings.Join(missing, "; ") + "."
	}
	return t
}
