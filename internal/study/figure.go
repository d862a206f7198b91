package study

import (
	"errors"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Figure is one number of a cell.
type Figure struct{ figure.Figure }

// Measured is the result of a cell: a run, a search, or neither.
type Measured struct {
	Run    *result.Saved
	Search *peak.Saved
	Trials []*result.Run // of the search, at the rates of its bracket
}

// Value returns the figure of a cell. known is false when the cell does not have it.
func (f Figure) Value(m Measured) (value float64, known bool) {
	switch {
	case f.OfSearch() && m.Search != nil:
		value, known = m.Search.Bracket.StableRate*f.ofRate(m.Search), true
	case m.Run != nil:
		var span figure.Span
		span, known = f.Span(&m.Run.Run)
		// Of a count the least is known: so many are lost.
		value, known = span.Least, known && (span.Exact() || f.Zero)
	}
	return value, known && (value > 0 || f.Zero && value == 0)
}

// value returns the figure of a cell; 0: it does not have it.
func (f Figure) value(m Measured) float64 {
	v, _ := f.Value(m)
	return v
}

// unstable returns the least rate that a search found unstable, in the figure's unit; 0: none.
func (f Figure) unstable(m Measured) float64 {
	if m.Search == nil {
		return 0
	}
	return m.Search.Bracket.UnstableRate * f.ofRate(m.Search)
}

// ofRate returns what a search's rate of one message a second is in the figure's unit.
func (f Figure) ofRate(s *peak.Saved) float64 {
	if f.Unit == figure.BytesPerSecond {
		return float64(s.Load.MessageBytes)
	}
	return 1
}

// sent is the name by which studies know the acknowledged rate.
const sent = "sent"

// FindFigure returns a figure by its name in the catalogue, or sent.
func FindFigure(name string) (Figure, error) {
	of := name
	if name == sent {
		of = figure.Rate
	}
	f, err := figure.Find(of)
	switch {
	case err != nil:
		return Figure{}, err
	case f.Unit == figure.Messages && f.Name != figure.Lost:
		return Figure{}, errors.New("a study has no counts but lost: choose a rate or a latency")
	case name == sent:
		f.Title = "sent and acknowledged"
	}
	return Figure{f}, nil
}

// figureOf returns a figure of a study whose names are checked.
func figureOf(name string) Figure {
	f, err := FindFigure(name)
	if err != nil {
		panic(err)
	}
	return f
}
