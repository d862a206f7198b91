package study

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// Standing is one figure of a table of a study with rounds: a row for each place on all axes but
// the last, and a column for each value of the last axis.
type Standing struct {
	Table   string        `json:"table"`
	Title   string        `json:"title"`
	Figure  string        `json:"figure"`
	Unit    Unit          `json:"unit"`
	Axes    []string      `json:"axes"` // of the rows, and that of the columns
	Columns []string      `json:"columns"`
	Rows    []StandingRow `json:"rows"`
}

// StandingRow is a row of a Standing.
type StandingRow struct {
	Labels []string `json:"labels"` // one of each axis
	Places []Stand  `json:"places"` // one of each column
}

// Stand is a figure at one place over the rounds.
type Stand struct {
	At     string `json:"at"`
	Level  int    `json:"durability_level,omitempty"`
	Rounds int    `json:"rounds"` // with the figure
	// Value is the median of the rounds, or the greatest if one of them is 0. A search that met
	// no limit is left out if every search that did found more.
	Value float64 `json:"value"`
	// Low and High are the least and the greatest of two or more rounds; 0: not known. The
	// greatest of searches is the upper end of a bracket.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// AtLeast is set when the load was the limit, or no search met one, so that the system could
	// carry more.
	AtLeast bool `json:"at_least,omitempty"`
	// First and Last are the ranks that the rounds leave possible among the cells of the same
	// places on all axes but the first; 0: no rank.
	First  int    `json:"rank_first,omitempty"`
	Last   int    `json:"rank_last,omitempty"`
	Limit  string `json:"limit,omitempty"` // what limited it, in words
	Remark string `json:"remark,omitempty"`
	Run    string `json:"run,omitempty"` // of the round in the middle
}

// standing returns a figure of a table over all rounds.
func (t *Table) standing(f Figure, p *Plan, measured []Measured) Standing {
	out := Standing{Table: t.Name, Title: t.Title, Figure: f.Title, Unit: f.Unit}
	for _, a := range t.Axes {
		out.Axes = append(out.Axes, a.Name)
	}
	columns := t.Axes[len(t.Axes)-1].Values
	for _, v := range columns {
		out.Columns = append(out.Columns, v.Label)
	}
	for i, at := range t.places() {
		if i%len(columns) == 0 {
			labels := t.Labels(at.name())
			out.Rows = append(out.Rows, StandingRow{Labels: labels[:len(labels)-1]})
		}
		row := &out.Rows[len(out.Rows)-1]
		row.Places = append(row.Places, f.stand(t, at.name(), p, measured))
	}
	f.rank(out.Rows)
	return out
}

// round is a figure of a cell in one round.
type round struct {
	value, high float64
	open        bool // a search that met no limit, so that the system carries at least value
}

// stand returns a figure at one place over all rounds.
func (f Figure) stand(t *Table, at string, p *Plan, measured []Measured) Stand {
	out := Stand{At: at}
	var all []round
	runs := map[float64]string{}
	for i, c := range p.Cells {
		if c.Table != t.Name || c.At != at {
			continue
		}
		out.Level = c.level()
		v, known := f.Value(measured[i])
		known = known && c.State == experiment.Done
		remark, ofLoad := c.remark(measured[i], known)
		if known {
			one := round{value: v, high: v}
			if s := measured[i].Search; s != nil && f.searched() && s.Bracket.StableRate > 0 {
				b := s.Bracket
				one.open = b.UnstableRate == 0
				one.high = v * max(b.UnstableRate, b.StableRate) / b.StableRate
			}
			all, runs[v] = append(all, one), c.Run
			out.AtLeast = out.AtLeast || ofLoad && f.searched()
			if limit := measured[i].limit(); limit != "" && f.searched() {
				out.Limit = nameOf(limit)
			}
		}
		if out.Remark = cmp.Or(out.Remark, remark); out.Run == "" {
			out.Run = c.Run
		}
	}
	slices.SortFunc(all, func(a, b round) int { return cmp.Compare(a.value, b.value) })
	all = telling(all)
	if out.Rounds = len(all); out.Rounds == 0 {
		return out
	}
	if all[len(all)-1].open && len(all) == 1 {
		out.AtLeast = true
		out.Remark = cmp.Or(out.Remark, "the searches ended before they met a limit")
	}
	out.Run = runs[all[len(all)/2].value]
	out.sum(all)
	return out
}

// telling returns, of rounds sorted by value, those that show what the system carries. A search
// that met no limit shows nothing if every search that did found more. If none met a limit, the
// highest round is a lower bound.
func telling(all []round) []round {
	ended := slices.IndexFunc(all, func(r round) bool { return !r.open })
	if ended < 0 {
		return all[max(0, len(all)-1):]
	}
	return all[ended:]
}

// sum sets the median of some rounds, sorted by value, and their range.
func (s *Stand) sum(all []round) {
	n := len(all)
	if all[0].value <= 0 {
		s.Value = all[n-1].value
		return
	}
	// The middle one, or the geometric mean of the two in the middle.
	s.Value = math.Sqrt(all[(n-1)/2].value * all[n/2].value)
	if n == 1 {
		return
	}
	s.Low = all[0].value
	for _, r := range all {
		s.High = max(s.High, r.high) // the peak of each round lies between the ends of its bracket
	}
}

// rank sets the ranks that the rounds leave possible, column by column, among the rows with the
// same labels on all axes but the first.
func (f Figure) rank(rows []StandingRow) {
	for i := range rows {
		for k := range rows[i].Places {
			s := &rows[i].Places[k]
			first, last, others := 1, 1, 0
			for j := range rows {
				o := &rows[j].Places[k]
				if j == i || !o.ranked() || !slices.Equal(rows[j].Labels[1:], rows[i].Labels[1:]) {
					continue
				}
				others++
				if f.ahead(o, s) {
					first++
				}
				if !f.ahead(s, o) {
					last++
				}
			}
			if s.ranked() && others > 0 {
				s.First, s.Last = first, last
			}
		}
	}
}

// ranked reports whether the place has an interval that is of the system.
func (s *Stand) ranked() bool { return s.Low > 0 && !s.AtLeast }

// fewestRounds is the least number of rounds of two systems together of which one can be ahead.
// Rounds of equal systems come to lie apart by chance in one case of ten if each has three, of five
// if one has two, and of three if both have two.
const fewestRounds = 5

// ahead reports whether each round of a is better than each of b.
func (f Figure) ahead(a, b *Stand) bool {
	return a.Rounds+b.Rounds >= fewestRounds &&
		f.better(a.Low, b.High) && f.better(a.High, b.Low)
}
