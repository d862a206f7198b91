package study

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Standing is one figure of a table of a study with rounds: a row for each place on all axes but
// the last, and a column for each value of the last axis.
type Standing struct {
	Table   string        `json:"table"`
	Title   string        `json:"title"`
	Figure  string        `json:"figure"`
	Unit    figure.Unit   `json:"unit"`
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
	// LeftOut counts the rounds in which the servers were still changing: they give no figure.
	LeftOut int `json:"rounds_left_out,omitempty"`
	// Value is the median of the rounds, or the greatest if one is 0. Of searches it is Low.
	Value float64 `json:"value"`
	// Low and High are the least and the greatest of two or more rounds; 0: not known. Of searches
	// they are the ends of the bracket that all of them leave.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// AtLeast is set when no search met a limit of the system, so that it could carry more.
	AtLeast bool `json:"at_least,omitempty"`
	// Unranked is set when plimsoll limited a round, or the figure is a latency of an overloaded
	// round.
	Unranked bool `json:"unranked,omitempty"`
	// First and Last are the ranks that the rounds leave possible among the cells of the same
	// places on all axes but the first; 0: no rank.
	First  int    `json:"rank_first,omitempty"`
	Last   int    `json:"rank_last,omitempty"`
	Limit  string `json:"limit,omitempty"` // what limited it, in words
	Remark string `json:"remark,omitempty"`
	Run    string `json:"run,omitempty"` // of the round in the middle
	// Known is of a figure with a bound.
	Known *Precision `json:"known,omitempty"`
}

// standing returns a figure of a table over all rounds.
func (r results) standing(t *Table, f Figure) Standing {
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
		row.Places = append(row.Places, r.stand(t, f, at.name()))
	}
	f.rank(out.Rows)
	return out
}

// reading is a figure of a cell in one round.
type reading struct {
	value    float64 // of a search: the highest stable rate; 0: none
	unstable float64 // of a search: the lowest unstable rate above it; 0: it met no limit
	run      string
}

// stand returns a figure at one place over all rounds.
func (r results) stand(t *Table, f Figure, at string) Stand {
	out := Stand{At: at, Known: r.precision(t, f, at)}
	rounds := r.at(t.Name, at, 0)
	if len(rounds) > 0 {
		out.Level = rounds[0].level()
	}
	rounds, changing := steadyOf(rounds)
	rounds, spoiled := f.withoutOwnLimit(rounds)
	var all []reading
	var said []remark
	var unranked, waiting string
	for _, one := range rounds {
		v, known := f.in(one)
		about := one.remark(one.m.limit(), known)
		if one.waits() {
			waiting = about.words
		} else {
			said = append(said, about)
		}
		read := reading{value: v, run: one.Run}
		if f.OfSearch() && isDone(one) && !about.ofLoad {
			read.unstable = f.unstable(one.m)
		}
		if known || read.unstable > 0 {
			all = append(all, read)
			if limit := one.m.limit(); limit != "" && f.OfSearch() {
				out.Limit = nameOf(limit)
			}
		}
		why := one.m.changing(f)
		switch {
		case f.ownLimit(one.m):
			why = "was limited by plimsoll itself"
		case why == "" && known && !f.OfSearch() && !r.knowsPeak(one):
			why = "had a load that is a share of a rate which is not its peak"
		}
		if why != "" {
			unranked = cmp.Or(unranked, "not ranked: a round "+why)
		}
		out.Run = cmp.Or(out.Run, one.Run)
	}
	out.Unranked, out.LeftOut = unranked != "", len(changing)+spoiled
	out.Remark = withLeftOut(cmp.Or(unranked, usual(said).words, waiting), changing)
	if spoiled > 0 {
		out.Remark = joined(out.Remark, quantity.Plural(spoiled,
			"round, which plimsoll limited, is", "rounds, which plimsoll limited, are")+" left out")
	}
	if out.Rounds = len(all); out.Rounds == 0 {
		return out
	}
	slices.SortFunc(all, func(a, b reading) int { return cmp.Compare(a.value, b.value) })
	if f.OfSearch() {
		out.bracket(all)
	} else {
		out.sum(all)
	}
	return out
}

// knowsPeak reports whether the load of a round is no share of a peak, or one of a peak that the
// same round found.
func (r results) knowsPeak(one round) bool {
	rate := r.study.rate(one.Rate)
	if rate == nil {
		return true
	}
	for _, at := range r.study.peaksOf(r.plan, one.Cell) {
		for _, p := range r.at(rate.Table, at, 0) {
			if p.Round == one.Round && p.m.peak() > 0 {
				return true
			}
		}
	}
	return false
}

// withoutOwnLimit leaves out the rounds in which plimsoll limited the figure, unless it did so in
// all, and returns their number.
func (f Figure) withoutOwnLimit(all []round) (rounds []round, spoiled int) {
	rounds = slices.DeleteFunc(slices.Clone(all), func(r round) bool { return f.ownLimit(r.m) })
	if len(rounds) == 0 {
		return all, 0
	}
	return rounds, len(all) - len(rounds)
}

// bracket sets the range in which the searches of some rounds leave the peak: from the highest rate
// that was stable below every unstable one, to the lowest that was unstable above every stable one.
// If no stable rate lies below every unstable one, the range begins at the lowest unstable one.
func (s *Stand) bracket(all []reading) {
	stable, unstable := all[len(all)-1].value, math.Inf(1) // the highest, and the lowest
	for _, r := range all {
		if r.unstable > 0 {
			unstable = min(unstable, r.unstable)
		}
		if r.unstable > stable && (s.High == 0 || r.unstable < s.High) {
			s.High = r.unstable
		}
	}
	if stable == 0 {
		s.Rounds, s.High = 0, 0
		return
	}
	s.Low, s.Run = min(unstable, stable), all[len(all)-1].run
	for _, r := range all {
		if r.value > 0 && r.value < unstable {
			s.Low, s.Run = r.value, r.run
		}
	}
	s.Value, s.AtLeast = s.Low, s.High == 0
	if s.AtLeast {
		s.Remark = cmp.Or(s.Remark, "the searches ended before they met a limit of the system")
	}
}

// sum sets the median of some rounds, sorted by value, and their range.
func (s *Stand) sum(all []reading) {
	n := len(all)
	s.Run = all[n/2].run
	if all[0].value <= 0 {
		s.Value = all[n-1].value
		return
	}
	// The middle one, or the geometric mean of the two in the middle.
	s.Value = math.Sqrt(all[(n-1)/2].value * all[n/2].value)
	if n > 1 {
		s.Low, s.High = all[0].value, all[n-1].value
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
				if j == i || o.Rounds == 0 || o.Unranked || s.Unranked ||
					!slices.Equal(rows[j].Labels[1:], rows[i].Labels[1:]) {
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
			if s.Low > 0 && others > 0 {
				s.First, s.Last = first, last
			}
		}
	}
}

// fewestRounds is the least number of rounds, of two systems together, with which one can be ahead.
// Rounds of equal systems come to lie apart by chance in one case of ten if each has three, of five
// if one has two, and of three if both have two.
const fewestRounds = 5

// ahead reports whether each round of a is better than each of b. For searches it reports whether
// a was stable at a rate at which b was not, nor at any higher one.
func (f Figure) ahead(a, b *Stand) bool {
	switch {
	case a.Low == 0 || b.Low == 0 || a.Rounds+b.Rounds < fewestRounds:
		return false
	case f.OfSearch():
		return b.High > 0 && a.Low >= b.High
	}
	return f.Better(a.Low, b.High) && f.Better(a.High, b.Low)
}
