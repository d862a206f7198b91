package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// scaled returns a sentence for each value of a plan that differs from the published one.
func (s *Study) scaled(p *Plan, measured []Measured) []string {
	scale, err := s.Scale(p.Scale)
	if err != nil || scale.Published {
		return nil
	}
	out := []string{fmt.Sprintf("a run measures for %s after %s of warm-up",
		asMade(scale.Window, measured, Measured.windowSeconds), scale.Warmup)}
	if slices.ContainsFunc(p.Cells, func(c Cell) bool { return c.Measure == MeasurePeak }) {
		out[0] += fmt.Sprintf("; a search takes at most %s, its windows are %s and its bracket "+
			"may be %s wide", asMade(scale.Search, measured, Measured.searchSeconds),
			scale.Trial, quantity.ExactShare(scale.Tolerance))
	}
	say := func(sentence string) {
		if !slices.Contains(out, sentence) {
			out = append(out, sentence)
		}
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		if !slices.ContainsFunc(p.Cells,
			func(c Cell) bool { return c.Table == t.Name && !c.Absent }) {
			continue
		}
		w := s.workload(t.Workload)
		sayLayer(say, "workload "+w.Name, w.Layer, scale)
		if w.Backlog != nil && scale.BacklogBytes < int64(w.Backlog.Size) {
			say(fmt.Sprintf("workload %s: a backlog of %s stands for %s", w.Name,
				quantity.Bytes(scale.BacklogBytes), quantity.Bytes(int64(w.Backlog.Size))))
		}
		for _, a := range t.Axes {
			for _, v := range a.Values {
				if slices.Contains(v.Leave, scale.Name) {
					say(fmt.Sprintf("%s: %s is left out", t.Name, v.Label))
					continue
				}
				sayLayer(say, t.Name+", "+v.Label, v.Layer, scale)
			}
		}
	}
	for _, r := range s.Rates {
		if r.Published > 0 {
			s.sayRate(say, r, p)
		}
	}
	return out
}

// asMade prints a length, such as that of the windows: the shortest and the longest of the
// measurements, in seconds, because an earlier plimsoll may have planned others. Without
// measurements it is the length of the scale.
func asMade(of quantity.Span, measured []Measured, seconds func(Measured) float64) string {
	least, most := math.Inf(1), 0.0
	for _, m := range measured {
		if length := seconds(m); length > 0 {
			least, most = min(least, length), max(most, length)
		}
	}
	span := func(seconds float64) string {
		return quantity.ExactDuration(time.Duration(seconds * float64(time.Second)))
	}
	switch {
	case most == 0:
		return of.String()
	case least < most:
		return span(least) + " to " + span(most)
	}
	return span(most)
}

// windowSeconds is the planned window of a run; 0: there is no run.
func (m Measured) windowSeconds() float64 {
	if m.Run == nil {
		return 0
	}
	return m.Run.Run.Load.WindowSeconds
}

// searchSeconds is the greatest time of a search; 0: there is no search.
func (m Measured) searchSeconds() float64 {
	if m.Search == nil {
		return 0
	}
	return m.Search.MaxSeconds
}

func sayLayer(say func(string), where string, l Layer, scale Scale) {
	var parts []string
	for _, here := range scale.of(l) {
		text := here.Name + " is " + here.Value
		for _, there := range l.Set {
			if there.Name == here.Name {
				text += " for " + there.Value
			}
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		say(where + ": " + strings.Join(parts, ", "))
	}
}

// sayRate adds a sentence for each measured value of a rate, in the first round.
func (s *Study) sayRate(say func(string), r Rate, p *Plan) {
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Rate != r.Name || c.Run == "" || c.Round > 1 || c.offered() <= 0 {
			continue
		}
		at := s.peaksOf(p, c)
		share, of := percent(s.shareOf(&r, at[0])), "the peak"
		if len(at) > 1 {
			of = "the lowest peak"
		}
		say(fmt.Sprintf("rate %s: %s stands for %s, which is %s of %s measured in %s at %s, or of "+
			"the most acknowledged where no rate was stable", r.Name, quantity.Rate(c.offered()),
			quantity.Rate(float64(r.Published)), share, of, r.Table, strings.Join(at, " and ")))
		if !r.Own {
			return
		}
	}
}
