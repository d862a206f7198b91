package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const (
	defaultWidth = 80 // of a terminal that does not tell
	labelWidth   = 12 // of the labels at the start of lines
	seriesWidth  = 20 // of the first column of the latency table
	figureWidth  = 10

	strong = document.StrongInk
	faint  = document.FaintInk
	bad    = document.RedInk
	accent = document.CyanInk
)

// maxHistory bounds the rates kept for the line of little bars.
const maxHistory = 200

// progress is the progress of a run. Only enter and add change it.
type progress struct {
	plan    Plan
	search  *picture // nil: the run is not part of a search
	phase   result.PhaseName
	began   int64 // the phase, in ns since the run started
	now     int64
	last    result.Interval
	any     bool // an interval has been added
	failed  int64
	warming string    // how far the warm-up before the run has come; empty: there is none now
	history []float64 // acknowledged per second, in each interval
}

func (s *progress) enter(phase result.PhaseName, at int64) {
	s.warming = ""
	if phase != s.phase {
		s.phase, s.began = phase, at
	}
}

func (s *progress) add(i result.Interval) {
	// The phase of the first interval was announced before the time of the run was known: the
	// steps before the load take part of that time.
	if i.Phase != "" && (i.Phase != s.phase || !s.any) {
		s.phase, s.began = i.Phase, i.StartNs
	}
	s.last, s.any, s.now = i, true, i.EndNs
	s.failed += i.Failed
	s.history = append(s.history, s.perSecond(i.Acked))
	if len(s.history) > maxHistory {
		s.history = s.history[1:]
	}
}

// perSecond is a count of the last interval as a rate.
func (s *progress) perSecond(n int64) float64 {
	ns := s.last.EndNs - s.last.StartNs
	if ns <= 0 {
		return 0
	}
	return float64(n) / (float64(ns) / 1e9)
}

func (s *progress) received() float64 {
	return s.perSecond(s.last.Received) / float64(max(s.plan.Subscriptions, 1))
}

// planned is the plan of the phase and the time that fixed phases, this one's
// rest included, have still to run.
func (s *progress) planned() (phase PlannedPhase, left int64) {
	current := func(p PlannedPhase) bool { return p.Name == s.phase }
	begun := !slices.ContainsFunc(s.plan.Phases, current) // before the first of them
	for _, p := range s.plan.Phases {
		ns := p.Ns
		if current(p) {
			phase, begun, ns = p, true, max(p.Ns-(s.now-s.began), 0)
		}
		if begun && !p.AtMost {
			left += ns
		}
	}
	return phase, left
}

// spans is a line of differently coloured texts.
type spans []span

type span struct{ code, text string }

func (l spans) columns() int {
	n := 0
	for _, s := range l {
		n += document.Columns(s.text)
	}
	return n
}

// fit cuts the line to a width.
func (l spans) fit(width int) spans {
	var out spans
	for _, s := range l {
		if n := document.Columns(s.text); n > width {
			return append(out, span{s.code, document.Cut(s.text, width)})
		}
		out, width = append(out, s), width-document.Columns(s.text)
	}
	return out
}

func (l spans) text(p document.Paint) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(p.As(s.code, s.text))
	}
	return b.String()
}

// panel is the view of a run on a terminal.
func (s *progress) panel(width int) []spans {
	var lines []spans
	if s.search != nil {
		lines = s.search.lines(width)
	}
	if s.search == nil || s.search.step.Rate > 0 {
		lines = append(lines, s.progressLine(width))
	}
	if s.any {
		lines = append(lines, s.throughputLines(width)...)
		lines = append(lines, s.latencyLines(width)...)
		lines = append(lines, s.stateLines(width)...)
	}
	for i := range lines {
		lines[i] = lines[i].fit(width)
	}
	return lines
}

