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
func (r results) precision(t *Table, f Figure, at string) *Precision {
	bound := t.bounds[f.Name]
	if bound <= 0 {
		return nil
	}
	values, last := map[int]float64{}, 0
	for _, one := range r.at(t.Name, at, 0) {
		if one.State != experiment.Done {
			continue
		}
		last = max(last, one.Round)
		v, known := f.Value(one.m)
		limited := f.OfSearch() && ofLoad(one.m.limit())
		if known && v > 0 && !limited && !f.ownLimit(one.m) && one.m.changing(f) == "" {
			values[one.Round] = v
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
// their rates. A cell that failed last is left out.
func (r results) further(scale Scale) ([]Cell, error) {
	s, p, last := r.study, r.plan, 0
	for _, c := range p.Cells {
		last = max(last, c.Round)
	}
	if last == 0 || last >= mostRounds || len(p.Cells) >= experiment.MaxCells {
		return nil, nil
	}
	undecided := r.undecided()
	var out []Cell
	add := func(t *Table, at string, equal int) error {
		if slices.ContainsFunc(out, func(c Cell) bool {
			return c.Table == t.Name && c.At == at && c.Equal == equal
		}) {
			return nil
		}
		c, err := s.cell(t, t.place(at), scale, equal, last+1)
		if err == nil && !c.Absent {
			out = append(out, c)
		}
		return err
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		for _, rounds := range r.byPlace(func(c *Cell) bool { return c.Table == t.Name }) {
			c := rounds[0]
			if t.Once || c.Round != 1 || c.Absent ||
				rounds[len(rounds)-1].State != experiment.Done ||
				!undecided[[2]string{c.Table, c.Place()}] &&
					(c.Equal > 0 || !r.unknown(t, c.At)) {
				continue
			}
			if rate := s.rate(c.Rate); rate != nil && rate.shared(scale) {
				for _, at := range s.peaksOf(p, c.Cell) {
					if err := add(s.Table(rate.Table), at, 0); err != nil {
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

// GoesOn reports whether the study can have further rounds at a scale: it measures cells more than
// once, and something tells when that is enough.
func (s *Study) GoesOn(scale string) bool {
	return s.RoundsAt(scale) > 1 && (len(s.Claims) > 0 || s.hasUntil())
}

// hasUntil reports whether a figure has a bound.
func (s *Study) hasUntil() bool {
	return slices.ContainsFunc(s.Tables, func(t Table) bool { return len(t.Until) > 0 })
}

// undecided returns the places of claims that only the scatter of their rounds leaves undecided. Of
// these it takes those that need the fewest further rounds, up to twice the least, and those of
// which that is not known, so that the time left is not spent on claims that it cannot decide.
func (r results) undecided() map[[2]string]bool {
	type waiting struct {
		*Reply
		table string
	}
	var all []waiting
	fewest := math.MaxInt
	for _, c := range r.study.Claims {
		if r.plan.find(c.Table, c.Of, 0) == nil {
			continue
		}
		j := r.judge(c)
		for _, reply := range []*Reply{&j.Published, j.Equal} {
			if reply == nil || !reply.scatters {
				continue
			}
			if all = append(all, waiting{reply, c.Table}); reply.More > 0 {
				fewest = min(fewest, reply.More)
			}
		}
	}
	out := map[[2]string]bool{}
	for _, one := range all {
		if one.More-fewest > fewest {
			continue
		}
		for _, place := range one.places {
			out[[2]string{one.table, place}] = true
		}
	}
	return out
}

// unknown reports whether a figure with a bound has values at a place and is not known.
func (r results) unknown(t *Table, at string) bool {
	return slices.ContainsFunc(t.Figures, func(name string) bool {
		known := r.precision(t, figureOf(name), at)
		return known != nil && known.More > 0
	})
}

// further adds another round to the plan, if a figure is not known and the time left holds it.
func (r *runner) further() error {
	if r.Study.AtMost == 0 {
		return nil
	}
	p, dir := r.plan, r.Folder.Dir()
	cells, err := results{r.Study, p, Measurements(dir, p)}.further(r.scale)
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
	if r.plan.Cells[r.at].Round > int(r.scale.Rounds) {
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
