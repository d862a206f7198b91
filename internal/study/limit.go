package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	return sideOf(resource)
}

// sideOf returns the limit of a study's cell that a run's resource is; empty: none is known.
func sideOf(resource string) string {
	switch resource {
	case verdict.NoneSeen, verdict.NotKnown:
		return ""
	case verdict.Generator:
		return verdict.SideGenerator
	}
	return resource
}

// limit returns what limited a figure of a cell. plimsoll's error in latencies is no limit of other
// figures, nor of a latency of which it is known to be the smaller part (certain).
func (f Figure) limit(m Measured) string {
	if m.Run == nil || f.IsLatency() && f.certain(m) <= 0 {
		return m.limit()
	}
	return sideOf(verdict.LimitingRate(&m.Run.Run).Resource)
}

// certain returns the part of a run's latency that is the system's own: the latency, less
// plimsoll's error in it where that limited the run; 0: it may be less than half. Of other figures
// it is the whole.
func (f Figure) certain(m Measured) float64 {
	v, known := f.Value(m)
	if m.Run == nil || !f.IsLatency() || m.limit() != verdict.SideGenerator {
		return v
	}
	own, has := verdict.OwnErrorAt(&m.Run.Run, f.Series, f.Percentile)
	if left := v - float64(own); known && has && left >= v/2 {
		return left
	}
	return 0
}

// unlimited reports whether the resources were observed and none was near its limit. A search that
// found no unstable rate names no side; its trials show it.
func (m Measured) unlimited() bool {
	if m.Search != nil && m.Search.Side != nil {
		return m.Search.Side.Resource == verdict.NoneSeen
	}
	runs := m.runs()
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r *result.Run) bool {
		return verdict.Limiting(r).Resource != verdict.NoneSeen
	})
}

// unobserved reports whether nothing is known of the resources of a cell's run or search.
func (m Measured) unobserved() bool {
	if m.Search != nil {
		return m.Search.Side != nil && m.Search.Side.Resource == verdict.NotKnown
	}
	return m.Run != nil && verdict.LimitingRate(&m.Run.Run).Resource == verdict.NotKnown
}

// runs returns the run of a cell, or those of its search.
func (m Measured) runs() []*result.Run {
	if m.Run != nil {
		return []*result.Run{&m.Run.Run}
	}
	return m.Trials
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
	return limit == result.ResourceCPU || limit == result.ResourceServers ||
		strings.HasPrefix(limit, result.ResourceHost)
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
	case several:
		return several
	case "":
		return "no known resource"
	}
	return "the " + limit
}

// ownLimit reports whether plimsoll limited the figure of a run.
func (f Figure) ownLimit(m Measured) bool {
	return m.Run != nil && f.limit(m) == verdict.SideGenerator
}

// changing says what was wrong with a cell's round, so that its figure must not be ranked: the
// system broke a promise, its servers were still changing, or the figure is a latency of an
// overloaded run, or one that is too long for its window; empty: it may be.
func (m Measured) changing(f Figure) string {
	if m.Run == nil {
		return ""
	}
	ranked, why := m.ranking()
	switch {
	case why.Code == verdict.Promise:
		return why.Sentence
	case why.Code == verdict.Steady || ranked == verdict.RatesRanked && f.IsLatency():
		return "was " + why.Sentence
	}
	return f.queued(m)
}

// ranking returns which figures of a cell's run may be ranked, as if plimsoll had not limited it.
func (m Measured) ranking() (verdict.Ranking, result.Warning) {
	run := m.Run.Run
	run.Summary.Generator.Limited = false
	return verdict.RankingOf(&run)
}

// unsteady says in a word how the servers of a run were still changing; empty: they were not, or
// the cell has no run.
func (m Measured) unsteady() string {
	if m.Run == nil {
		return ""
	}
	if _, why := m.ranking(); why.Code == verdict.Steady {
		return why.Sentence
	}
	return ""
}

// aLoadItCarries decides a claim whose system did not carry its load.
const aLoadItCarries = "a load that it carries"

// unfit says why a claim must not be decided by a cell's figure: the load limited it, its servers
// were still changing, or the figure is a latency of a system that fell behind; nil: it may be.
func (f Figure) unfit(m Measured) *Doubt {
	switch f.limit(m) {
	case verdict.SideGenerator:
		return &Doubt{"was limited by plimsoll itself", "more cores for the load"}
	case verdict.SideWorkload:
		return &Doubt{"was limited by the workload's bound of messages in flight",
			"a greater max_in_flight"}
	}
	if f.OfSearch() && m.open() {
		return &Doubt{"met no limit in the time of its search", "a longer search"}
	}
	if why := m.changing(f); why != "" {
		decides := aLoadItCarries
		if m.unsteady() != "" {
			decides = "a longer warm-up"
		}
		return &Doubt{why, decides}
	}
	return nil
}

// open reports whether a search ended before it met a rate that was not stable: the peak may be
// anywhere above.
func (m Measured) open() bool {
	return m.Search != nil && m.Search.Bracket.StableRate > 0 && m.Search.Bracket.UnstableRate <= 0
}

