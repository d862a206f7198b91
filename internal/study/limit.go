package study

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// limit returns what limited a cell's figure: plimsoll, the workload, or a resource; empty: no
// limit is known.
func (m Measured) limit() string {
	resource := ""
	switch {
	case m.Search != nil && m.Search.Side != nil:
		switch side := m.Search.Side; side.Name {
		case verdict.SideGenerator:
			return side.Name
		case verdict.SideWorkload:
			return m.behindWorkload()
		default:
			resource = side.Resource
		}
	case m.Run != nil:
		resource = verdict.Limiting(&m.Run.Run).Resource
	}
	switch resource {
	case verdict.NoneSeen, verdict.NotKnown:
		return ""
	case verdict.Generator:
		return verdict.SideGenerator
	}
	return resource
}

// behindWorkload returns the resource that was near its limit in a trial that reached the
// workload's bound of messages in flight, because the wait for that resource filled the bound.
// Without such a resource it returns the workload.
func (m Measured) behindWorkload() string {
	for _, r := range slices.Backward(m.Trials) {
		switch l := verdict.Limiting(r); l.Resource {
		case verdict.NoneSeen, verdict.NotKnown, verdict.Generator:
		default:
			return l.Resource
		}
	}
	return verdict.SideWorkload
}

// cores reports whether a limit is one of cores.
func cores(limit string) bool {
	return limit == result.ResourceCPU || limit == result.ResourceServers
}

// ofLoad reports whether a limit is one of the load: the figure does not show what the system
// could have carried.
func ofLoad(limit string) bool {
	return limit == verdict.SideGenerator || limit == verdict.SideWorkload
}

// nameOf names a limit with its article.
func nameOf(limit string) string {
	switch limit {
	case verdict.SideGenerator:
		return "plimsoll itself"
	case verdict.SideWorkload:
		return "the workload's bound of messages in flight"
	case result.ResourceCPU:
		return "the CPU that servers and load share"
	case result.ResourceServers:
		return "the servers' CPU"
	case result.ResourceLoopback:
		return "the loopback network"
	case "":
		return "no known resource"
	}
	return "the " + limit
}

// unrankable says why a cell's figure must not be ranked: plimsoll limited its run, its servers
// were still changing, or the figure is a latency of an overloaded run; empty: it may be.
func (m Measured) unrankable(f Figure) string {
	if m.Run == nil {
		return ""
	}
	ranked, why := verdict.RankingOf(&m.Run.Run)
	if m.Run.Run.Summary.Generator.Limited || why.Code == verdict.Steady ||
		ranked == verdict.RatesRanked && f.IsLatency() {
		return why.Sentence
	}
	return ""
}

// unsteady says in a word how the servers of a run were still changing; empty: they were not, or
// the cell has no run.
func (m Measured) unsteady() string {
	if m.Run == nil {
		return ""
	}
	if _, why := verdict.RankingOf(&m.Run.Run); why.Code == verdict.Steady {
		return why.Sentence
	}
	return ""
}

// unlike says why a figure of two cells cannot be compared: the load limited one of them, one was
// overloaded, or their limits differ; empty: it can.
func (f Figure) unlike(of, to side) string {
	a, b := of.limit(), to.limit()
	for _, s := range []struct{ at, limit, why string }{{of.at, a, of.unrankable(f)},
		{to.at, b, to.unrankable(f)}} {
		switch {
		case ofLoad(s.limit):
			return fmt.Sprintf("in %s %s was the limit", s.at, nameOf(s.limit))
		case s.why != "":
			return fmt.Sprintf("%s was %s", s.at, s.why)
		}
	}
	if a == b || cores(a) && cores(b) {
		return ""
	}
	return fmt.Sprintf("the limits differ: %s in %s, %s in %s", nameOf(a), of.at, nameOf(b), to.at)
}

// limited relates the ratio to the resource that limited both cells, if there is one: a rate is
// divided by the resource's use. For other figures the ratio is unchanged.
func (r *Reply) limited(f Figure, of, to side) {
	limit := of.limit()
	if limit == "" {
		return
	}
	r.About = "with " + nameOf(limit) + " near its limit on both sides"
	a, b := f.perUse(of.Measured, limit), f.perUse(to.Measured, limit)
	if len(a) == 0 || len(b) == 0 {
		return
	}
	switch {
	case cores(limit):
		r.About = "per core of the servers"
	case limit == result.ResourceDisk:
		r.About = "per byte written to the disk"
	default:
		r.About = "per byte over " + nameOf(limit)
	}
	r.Ours, r.Low, r.High = compare.Repeated(b, a)
	if of.Run != nil && to.Run != nil && cores(limit) {
		if perCore, err := FindFigure(figure.PerCore); err == nil {
			r.Low, r.High = perCore.interval(of.Measured, to.Measured)
		}
	}
}

// perUse returns a rate divided by the use of a resource: for a search in each trial within its
// bracket, otherwise in the run. It is empty for other figures, and if the use is unknown.
func (f Figure) perUse(m Measured, resource string) (out []float64) {
	if f.Unit != figure.PerSecond && f.Unit != figure.BytesPerSecond || f.Name == "catch_up" {
		return nil // covers only a part of the run, whose use is unknown
	}
	runs := m.Trials
	if m.Run != nil {
		runs = []*result.Run{&m.Run.Run}
	}
	for _, r := range runs {
		rate := r.Summary.Work()
		if f.Unit == figure.BytesPerSecond {
			rate *= r.Summary.PayloadBytes(r.Load)
		} else if v, known := f.Value(m); known && m.Run != nil {
			rate = v
		}
		if per := rate / used(r, resource); per > 0 && !math.IsInf(per, 0) {
			out = append(out, per)
		}
	}
	return out
}

// used returns the use of a resource in a run: cores of the servers, or bytes per second; 0: not
// known.
func used(r *result.Run, resource string) float64 {
	if cores(resource) {
		return r.Summary.Work() / r.Observation.MsgsPerCoreSecond
	}
	for _, s := range verdict.Shares(r) {
		if s.Resource == resource {
			return s.Used
		}
	}
	return 0
}

// interval returns the interval of a figure's ratio between two cells: for peaks from their
// brackets, for runs from internal/compare. Zeros: not known.
func (f Figure) interval(of, to Measured) (low, high float64) {
	if of.Search != nil && to.Search != nil {
		a, b := of.Search.Bracket, to.Search.Bracket
		if a.UnstableRate <= 0 || b.UnstableRate <= 0 || a.StableRate <= 0 || b.StableRate <= 0 {
			return 0, 0
		}
		return a.StableRate / b.UnstableRate, a.UnstableRate / b.StableRate
	}
	if of.Run == nil || to.Run == nil {
		return 0, 0
	}
	c, err := compare.New(compare.Side{Name: "to", Runs: []*result.Saved{to.Run}},
		compare.Side{Name: "of", Runs: []*result.Saved{of.Run}}, f.Figure)
	if err != nil {
		return 0, 0
	}
	for _, e := range c.Figures {
		if e.Figure.Name == f.Name && e.Low > 0 && !math.IsInf(e.High, 1) {
			return e.Low, e.High
		}
	}
	return 0, 0
}
