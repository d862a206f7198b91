package live

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
)

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
