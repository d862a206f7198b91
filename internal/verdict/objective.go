package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Objective is a bound that a latency must stay below: a service level
// objective.
type Objective struct {
	Series     result.Series
	Percentile float64 // 100: the greatest latency
	BelowNs    int64
}

const rightObjective = "p99<20ms (publish), e2e.p99<50ms or publish.max<1s"

// objectiveSeries are the series that an objective may bound, by their names.
var objectiveSeries = map[string]result.Series{
	"publish": result.Publish, "e2e": result.EndToEnd, "end_to_end": result.EndToEnd,
	"end-to-end": result.EndToEnd,
}

// String returns the objective in the form that ParseObjective reads.
func (o Objective) String() string {
	word := "publish"
	if o.Series == result.EndToEnd {
		word = "e2e"
	}
	return word + "." + o.figure() + "<" + quantity.ExactDuration(time.Duration(o.BelowNs))
}

func (o Objective) figure() string {
	if o.Percentile == 100 {
		return "max"
	}
	return result.PercentileName(o.Percentile)
}

// ParseObjective reads an objective: p99<20ms bounds publish latency, e2e.p99<50ms
// end-to-end latency; max is the greatest latency. The error says what is wrong and
// shows a correct objective.
func ParseObjective(s string) (Objective, error) {
	if len(s) > 64 {
		return Objective{}, fmt.Errorf("an objective is at most 64 characters long: write %s",
			rightObjective)
	}
	if strings.TrimSpace(s) == "" {
		return Objective{}, errors.New("an objective is missing: write " + rightObjective)
	}
	left, right, found := strings.Cut(s, "<")
	if !found {
		return Objective{}, fmt.Errorf("%q has no <, which precedes the bound: write %s",
			s, rightObjective)
	}
	if strings.HasPrefix(right, "=") {
		return Objective{}, fmt.Errorf("%q: write < in place of <=", s)
	}
	word, figure, named := strings.Cut(strings.TrimSpace(left), ".")
	series, known := objectiveSeries[word]
	if !named || isPercentile(word) {
		series, known, figure = result.Publish, true, strings.TrimSpace(left)
	}
	if !known {
		return Objective{}, fmt.Errorf("%q: %s", s,
			strict.Unknown("latency", word, []string{"publish", "e2e"}))
	}
	percentile, err := parseFigure(figure)
	if err != nil {
		return Objective{}, fmt.Errorf("%q: %w", s, err)
	}
	below, err := quantity.ParseDuration(strings.TrimSpace(right))
	if err != nil {
		return Objective{}, fmt.Errorf("%q: %w", s, err)
	}
	if below <= 0 {
		return Objective{}, fmt.Errorf("%q: no latency is below 0s: write %s", s, rightObjective)
	}
	return Objective{Series: series, Percentile: percentile, BelowNs: int64(below)}, nil
}

// isPercentile distinguishes the p99 of p99.9 from the name of a series.
func isPercentile(word string) bool {
	return len(word) > 1 && word[0] == 'p' && word[1] >= '0' && word[1] <= '9'
}

// parseFigure reads p50 to p99.999, as far as results have them, or max.
func parseFigure(s string) (float64, error) {
	if s == "max" {
		return 100, nil
	}
	names := make([]string, len(result.Percentiles), len(result.Percentiles)+1)
	for i, p := range result.Percentiles {
		names[i] = result.PercentileName(p)
	}
	if i := slices.Index(names, s); i >= 0 {
		return result.Percentiles[i], nil
	}
	// The error suggests no nearest name: p98 is not a misspelled p90.
	return 0, fmt.Errorf("results have no figure %.20q: they have %s and max", s,
		strings.Join(names, ", "))
}

// point returns the figure that the objective bounds; false when there are too few messages
// for it.
func (o Objective) point(l result.Latency) (result.Percentile, bool) {
	if o.Percentile == 100 {
		ns, bound := l.Worst()
		return result.Percentile{Percentile: 100, LatencyNs: ns,
			Bound: bound}, l.Count+l.Missing.Total() > 0
	}
	return l.Point(o.Percentile)
}

