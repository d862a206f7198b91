package study

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
)

// roundsOf returns the rounds of a table's cells at a scale: 0 if the study measures them once.
func (s *Study) roundsOf(t *Table, scale Scale) (out []int) {
	rounds := int(scale.Rounds)
	if rounds == 0 || rounds == 1 && !s.Ranks() {
		return []int{0}
	}
	if t.Once {
		return []int{1}
	}
	for round := range rounds {
		out = append(out, round+1)
	}
	return out
}

// peaksOf returns the places of the peaks that a cell's rate depends on: it is a share of them. An
// own rate depends on the peak of the cell's system and level, or else on those of its system.
func (s *Study) peaksOf(p *Plan, c *Cell) []string {
	r := s.rate(c.Rate)
	switch {
	case !r.Own:
		return r.At
	case len(r.At) == 0:
		return []string{s.Table(r.Table).placeWithin(c.At)}
	}
	if at := s.ownPeak(p, c); at != "" {
		return []string{at}
	}
	same := slices.DeleteFunc(slices.Clone(r.At), func(at string) bool {
		peak := p.find(r.Table, at, 0)
		return peak == nil || s.targetAt(peak) != s.targetAt(c)
	})
	if len(same) > 0 {
		return same
	}
	return r.At
}

// placeWithin returns the table's place with the first names of a longer one.
func (t *Table) placeWithin(at string) string {
	names := strings.Split(at, ", ")
	return strings.Join(names[:min(len(t.Axes), len(names))], ", ")
}

// stage is the part of a round in which a cell is measured.
type stage int

const (
	offering  stage = iota // known rates come before searches, which leave servers work to do
	searching              // the peaks give the rates of the others
	loading
	breaking // faults come last, because they move leaders
)

func stageOf(c *Cell) stage {
	switch w := c.workload(); {
	case c.Measure == MeasurePeak:
		return searching
	case w != nil && len(w.Faults) > 0:
		return breaking
	case c.Measure == MeasureRun && c.Rate == "":
		return offering
	}
	return loading
}

// inRounds returns the indexes of a plan's cells in the order of measurement, without absent
// cells: round after round, in each the cells that come early before the others, the clusters in
// random order, and for each cluster its loads of known rates, its peaks, its other cells, each in
// random order with those of the same settings together, then its faults. At the smallest scale
// the rounds of a cluster follow one another on the same servers, because their start would take
// most of the time.
func (s *Study) inRounds(p *Plan) []int {
	draw := rand.New(rand.NewPCG(uint64(p.StartedAt.UnixNano()), uint64(len(p.Cells))))
	clusters, first := map[string]int{}, s.early(p)
	// The keys that order the cells, the most important first.
	turns := make([][]int, len(p.Cells))
	var out []int
	for i := range p.Cells {
		c := &p.Cells[i]
		if c.Absent {
			continue
		}
		key, round := c.grouped(), 0
		if p.Scale != Smoke {
			key, round = key+fmt.Sprint(c.Round), c.Round
		}
		for _, k := range []string{key, key + c.Target} {
			if _, known := clusters[k]; !known {
				clusters[k] = draw.Int()
			}
		}
		of, late, breaks := stageOf(c), 1, 0
		if first[i] {
			late = 0
		}
		if of == breaking {
			breaks = 1
		}
		turns[i] = []int{round, late, clusters[key], breaks, c.Round, int(of),
			clusters[key+c.Target], draw.Int()}
		out = append(out, i)
	}
	slices.SortStableFunc(out,
		func(a, b int) int { return slices.Compare(turns[a], turns[b]) })
	return out
}

// gaugeLength is the length of the closed loop that finds the first search's start, and
// gaugedShare the used share of its rate, because a closed loop is an overload that few systems
// carry for long.
const (
	gaugeLength = 2 * time.Second
	gaugedShare = 0.6
)

// start returns the first rate of the current cell's search, and whether it is near the peak. Both
// only shorten the search. The rate is a share of what a closed loop carries or, after the first
// round, from the last one's result.
func (r *runner) start(ctx context.Context, job *bench.Job) (rate float64, near bool, err error) {
	c := &r.plan.Cells[r.at]
	rate = job.Workload.Load.Segments[0].From
	least := peak.FewestMessages / time.Duration(r.scale.Trial).Seconds()
	earlier := r.searchesAt(c.Table, c.At, c.Equal,
		func(round int) bool { return round < c.Round })
	if len(earlier) == 0 {
		carried, err := bench.Gauge(ctx, job, gaugeLength, r.Watch)
		if err != nil && ctx.Err() == nil {
			return rate, false, nil // the search itself reports the error
		}
		return max(gaugedShare*carried, least), false, err
	}
	rate, near = onward(rate, earlier[len(earlier)-1])
	return max(rate, least), near, nil
}

const (
	// onwardShare is the share of an earlier search's stable rate with which the next search
	// begins: a search whose first rate is stable needs fewer trials.
	onwardShare = 0.9
	// nearWidth is the greatest width of an earlier bracket near whose lower end the peak is.
	nearWidth = 0.5
)

// onward returns the rate with which the next search begins, and whether it is near the peak: a
// little below an earlier search's stable rate, the middle of a bracket that is wide, twice the
// stable rate when it met no limit, and half of the lowest rate that it tried when none was stable.
func onward(rate float64, earlier *peak.Saved) (begin float64, near bool) {
	b := earlier.Bracket
	switch {
	case b.Width() <= nearWidth:
		return onwardShare * b.StableRate, true
	case b.StableRate > 0 && b.UnstableRate > 0:
		return math.Sqrt(b.StableRate * b.UnstableRate), false
	case b.StableRate > 0:
		return 2 * b.StableRate, false
	case len(earlier.Trials) == 0:
		return rate, false
	}
	lowest := slices.MinFunc(earlier.Trials, func(a, b peak.Trial) int {
		return cmp.Compare(a.TargetRate, b.TargetRate)
	})
	return lowest.TargetRate / 2, false
}
