package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const (
	// steadyAlpha is the probability that any figure of a steady run is said to have moved.
	steadyAlpha = 0.05
	// steadyBound is the least move that matters, as a share of the lower level. A slope by 20%
	// over the window is a move by 10% between its halves.
	steadyBound = 0.07
	// compileBound is the share of their CPU time from which on servers that compile their own code
	// are cold. It is more than the share at which a warm-up ends, because the run opens topics and
	// clients of its own. Less than leastCompiling of a core is never cold: servers with little to
	// do compile a method from time to time.
	compileBound   = 0.25
	leastCompiling = 0.1
	// leastIntervalNs is the shortest interval whose figures count. The last interval of a window
	// is shorter.
	leastIntervalNs = int64(50e6)
)

// steadyTails are the percentiles of which the highest one stands for the slow messages of a window
// whose intervals all support it: at 1,000 messages a second some do not support p99.
var steadyTails = []float64{99, 95, 90, 75}

// The words for runs that were not steady.
const (
	Cold     = "cold"     // everything that moved became faster or cheaper
	drifting = "drifting" // something became slower or dearer
)

// steady judges whether the servers had levelled off before the measured window: whether the
// latencies of publishing and receiving, and the servers' CPU time per message, kept their levels
// in it. A fall at the window's start counts as much as a slope through it.
func steady(s *result.Saved) result.Verdict {
	if why := whyNotSteady(s); why != "" {
		return say(Steady, result.Unknown, "the window is not judged, because %s", why)
	}
	figures := steadyFigures(s)
	ps := make([]float64, len(figures))
	names := make([]string, len(figures))
	for i, f := range figures {
		ps[i], names[i] = f.move.P, f.name
	}
	var moved []string
	word := Cold
	for i, shown := range stats.Holm(ps, steadyAlpha) {
		m := figures[i].move
		if !shown || math.Abs(m.After-m.Before) <= math.Log1p(steadyBound) {
			continue
		}
		moved = append(moved, figures[i].sentence())
		if m.After > m.Before {
			word = drifting
		}
	}
	if share, much := compiling(&s.Run); much {
		word = Cold
		moved = append([]string{fmt.Sprintf("the servers spent %.0f%% of their CPU time on "+
			"compiling their own code, more than the bound of %.0f%%", share*100,
			compileBound*100)}, moved...)
	}
	switch {
	case len(figures) == 0 && len(moved) == 0:
		return say(Steady, result.Unknown, "the window has too few intervals with "+
			"latencies to tell")
	case len(moved) > 0:
		return say(Steady, result.Broken, "%s: %s: a longer warm-up would show other figures", word,
			strings.Join(moved, "; "))
	}
	return say(Steady, result.Holds,
		"no measurable change by more than %.0f%% within the window in %s", steadyBound*100,
		strings.Join(names, ", "))
}

// compiling returns the share of the servers' CPU time in the window that their virtual machines
// spent on compiling hot code, and whether it is so much that they were cold.
func compiling(r *result.Run) (share float64, much bool) {
	o := &r.Observation
	used, compiled := 0.0, 0.0
	for _, p := range o.Processes {
		if !slices.Contains(o.Servers, p.Name) {
			continue
		}
		used += p.CPUSeconds * 1e9
		if p.CompileNs != nil {
			compiled += float64(*p.CompileNs)
		}
	}
	share = compiled / max(used, 1)
	return share, share > compileBound && compiled > leastCompiling*float64(o.WindowNs)
}

// whyNotSteady says why the window is not judged; empty: it is judged.
func whyNotSteady(s *result.Saved) string {
	r := &s.Run
	switch {
	case r.Backlog != nil:
		return "a backlog was read on purpose"
	case len(r.Faults) > 0:
		return "faults were injected"
	case len(r.Scaling) > 0:
		return "consumers came and went on purpose"
	case varies(r.Load):
		return "the offered rate changed on purpose"
	}
	return ""
}

// unsteady returns the word for a judged run whose servers had not levelled off; empty: no change
// is shown.
func unsteady(r *result.Run) string {
	for _, v := range r.Verdicts {
		if v.Name == Steady && v.Outcome == result.Broken {
			word, _, _ := strings.Cut(v.Sentence, ":")
			return word
		}
	}
	return ""
}

