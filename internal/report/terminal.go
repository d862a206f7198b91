package report

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	labelWidth  = 12 // of the labels at the start of lines
	seriesWidth = 20 // of the first column of the latency table
	figureWidth = 10
)

// terminalColumns are the percentiles of the latency table; the greatest
// value follows them.
var terminalColumns = []float64{50, 90, 99, 99.9, 99.99}

// page collects lines of text of a given width.
type page struct {
	bytes.Buffer
	width int
	paint paint
}

// newPage returns an empty page of 40 to 120 columns.
func newPage(width int, color bool) *page {
	return &page{width: min(max(width, 40), 120), paint: paint(color)}
}

// orDefault is a width, or defaultWidth where none is given.
func orDefault(width int) int {
	if width <= 0 {
		return defaultWidth
	}
	return width
}

// paint colours text by what it means, or leaves it alone.
type paint bool

// The meanings, as codes of the 16 colours of every terminal, which its user may have changed.
const (
	strong = "1"
	faint  = "2"
	bad    = "31"
	good   = "32"
	warn   = "33"
	accent = "36"
)

func (p paint) as(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// line writes text without spaces at its end.
func (p *page) line(s string) { p.WriteString(strings.TrimRight(s, " ") + "\n") }

// said writes a label and a sentence beside it, wrapped.
func (p *page) said(label, code, sentence string) {
	for i, l := range wrap(sentence, p.width-labelWidth) {
		if i > 0 {
			label = ""
		}
		p.line(p.paint.as(faint, pad(label, labelWidth)) + p.paint.as(code, l))
	}
}

// Terminal writes tables for a terminal of the given width; of at least 80
// columns is best. The warnings of a run come before its figures. Five runs and more
// are one table, without a section for each.
func Terminal(w io.Writer, runs []*result.Saved, width int, color bool) error {
	p := newPage(orDefault(width), color)
	if len(runs) == 0 {
		p.line("no runs")
	}
	if len(runs) >= manyRuns {
		p.overview(runs)
		p.prices(runs)
		_, err := w.Write(p.Bytes())
		return err
	}
	if len(runs) > 1 {
		p.comparison(runs)
	}
	for i, name := range names(runs) {
		if i > 0 || len(runs) > 1 {
			p.line("")
		}
		p.run(name, runs[i])
	}
	_, err := w.Write(p.Bytes())
	return err
}

// prices writes the prices of runs that have no section of their own.
func (p *page) prices(runs []*result.Saved) {
	for i, name := range names(runs) {
		if sentence := price.Sentence(runs[i].Price); sentence != "" {
			p.said("price", "", name+": "+sentence)
		}
	}
}

func (p *page) run(name string, s *result.Saved) {
	r := &s.Run
	when := "  " + moment(r.StartedAt) + "  " + stateWord(r)
	p.line(p.paint.as(strong, cut(name, max(p.width-columns(when), 10))) + p.paint.as(faint, when))
	for _, l := range wrap(loadSentence(r), p.width) {
		p.line(l)
	}
	p.line("")
	if ws := warnings(s); len(ws) > 0 {
		for _, warning := range ws {
			p.said("warning", warn, warning)
		}
		p.line("")
	}
	p.said("throughput", "", throughputSentence(r))
	p.backlog(r.Backlog)
	sure := newWithin(s)
	p.latency(r, sure)
	p.measuredBy(r)
	if minutes := minuteSentence(r.Summary.Minutes); minutes != "" {
		p.said("p95", "", minutes)
	}
	if sentence := sure.sentence(); sentence != "" {
		p.said("intervals", "", sentence)
	}
	p.faults(r)
	p.account(r)
	p.said("durability", "", durabilityWords(r))
	for _, cost := range []struct{ label, sentence string }{
		{"start-up", startupSentence(r)}, {"cost", costSentence(r)},
		{"price", price.Sentence(s.Price)}, {"limit", limitSentence(r)},
		{"bill", billSentence(r.Bill)},
	} {
		if cost.sentence != "" {
			p.said(cost.label, "", cost.sentence)
		}
	}
	p.verdicts(r.Verdicts)
}

// latency writes the table of latencies.
func (p *page) latency(r *result.Run, sure within) {
	s := r.Summary
	if !slices.ContainsFunc(s.Latency, counted) {
		p.said("latency", "", "no message was measured")
		return
	}
	width, shown := figureWidth, terminalColumns
	for _, l := range s.Latency {
		for _, c := range terminalColumns {
			width = max(width, columns(at(l, c))+1)
		}
		width = max(width, columns(greatest(l))+1)
	}
	for len(shown) > 1 && seriesWidth+width*(len(shown)+1) > p.width {
		shown = shown[:len(shown)-1]
	}
	head := pad("", seriesWidth)
	for _, c := range shown {
		head += pad(percentileName(c), -width)
	}
	p.line("")
	p.line(p.paint.as(faint, cut(ofArrivals("latency", r.Load), p.width)))
	p.line(p.paint.as(faint, head+pad("max", -width)))
	for _, w := range seriesWords {
		l := s.Series(w.series)
		if !counted(l) && !slices.Contains(result.AllSeries, w.series) {
			continue
		}
		line := pad("  "+w.title, seriesWidth)
		for _, c := range shown {
			line += pad(at(l, c), -width)
		}
		p.line(line + pad(greatest(l), -width))
		if span, ok := sure.of(w.series, 99); ok && slices.Contains(shown, 99) {
			edge := width * (slices.Index(shown, 99) + 1)
			line := pad("    95% interval", seriesWidth) + pad(span.String(), -edge)
			p.line(p.paint.as(faint, line))
		}
	}
	p.line("")
}

// measuredBy writes what a reader must know of the table of latencies: whose
// messages are in it without a latency, and what plimsoll's own error was.
func (p *page) measuredBy(r *result.Run) {
	label := "missing"
	for _, sentence := range missingSentences(r.Summary) {
		p.said(label, warn, sentence)
		label = ""
	}
	for _, more := range []struct{ label, sentence string }{
		{"answered", answeredSentence(r.Summary)},
		{"instrument", instrumentSentence(r.Summary)},
		{"proved", proofSentence(r.Environment.Proof)}, {"format", lacksSentence(r)},
	} {
		if more.sentence != "" {
			p.said(more.label, "", more.sentence)
		}
	}
}

// account writes what became of the messages.
func (p *page) account(r *result.Run) {
	t, code := total(r.Ledger), ""
	if r.Ledger.Accounted && t.Lost+t.Corrupt > 0 {
		code = bad
	}
	p.said("account", code, accountLine(r))
	if bound := boundSentence(r); bound != "" {
		p.said("", "", bound)
	}
	if !imported(r) {
		p.said("", "", countersSentence(r.Counters))
	}
	for _, e := range errorSentences(r.Errors) {
		p.said("error", bad, e)
	}
}

func (p *page) verdicts(verdicts []result.Verdict) {
	label := "verdicts"
	for _, v := range verdicts {
		code := map[string]string{result.Holds: good, result.Broken: bad}[v.Outcome]
		const outcomeWidth = 9
		for i, l := range wrap(verdictName(v)+": "+clean(v.Sentence),
			p.width-labelWidth-outcomeWidth) {
			outcome := ""
			if i == 0 {
				outcome = outcomeWord(v)
			}
			p.line(p.paint.as(faint, pad(label, labelWidth)) +
				p.paint.as(code, pad(outcome, outcomeWidth)) + l)
			label = ""
		}
	}
}

// comparison writes the settings that differ between runs, then their figures, a run per line,
// so that any number of runs fits.
func (p *page) comparison(runs []*result.Saved) {
	p.line(p.paint.as(strong, plural(int64(len(runs)), "run", "runs")+" side by side"))
	p.line("")
	all := names(runs)
	for _, w := range incomparable(runs) {
		p.said("warning", bad, w)
	}
	ws := append(exceptions(runs), sharedWarnings(runs)...)
	for _, w := range ws {
		p.said("warning", warn, w)
	}
	if len(ws) > 0 || len(incomparable(runs)) > 0 {
		p.line("")
	}
	if rows := differing(runs); len(rows) > 0 {
		p.line(p.paint.as(faint, "what differs"))
		for _, r := range rows {
			p.differs(r, all)
		}
		p.line("")
	}
	p.sideBySide(runs, all)
}

// differs writes a setting and each run's value of it.
func (p *page) differs(r row, all []string) {
	labels, runs := p.width*3/10, p.width/4
	label := cut("  "+r.Name, labels-2)
	for i, v := range r.Values {
		run := cut(all[i], runs-2)
		for _, l := range wrap(v, p.width-labels-runs) {
			p.line(pad(label, labels) + pad(run, runs) + l)
			label, run = "", ""
		}
	}
}

// column is a column of a table of runs: its head and the name of its figure.
type column struct{ title, figure string }

// The tables of runs, for wide and for narrow terminals. Figures that do not fit are in each
// run's own section.
var (
	wideColumns = []column{
		{"acked", "acknowledged"}, {"pub p50", "publish p50"}, {"pub p99", "publish p99"},
		{"pub p99.9", "publish p99.9"},
		{"e2e p50", "end-to-end p50"}, {"e2e p99", "end-to-end p99"}, {"lost", "lost"},
		{"duplicate", "duplicate"},
		{"offered", "offered"}, {"warnings", "warnings"},
	}
	narrowColumns = []column{
		{"acked", "acknowledged"}, {"pub p99", "publish p99"}, {"e2e p99", "end-to-end p99"},
		{"lost", "lost"}, {"offered", "offered"}, {"warnings", "warnings"},
	}
	// importedColumns are those of runs that other tools measured.
	importedColumns = []column{
		{"acked", "acknowledged"}, {"bytes", "acknowledged bytes"},
		{"send p99", "send (uncorrected) p99"},
		{"e2e p50", "end-to-end p50"}, {"e2e p99", "end-to-end p99"},
		{"e2e p99.9", "end-to-end p99.9"}, {"e2e max", "end-to-end max"},
	}
	costColumns = []column{
		{"servers", rowServerCPU}, {"plimsoll", rowOwnCPU}, {"both", rowAllCPU},
		{"fsyncs", rowSyncsMessage},
		{"written", rowAmplification}, {"limiting", rowLimiting},
	}
)

// sideBySide writes the most important figures.
func (p *page) sideBySide(runs []*result.Saved, all []string) {
	values := map[string][]string{}
	for _, r := range figureRows(runs) {
		values[r.Name] = r.Values
	}
	columns := wideColumns
	if nameWidth+len(columns)*figureWidth > p.width {
		columns = narrowColumns
	}
	if !slices.ContainsFunc(inner(runs), func(r *result.Run) bool { return !imported(r) }) {
		columns = importedColumns
	}
	p.runTable("", columns, all, func(figure string, i int) string {
		// The share of the offered rate has no room here.
		v, _, _ := strings.Cut(values[figure][i], " (")
		return v
	})
	if sentence := instrumentsSentence(runs); sentence != "" {
		p.line("")
		p.said("instrument", "", sentence)
	}
	if values[rowLimiting] != nil {
		p.line("")
		p.runTable("cost per message", costColumns, all, func(figure string, i int) string {
			if values[figure] == nil {
				return none
			}
			v, _, _ := strings.Cut(values[figure][i], ",")
			switch {
			case v == insidePlimsoll:
				return none // the figure of both together has it
			case figure == rowAmplification && v != none:
				return v + "x"
			}
			return v
		})
	}
	for i, mark := range marks(runs) {
		if mark != "" && mark != byAnother { // a warning says that
			p.line("")
			p.said("not ranked", bad, all[i]+" is "+mark)
		}
	}
}

// nameWidth is the least width of the first column of a table of runs.
const nameWidth = 20

// runTable writes a table with one run per line.
func (p *page) runTable(corner string, columns []column, all []string,
	value func(figure string, i int) string) {
	width := figureWidth
	for i := range all {
		unreached := func(c column) bool { return value(c.figure, i) == notReached }
		if slices.ContainsFunc(columns, unreached) {
			width = len(notReached) + 1
		}
	}
	for len(columns) > 1 && nameWidth+len(columns)*width > p.width {
		columns = columns[:len(columns)-1]
	}
	first := p.width - len(columns)*width
	head := pad(corner, first)
	for _, c := range columns {
		head += pad(c.title, -width)
	}
	p.line(p.paint.as(faint, head))
	for i := range all {
		line := pad(cut(all[i], first-1), first)
		for _, c := range columns {
			line += pad(cut(value(c.figure, i), width-1), -width)
		}
		p.line(line)
	}
}