// progressLine is a bar for the phase, and the time left.
func (s *progress) progressLine(width int) spans {
	phase, left := s.planned()
	name := string(s.phase)
	if name == "" {
		name = "starting"
	}
	if s.warming != "" {
		return spans{{strong, document.Pad("warm-up", labelWidth)}, {"", s.warming}}
	}
	in := s.now - s.began
	words := phrase.WholeSeconds(in)
	switch {
	case phase.AtMost && phase.Ns > 0:
		words += ", at most " + phrase.WholeSeconds(phase.Ns)
	case phase.Ns > 0:
		words += " of " + phrase.WholeSeconds(phase.Ns)
	}
	if left > 0 {
		words += ", " + phrase.WholeSeconds(left) + " left"
	}
	line := spans{{strong, document.Pad(name, labelWidth)}}
	if phase.Ns > 0 && !phase.AtMost {
		const words = 28 // room for the words
		size := min(width-labelWidth-words, 40)
		if size >= 8 {
			full := int(min(max(in, 0), phase.Ns) * int64(size) / phase.Ns)
			line = append(line, span{accent, strings.Repeat("━", full)},
				span{faint, strings.Repeat("─", size-full)}, span{"", "  "})
		}
	}
	return append(line, span{"", words})
}

// flow puts items on one line, or on several if they do not fit.
func flow(items spans, width int) []spans {
	const gap = "   "
	var out []spans
	for _, item := range items {
		last := len(out) - 1
		if last >= 0 &&
			out[last].columns()+document.Columns(gap)+document.Columns(item.text) <= width {
			out[last] = append(out[last], span{"", gap}, item)
			continue
		}
		out = append(out, spans{item})
	}
	return out
}

func (s *progress) throughputLines(width int) []spans {
	of := " of " + phrase.Rate(s.perSecond(s.last.Scheduled)) + " offered"
	if s.plan.Closed {
		of = " in a closed loop"
	}
	lines := flow(spans{
		{"", phrase.Rate(s.perSecond(s.last.Acked)) + of},
		{"", phrase.Rate(s.received()) + " received"},
	}, width-labelWidth)
	for i := range lines {
		label := ""
		if i == 0 {
			label = "throughput"
		}
		lines[i] = append(spans{{faint, document.Pad(label, labelWidth)}}, lines[i]...)
	}
	last := &lines[len(lines)-1]
	if room := width - last.columns() - 2; room >= 4 {
		*last = append(*last, span{"", "  "},
			span{accent, sparkline(s.history, s.plan.TargetRate, min(room, 30))})
	}
	return lines
}

// sparkline draws the last values as little bars, on a scale from zero to the
// greater of the target and the greatest of them.
func sparkline(values []float64, target float64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	top := slices.Max(slices.Concat(values, []float64{target}))
	if !phrase.Finite(top) || top <= 0 {
		return ""
	}
	return document.Sparkline(values, top)
}

// latencyLines is the table of latencies, closer together where there is
// little room.
func (s *progress) latencyLines(width int) []spans {
	first, column := seriesWidth, figureWidth
	if width < first+3*column {
		column = 9
		first = max(width-3*column, document.Columns("  end-to-end"))
	}
	head := document.Pad("latency", first)
	for _, c := range []string{"p50", "p99", "max"} {
		head += document.Pad(c, -column)
	}
	lines := []spans{{{faint, head}}}
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		l := latency.Of(s.last, series)
		lines = append(lines, spans{{"", document.Pad("  "+phrase.SeriesTitle(series), first) +
			document.Pad(latency.At(l, 50), -column) + document.Pad(latency.At(l, 99), -column) +
			document.Pad(latency.Greatest(l), -column)}})
	}
	return lines
}

// stateLines are the backlog, the failures, and plimsoll's own figures.
func (s *progress) stateLines(width int) []spans {
	failed := span{"", "failed 0"}
	if s.failed > 0 {
		failed = span{bad, "failed " + quantity.Count(s.failed)}
	}
	return flow(spans{
		{"", "backlog " + quantity.Count(s.last.Backlog)},
		{"", "in flight " + quantity.Count(s.last.InFlight)}, failed,
		{faint, "schedule lag p99 " + latency.At(latency.Of(s.last, result.Lag), 99)},
		{faint, s.cpu() + " cores"},
	}, width)
}

func (s *progress) cpu() string {
	ns := s.last.EndNs - s.last.StartNs
	if ns <= 0 {
		return document.None
	}
	return fmt.Sprintf("%.2g", s.last.CPUSeconds/(float64(ns)/1e9))
}