// steadyFigure is a figure by interval, whose level a steady run keeps.
type steadyFigure struct {
	name   string
	atNs   []int64   // when each value begins
	values []float64 // positive, or NaN where an interval has none

	move    stats.Move // of the logarithms
	afterNs int64      // the place of the move, from the first value on
}

// add adds the figure of an interval that had answers: a pause of the system leaves some without.
func (f *steadyFigure) add(startNs, endNs int64, v float64, known bool) {
	if endNs-startNs < leastIntervalNs {
		return
	}
	if !known || v <= 0 || math.IsInf(v, 0) {
		v = math.NaN()
	}
	f.atNs, f.values = append(f.atNs, startNs), append(f.values, v)
}

// judge finds the move of the figure's logarithm. It reports false if a value is missing, or if
// there are too few.
func (f *steadyFigure) judge() bool {
	logs, neighbours, known := stats.LogsOf(f.values)
	if !known {
		return false
	}
	m, ok := stats.MoveOf(logs)
	if ok {
		f.move, f.afterNs = m, f.atNs[m.At*neighbours]-f.atNs[0]
	}
	return ok
}

// sentence says how the figure moved.
func (f *steadyFigure) sentence() string {
	m, word := f.move, "rose"
	if m.After < m.Before {
		word = "fell"
	}
	print := func(v float64) string { return quantity.Duration(int64(math.Exp(v))) }
	return fmt.Sprintf("%s %s from %s to %s, %s into the window", f.name, word, print(m.Before),
		print(m.After), quantity.Duration(f.afterNs))
}

// steadyFigures returns the figures of a window that are known in all of its intervals with
// answers.
func steadyFigures(s *result.Saved) (out []steadyFigure) {
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		if f, ok := latencyFigure(s, series, 50); ok {
			out = append(out, f)
		}
		for _, p := range steadyTails {
			if f, ok := latencyFigure(s, series, p); ok {
				out = append(out, f)
				break
			}
		}
	}
	if f := serversCPU(s); f.judge() {
		out = append(out, f)
	}
	return out
}

// latencyFigure returns a percentile of a series by interval, judged; ok is false where an interval
// lacks it.
func latencyFigure(s *result.Saved, series result.Series, p float64) (f steadyFigure, ok bool) {
	f.name = fmt.Sprintf("%s p%.0f",
		strings.ReplaceAll(string(series), "end_to_end", "end-to-end"), p)
	for _, i := range s.Intervals {
		if l := (result.Summary{Latency: i.Latency}).Series(series); len(l.Percentiles) > 0 &&
			i.Phase == result.PhaseMeasure {
			ns, known := l.At(p)
			f.add(i.StartNs, i.EndNs, float64(ns), known)
		}
	}
	return f, f.judge()
}

// serversCPU returns the CPU time of the servers per message by interval. Servers in plimsoll's own
// process have none.
func serversCPU(s *result.Saved) steadyFigure {
	f := steadyFigure{name: "the servers' CPU time per message"}
	servers := s.Run.Observation.Servers
	if len(servers) == 0 || slices.Contains(servers, result.Self) {
		return f
	}
	acked := ackedBy(s.Intervals)
	for _, r := range s.Resources {
		if r.Phase != result.PhaseMeasure {
			continue
		}
		sum := 0.0
		for _, p := range r.Processes {
			if slices.Contains(servers, p.Name) {
				sum += p.CPUSeconds * 1e9
			}
		}
		before := acked(r.StartNs)
		if n := acked(r.EndNs) - before; n > 0 {
			f.add(r.StartNs, r.EndNs, sum/n, true)
		}
	}
	return f
}

// ackedBy returns the number of messages acknowledged by a time of the run, which grows evenly
// within an interval. It is called with times that do not go back.
func ackedBy(all []result.Interval) func(ns int64) float64 {
	sum, next := 0.0, 0
	return func(ns int64) float64 {
		for ; next < len(all) && all[next].EndNs <= ns; next++ {
			sum += float64(all[next].Acked)
		}
		if next == len(all) || all[next].StartNs >= ns {
			return sum
		}
		i := all[next]
		return sum + float64(i.Acked)*float64(ns-i.StartNs)/float64(i.EndNs-i.StartNs)
	}
}
