package study

import (
	"math"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// mostRounds bounds the rounds of a study whose figures have bounds.
const mostRounds = 100

// Precision says how well a figure with a bound is known at one place.
type Precision struct {
	Until float64 `json:"until"` // the bound
	// Mean is the geometric mean of the rounds, and Low to High its interval of 95%, which holds
	// however often the rounds were looked at. Reach is how far it reaches above the mean, as a
	// share. All three are 0 if the rounds are too few for an interval.
	Mean  float64 `json:"mean"`
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
	Reach float64 `json:"reach,omitempty"`
	// More is the number of further rounds until the interval is narrow enough; 0: it is.
	More int `json:"further_rounds"`
}

// precision returns how well a figure is known at a place; nil: it has no bound, or fewer than two
// values.
func (f Figure) precision(t *Table, at string, p *Plan, measured []Measured) *Precision {
	bound := t.bounds[f.Name]
	if bound <= 0 {
		return nil
	}
	values, last := map[int]float64{}, 0
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Table != t.Name || c.At != at || c.Equal > 0 || c.State != experiment.Done {
			continue
		}
		last = max(last, c.Round)
		v, known := f.Value(measured[i])
		limited := f.OfSearch() && ofLoad(measured[i].limit())
		if known && v > 0 && !limited && measured[i].unrankable(f) == "" {
			values[c.Round] = v
		}
	}
	if len(values) < 2 {
		return nil
	}
	k := compare.Judge(bound, last, 0,
		[]compare.Rounds{{Figure: f.Figure, Values: values}}).Figures[0]
	out := &Precision{Until: bound, Mean: k.Center.Median.Least, More: k.More}
	if !math.IsInf(k.Reach, 1) {
		out.Low, out.High, out.Reach = k.Center.Low, k.Center.High, k.Reach
	}
	return out
}

// further returns the cells of the next round: each cell with a bounded figure that has values and
// is not known yet, the cells of claims that only their scatter leaves undecided, and the peaks of
// their rates. A cell that failed last is left out. measured has an entry for each of the plan's
// cells.
func (s *Study) further(p *Plan, measured []Measured, scale Scale) ([]Cell, error) {
	round := 0
	for _, c := range p.Cells {
		round = max(round, c.Round)
	}
	if round++; round == 1 || round > mostRounds || len(p.Cells) >= experiment.MaxCells {
		return nil, nil
	}
	undecided := s.undecided(p, measured)
	var out []Cell
	add := func(t *Table, at string, equal int) error {
		if slices.ContainsFunc(out, func(c Cell) bool {
			return c.Table == t.Name && c.At == at && c.Equal == equal
		}) {
			return nil
		}
		c, err := s.cell(t, t.place(at), scale, equal, round)
		if err == nil && !c.Absent {
			out = append(out, c)
		}
		return err
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		for _, c := range p.Cells {
			if c.Table != t.Name || c.Round != 1 || c.Absent || t.Once ||
				p.last(&c).State != experiment.Done ||
				!undecided[[2]string{c.Table, c.Place()}] &&
					(c.Equal > 0 || !s.unknown(t, c.At, p, measured)) {
				continue
			}
			if r := s.rate(c.Rate); r != nil && r.shared(scale) {
				for _, at := range s.peaksOf(p.Cells, &c) {
					if err := add(s.Table(r.Table), at, 0); err != nil {
						return nil, err
					}
				}
			}
			if err := add(t, c.At, c.Equal); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// undecided returns the places of claims that only the scatter of their rounds leaves undecided.
func (s *Study) undecided(p *Plan, measured []Measured) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, c := range s.Claims {
		if p.find(c.Table, c.Of, 0) < 0 {
			continue
		}
		j := s.judge(c, p, measured)
		f, err := FindFigure(c.Figure)
		if err != nil {
			continue
		}
		q := &question{s, c, f, p, measured}
		for _, r := range []*Reply{&j.Published, j.Equal} {
			if r == nil || !r.scatters {
				continue
			}
			level := 0
			if r == j.Equal {
				level = r.OfLevel
			}
			for _, at := range []string{c.Of, c.To} {
				for _, cell := range q.side(at, level).cells {
					out[[2]string{cell.Table, cell.Place()}] = true
				}
			}
		}
	}
	return out
}

// last returns the cell of the last round at a cell's place.
func (p *Plan) last(c *Cell) (last *Cell) {
	for i := range p.Cells {
		if of := &p.Cells[i]; of.Table == c.Table && of.Place() == c.Place() &&
			(last == nil || of.Round > last.Round) {
			last = of
		}
	}
	return last
}

// unknown reports whether a figure with a bound has values at a place and is not known.
func (s *Study) unknown(t *Table, at string, p *Plan, measured []Measured) bool {
	return slices.ContainsFunc(t.Figures, func(name string) bool {
		f, err := FindFigure(name)
		if err != nil {
			return false
		}
		known := f.precision(t, at, p, measured)
		return known != nil && known.More > 0
	})
}

// further adds another round to the plan, if a figure is not known and the time left holds it.
func (r *runner) further() error {
	if r.Study.AtMost == 0 {
		return nil
	}
	p, dir := r.plan, r.Folder.Dir()
	cells, err := r.Study.further(p, Measurements(dir, p), r.scale)
	if err != nil || len(cells) == 0 {
		return err
	}
	// A cell without a peak has another rate, and about the same length.
	jobs := map[int]*bench.Job{}
	for i := range cells {
		if jobs[i], err = cells[i].job(r.Job, dir); err != nil {
			return err
		}
	}
	var e Estimate
	next := &Plan{Record: p.Record, Scale: p.Scale, Cells: cells}
	e.add(r.Study, next, jobs, r.scale)
	if time.Duration(p.FurtherNs)+e.Length > time.Duration(r.Study.AtMost) {
		return nil
	}
	for _, i := range order(r.Study, next) {
		r.left = append(r.left, len(p.Cells)+i)
	}
	p.Cells = append(p.Cells, cells...)
	return nil
}

// spend adds the time since the last call to that of the further rounds, if the current cell is of
// one.
func (r *runner) spend() {
	now := time.Now()
	if !r.since.IsZero() && r.plan.Cells[r.at].Round > int(r.scale.Rounds) {
		r.plan.FurtherNs += int64(now.Sub(r.since))
	}
	r.since = now
}

// kept returns the cells that another plan of the same study lacks, in further rounds or because
// it asks for another part: those that were measured, tried, or cannot be measured here.
func (p *Plan) kept(other *Plan) (out []Cell) {
	for _, c := range p.Cells {
		if (c.Absent || c.State != experiment.Pending) && !slices.ContainsFunc(other.Cells,
			func(o Cell) bool { return o.Table == c.Table && o.Name() == c.Name() }) {
			out = append(out, c)
		}
	}
	return out
}