// sentence describes an interval where there is no terminal.
func (s *progress) sentence() string {
	_, left := s.planned()
	when := fmt.Sprintf("%s %s", s.phase, phrase.WholeSeconds(s.now-s.began))
	if left > 0 {
		when += ", " + phrase.WholeSeconds(left) + " left"
	}
	var parts []string
	if !s.plan.Closed {
		parts = append(parts, "offered "+phrase.Rate(s.perSecond(s.last.Scheduled)))
	}
	parts = append(parts, "acked "+phrase.Rate(s.perSecond(s.last.Acked)),
		"received "+phrase.Rate(s.received()))
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		l := latency.Of(s.last, series)
		parts = append(parts, fmt.Sprintf("%s p50 %s p99 %s max %s", phrase.SeriesTitle(series),
			latency.At(l, 50), latency.At(l, 99), latency.Greatest(l)))
	}
	parts = append(parts,
		"backlog "+quantity.Count(s.last.Backlog), "in flight "+quantity.Count(
			s.last.InFlight), "failed "+quantity.Count(s.failed),
		"schedule lag p99 "+latency.At(latency.Of(s.last, result.Lag), 99), s.cpu()+" cores")
	if s.plan.Name != "" {
		when = document.Clean(s.plan.Name) + ": " + when
	}
	return when + ": " + strings.Join(parts, ", ")
}

// picture is a search in progress; the step's rate is 0 between two trials.
type picture struct {
	saved *peak.Saved
	step  peak.Step
}

// lines draw the search: each trial with its rate as a bar on a logarithmic scale, the current
// trial last.
func (c *picture) lines(width int) []spans {
	s := c.saved
	number := len(s.Trials)
	if c.step.Rate > 0 {
		number++
	}
	head := fmt.Sprintf("%s: trial %d of at most %d, bracket %s", document.Clean(s.Name), number,
		s.Plan.Most(), trial.Bracket(s.Bracket))
	if w := s.Bracket.Width(); phrase.Finite(w) {
		head += fmt.Sprintf(" (%.1f%% wide, %.3g%% asked)", w*100, s.Plan.Tolerance*100)
	}
	least, most := chart.Bounds(chart.Usable(s))
	if c.step.Rate > 0 {
		least, most = min(least, c.step.Rate), max(most, c.step.Rate)
	}
	rows := [][]string{trial.Head}
	for i := range s.Trials {
		rows = append(rows, trial.Cells(&s.Trials[i]))
	}
	if c.step.Rate > 0 {
		now := make([]string, len(trial.Head))
		now[0], now[1], now[len(now)-1] = fmt.Sprintf("%d %s", number,
			trial.Kind(c.step.Kind, c.step.Long)), phrase.Rate(c.step.Rate), "now"
		rows = append(rows, now)
	}
	out := []spans{{{strong, head}}}
	for i, line := range columnsOf(rows) {
		code, of := faint, 0.0
		switch {
		case i > 0 && i <= len(s.Trials):
			_, tone := trial.Outcome(&s.Trials[i-1])
			code = tone.Ink()
			of = s.Trials[i-1].TargetRate
		case i > 0:
			code, of = accent, c.step.Rate
		}
		row := spans{{code, line}}
		if room := min(width-document.Columns(line)-2, 40); of > 0 && room >= 8 {
			full := 1 + int(math.Round(logPlace(of, least, most)*float64(room-1)))
			row = append(row, span{"", "  "}, span{code, strings.Repeat("━", full)})
		}
		out = append(out, row)
	}
	return append(out, spans{})
}

// columnsOf pads the cells of rows to columns: the first to the left, the rest
// to the right.
func columnsOf(rows [][]string) []string {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], document.Columns(c))
		}
	}
	out := make([]string, len(rows))
	for k, r := range rows {
		for i, c := range r {
			if i == 0 {
				out[k] += document.Pad(c, widths[i])
			} else {
				out[k] += "  " + document.Pad(c, -widths[i])
			}
		}
	}
	return out
}

// logPlace is the place of a rate between two others on a logarithmic scale, from 0 to 1.
func logPlace(rate, least, most float64) float64 {
	if !(rate > 0) || !(least > 0) || !(most > least) {
		return 1
	}
	return min(max(math.Log(rate/least)/math.Log(most/least), 0), 1)
}