// judge judges whether the objective holds in a run. It is undecided where the run's own variation
// or plimsoll's own error is greater than the distance to the bound.
func (o Objective) judge(s *result.Saved) Clause {
	c := Clause{Name: ClauseSLO, Series: o.Series,
		Figures: []Figure{{Name: "below_ns", Value: float64(o.BelowNs)}}}
	latency := s.Run.Summary.Series(o.Series)
	point, known := o.point(latency)
	ns := point.LatencyNs
	if !known {
		return c.say(result.Unknown, "%s: too few messages for %s: measure for longer", o,
			o.figure())
	}
	c.Figures = append(c.Figures, Figure{Name: "latency_ns", Value: float64(ns)})
	if point.Bound == result.Exact {
		if least, most, known := o.beyond(s); known {
			c.Figures = append(c.Figures, Figure{"beyond_share_low", least},
				Figure{"beyond_share_high", most})
			if allowed := 1 - o.Percentile/100; least <= allowed && most > allowed {
				c.Undecided = true
				return c.say(result.Unknown, "%s: it was %s, too near the bound to decide: "+
					"%.3g%% to %.3g%% of messages took longer, and %.3g%% may", o,
					quantity.Duration(ns), least*100, most*100, allowed*100)
			}
		}
	}
	switch {
	case ns >= o.BelowNs && point.Bound == result.Exact:
		c.Passing = o.passing(s)
		return c.say(result.Broken, "%s: it was %s", o, quantity.DurationBeside(ns, o.BelowNs))
	case ns >= o.BelowNs:
		return c.say(result.Broken, "%s: it was at least %s", o,
			quantity.DurationBeside(ns, o.BelowNs))
	case point.Bound == result.NotReached:
		return c.say(result.Broken,
			"%s: %s falls among %s messages without a latency",
			o, o.figure(), quantity.Count(latency.Missing.Total()))
	case point.Bound == result.AtLeast:
		return c.say(result.Unknown,
			"%s: it was at least %s, and %s messages were never answered",
			o, quantity.DurationBeside(ns, o.BelowNs),
			quantity.Count(latency.Missing.Unanswered))
	}
	return c.say(result.Holds, "%s: it was %s", o, quantity.DurationBeside(ns, o.BelowNs))
}

// nearTail is the probability at each end of the interval by which an objective is decided in one
// trial. A search decides an end of its bracket in several trials.
const nearTail = 0.3

// beyond returns the least and the greatest share of messages beyond the objective's bound that the
// run allows for; false: it has too few intervals. The least leaves out plimsoll's own lag: it is
// of publish latency less own lag, which is at most the system's own latency, or of end-to-end
// latency with a bound that is raised by the mean own lag.
func (o Objective) beyond(s *result.Saved) (least, most float64, known bool) {
	if o.Percentile == 100 {
		return 0, 0, false
	}
	whole, known := o.share(s, o.Series, o.BelowNs)
	if !known {
		return 0, 0, false
	}
	least, most = whole.Interval(nearTail)
	series, belowNs := result.LessOwnLag, o.BelowNs
	if o.Series != result.Publish {
		series, belowNs = o.Series, o.BelowNs+int64(s.Run.Summary.Generator.OwnLagMeanNs)
	}
	if less, known := o.share(s, series, belowNs); known {
		least, _ = less.Interval(nearTail)
	}
	return least, most, true
}

// share returns the share of a series' messages that take at least belowNs. Messages without a
// latency are spread evenly.
func (o Objective) share(s *result.Saved, series result.Series, belowNs int64) (stats.Share, bool) {
	var beyond, all []float64
	var startNs int64
	for _, l := range s.Latency {
		if l.Series != series || l.Warmup {
			continue
		}
		if len(all) == 0 || l.StartNs != startNs {
			beyond, all, startNs = append(beyond, 0), append(all, 0), l.StartNs
		}
		at := len(all) - 1
		for value, n := range l.Histogram.ForEachBucket {
			all[at] += float64(n)
			if value >= belowNs {
				beyond[at] += float64(n)
			}
		}
	}
	missing := float64(s.Run.Summary.Series(o.Series).Missing.Total()) / float64(max(len(all), 1))
	for i := range all {
		all[i], beyond[i] = all[i]+missing, beyond[i]+missing
	}
	return stats.ShareOf(beyond, all), len(all) >= growthFewest
}

// passingShare is the share of a window's intervals that must each keep an objective for
// the violation to count as a passing disturbance of the others.
const passingShare = 0.75

// passing reports whether few intervals caused the violation of the objective.
func (o Objective) passing(s *result.Saved) bool {
	kept, all := 0, 0
	for _, i := range s.Intervals {
		if i.Phase != result.PhaseMeasure {
			continue
		}
		at := slices.IndexFunc(i.Latency,
			func(l result.Latency) bool { return l.Series == o.Series })
		if at < 0 {
			continue
		}
		// An interval may have too few messages for the percentile itself.
		l := i.Latency[at]
		point, known := o.point(l)
		if !known {
			point.LatencyNs, known = l.MaxNs, l.Count > 0
		}
		if !known {
			continue
		}
		all++
		if point.LatencyNs < o.BelowNs {
			kept++
		}
	}
	return all >= growthFewest && float64(kept) >= passingShare*float64(all)
}
