package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
)

// Probe announces a probe of a search. The picture of the search stands above the run's own
// panel; both replace those of the probe before.
func (l *Live) Probe(p Plan, s *peak.Saved, step peak.Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = progress{plan: p, search: &picture{s, step}}
	if l.terminal {
		l.repaint("")
		return
	}
	if !l.closed {
		l.write(fmt.Sprintf("%s: probe %d of at most %d: %s at %s\n", clean(s.Name),
			len(s.Probes)+1, s.Plan.MaxProbes,
			kindOf(step.Kind, step.Long), rate(step.Rate)))
	}
}

// Probed reports the outcome of the last probe. A terminal shows it in the picture, in place
// of the probe's own panel.
func (l *Live) Probed(s *peak.Saved) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(s.Probes) == 0 {
		return
	}
	if l.terminal {
		l.state = progress{search: &picture{saved: s}}
		l.repaint("")
		return
	}
	p := &s.Probes[len(s.Probes)-1]
	word, _ := outcomeOf(p)
	why := ""
	if c, broken := p.Verdict.Broken(); broken {
		why = ": " + clean(c.Sentence)
	}
	l.write(fmt.Sprintf("%s: %s was %s, %s achieved%s; bracket %s\n", clean(s.Name),
		rate(p.TargetRate), word, rate(p.AchievedRate), why, bracketOf(s.Bracket)))
}

// picture is a search in progress; the step's rate is 0 between two probes.
type picture struct {
	saved *peak.Saved
	step  peak.Step
}

// lines draw the search: each probe with its rate as a bar on a logarithmic scale, the current
// probe last.
func (c *picture) lines(width int) []spans {
	s := c.saved
	number := len(s.Probes)
	if c.step.Rate > 0 {
		number++
	}
	head := fmt.Sprintf("%s: probe %d of at most %d, bracket %s", clean(s.Name), number,
		s.Plan.MaxProbes, bracketOf(s.Bracket))
	if w := s.Bracket.Width(); finite(w) {
		head += fmt.Sprintf(" (%.1f%% wide, %.3g%% asked)", w*100, s.Plan.Tolerance*100)
	}
	least, most := bounds(usable(s))
	if c.step.Rate > 0 {
		least, most = min(least, c.step.Rate), max(most, c.step.Rate)
	}
	rows := [][]string{probeHead}
	for i := range s.Probes {
		rows = append(rows, probeCells(&s.Probes[i]))
	}
	if c.step.Rate > 0 {
		now := make([]string, len(probeHead))
		now[0], now[1], now[len(now)-1] = fmt.Sprintf("%d %s", number,
			kindOf(c.step.Kind, c.step.Long)), rate(c.step.Rate), "now"
		rows = append(rows, now)
	}
	out := []spans{{{strong, head}}}
	for i, line := range columnsOf(rows) {
		code, of := faint, 0.0
		switch {
		case i > 0 && i <= len(s.Probes):
			_, code = outcomeOf(&s.Probes[i-1])
			of = s.Probes[i-1].TargetRate
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
