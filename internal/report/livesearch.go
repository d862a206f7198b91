package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Trial announces a trial of a search. The picture of the search stands above the run's own
// panel; both replace those of the trial before.
func (l *Live) Trial(p Plan, s *peak.Saved, step peak.Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = progress{plan: p, search: &picture{s, step}}
	if l.terminal {
		l.repaint("")
		return
	}
	if !l.closed {
		l.write(fmt.Sprintf("%s: trial %d of at most %d: %s at %s\n", clean(s.Name),
			len(s.Trials)+1, s.Plan.Most(),
			kindOf(step.Kind, step.Long), rate(step.Rate)))
	}
}

// TrialEnded reports the outcome of the last trial. A terminal shows it in the picture, in place
// of the trial's own panel.
func (l *Live) TrialEnded(s *peak.Saved) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(s.Trials) == 0 {
		return
	}
	if l.terminal {
		l.state = progress{search: &picture{saved: s}}
		l.repaint("")
		return
	}
	p := &s.Trials[len(s.Trials)-1]
	word, _ := outcomeOf(p)
	why := ""
	if c, broken := p.Verdict.Broken(); broken {
		why = ": " + clean(c.Sentence)
	}
	l.write(fmt.Sprintf("%s: %s was %s, %s achieved%s; bracket %s\n", clean(s.Name),
		rate(p.TargetRate), word, rate(p.AchievedRate), why, bracketOf(s.Bracket)))
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
	head := fmt.Sprintf("%s: trial %d of at most %d, bracket %s", clean(s.Name), number,
		s.Plan.Most(), bracketOf(s.Bracket))
	if w := s.Bracket.Width(); finite(w) {
		head += fmt.Sprintf(" (%.1f%% wide, %.3g%% asked)", w*100, s.Plan.Tolerance*100)
	}
	least, most := bounds(usable(s))
	if c.step.Rate > 0 {
		least, most = min(least, c.step.Rate), max(most, c.step.Rate)
	}
	rows := [][]string{trialHead}
	for i := range s.Trials {
		rows = append(rows, trialCells(&s.Trials[i]))
	}
	if c.step.Rate > 0 {
		now := make([]string, len(trialHead))
		now[0], now[1], now[len(now)-1] = fmt.Sprintf("%d %s", number,
			kindOf(c.step.Kind, c.step.Long)), rate(c.step.Rate), "now"
		rows = append(rows, now)
	}
	out := []spans{{{strong, head}}}
	for i, line := range columnsOf(rows) {
		code, of := faint, 0.0
		switch {
		case i > 0 && i <= len(s.Trials):
			_, tone := outcomeOf(&s.Trials[i-1])
			code = tone.Ink()
			of = s.Trials[i-1].TargetRate
		case i > 0:
			code, of = accent, c.step.Rate
		}
		row := spans{{code, line}}
		if room := min(width-columns(line)-2, 40); of > 0 && room >= 8 {
			full := 1 + int(math.Round(logPlace(of, least, most)*float64(room-1)))
			row = append(row, span{"", "  "}, span{code, strings.Repeat("━", full)})
		}
		out = append(out, row)
	}
	return append(out, spans{})
}

// trialHead is the head of a table of trials, and trialCells a row of it.
var trialHead = []string{"trial", "offered", "achieved", "publish p99", "e2e p99", "backlog",
	"verdict"}

func trialCells(p *peak.Trial) []string {
	word, _ := outcomeOf(p)
	return []string{fmt.Sprintf("%d %s", p.Number, kindOf(p.Kind, p.Long)), rate(p.TargetRate),
		rate(p.AchievedRate), at(p.Series(result.Publish), 99), at(p.Series(result.EndToEnd), 99),
		slopeOf(p.Verdict), word}
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
			widths[i] = max(widths[i], columns(c))
		}
	}
	out := make([]string, len(rows))
	for k, r := range rows {
		for i, c := range r {
			if i == 0 {
				out[k] += pad(c, widths[i])
			} else {
				out[k] += "  " + pad(c, -widths[i])
			}
		}
	}
	return out
}