// peak returns the highest stable rate of a search that met a limit of the system, in messages per
// second; 0: there is none, and what the search found is no peak, but a rate that it carries.
func (m Measured) peak() float64 {
	if m.Search == nil || m.open() || ofLoad(m.limit()) {
		return 0
	}
	return m.Search.Bracket.StableRate
}

// mostOfWindow is the share of a window above which a latency is a measure of the window's length:
// fewer than four such latencies fit into it, so it does not show whether they still grow.
const mostOfWindow = 0.25

// queued says that a latency is too long for its window; empty: it is not.
func (f Figure) queued(m Measured) string {
	v, known := f.Value(m)
	if !f.IsLatency() || !known {
		return ""
	}
	window := float64(m.Run.Run.Summary.WindowNs)
	if window <= 0 || v <= mostOfWindow*window {
		return ""
	}
	return fmt.Sprintf("fell behind: a latency of %s in a window of %s is a measure of the "+
		"window's length", f.Unit.Print(v), f.Unit.Print(window))
}

// sameLimit reports whether the same resource limited two sides, or none.
func sameLimit(of, to side) bool {
	a, b := of.limit(), to.limit()
	return a != several && (a == b || cores(a) && cores(b))
}

// unlike says why two sides cannot be compared: their limits differ; nil: they can. A limit bounds
// a rate and lengthens a latency, CPU time depends on how busy the cores are, and memory on how
// much was sent. A limit does not change what is written of a message.
func (f Figure) unlike(of, to side) *Doubt {
	if f.Name == "written" {
		return nil
	}
	if unseen, seen := &of, &to; of.unobserved() != to.unobserved() {
		if to.unobserved() {
			unseen, seen = seen, unseen
		}
		return &Doubt{fmt.Sprintf("the resources of %s were not observed, as those of %s were",
			unseen.at, seen.at), "servers that plimsoll starts, or whose processes it may read"}
	}
	if sameLimit(of, to) {
		return nil
	}
	a, b := of.limit(), to.limit()
	return &Doubt{fmt.Sprintf("the limits differ: %s in %s, %s in %s", nameOf(a), of.at, nameOf(b),
		to.at), "a machine on which one resource limits both"}
}

// oneSided says how the ratio would move with more of a resource that limited one side alone. It is
// empty unless one side has one limit, the other was seen to have none, and the answer would stay
// the same.
func (q *question) oneSided(ratio float64, of, to side) (why string) {
	limited, other := &of, &to
	if of.limit() == "" {
		limited, other = other, limited
	}
	limit := limited.limit()
	word := q.moves(ratio, limited == &of, true)
	if limit == "" || limit == several || ofLoad(limit) || !other.unlimited() || word == "" {
		return ""
	}
	return fmt.Sprintf("%s was the limit in %s alone, and with more of it the ratio could only "+
		"be %s", nameOf(limit), limited.at, word)
}

// moves says whether the ratio would be greater or smaller if the system of one side did better: if
// its rate were higher, or its latency shorter; not better: worse. It is empty if the answer might
// change, for other figures, and for two figures of one cell, which change together.
func (q *question) moves(ratio float64, of, better bool) string {
	rate := q.figure.isRate() && q.figure.Name != figure.PerCore
	grows := of == (rate == better)
	switch {
	case q.claim.ofOne() || !rate && !q.figure.IsLatency() || !q.claim.settled(ratio, grows):
		return ""
	case grows:
		return "greater"
	}
	return "smaller"
}

// limited relates the ratio to the resource that limited both sides: a rate is divided by the
// resource's use, except in rounds that something else limited. For other figures the ratio is
// unchanged.
func (q *question) limited(r *Reply, limit string, of, to side) {
	r.About = "with " + nameOf(limit) + " near its limit on both sides"
	use := func(m Measured) float64 {
		is := q.figure.limit(m)
		if is != "" && is != limit && (!cores(is) || !cores(limit)) {
			return 0
		}
		return mean(q.figure.perUse(m, limit))
	}
	a, b := of.values(use), to.values(use)
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
	if q.ratio(r, of, to, use, use); r.Rounds > 1 {
		return
	}
	r.Low, r.High = 0, 0
	if len(of.rounds) != 1 || len(to.rounds) != 1 || !cores(limit) {
		return
	}
	if one, other := of.rounds[0].m, to.rounds[0].m; one.Run != nil && other.Run != nil {
		r.Low, r.High = Figure{figure.Named(figure.PerCore)}.interval(one, other)
	}
}

// mean returns the geometric mean of values above 0; 0: there are none.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

func (f Figure) isRate() bool {
	return f.Unit == figure.PerSecond || f.Unit == figure.BytesPerSecond
}

// perUse returns a rate divided by the use of a resource: for a search in each trial within its
// bracket, otherwise in the run. It is empty for other figures, and if the use is unknown.
func (f Figure) perUse(m Measured, resource string) (out []float64) {
	if !f.isRate() || f.Name == "catch_up" || f.OfSearch() && m.Run != nil {
		return nil // of a part of the run, whose use is unknown, or of no run at all
	}
	for _, r := range m.runs() {
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
		size := f.ofRate(of.Search) / f.ofRate(to.Search)
		return size * a.StableRate / b.UnstableRate, size * a.UnstableRate / b.StableRate
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
