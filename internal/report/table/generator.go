package table

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Generator is plimsoll's own figures.
func Generator(r *result.Run) document.Table {
	t := document.Table{
		ID: "generator", Title: "The load generator", Head: document.Heads("figure"), Words: true,
		Empty: "Nothing was measured.",
		Note: "A result is only as good as the tool that made it. " +
			"When plimsoll itself was the limit, the run is marked and must not be ranked.",
	}
	s := r.Summary
	if s.WindowNs <= 0 {
		return t
	}
	g := s.Generator
	t.Add("was the limit", phrase.YesNo(g.Limited))
	lag := quantity.Duration(g.OwnLagP99Ns)
	if g.OwnLagCount > 0 {
		lag += " (of " + phrase.Plural(g.OwnLagCount, "message", "messages") + ")"
	}
	t.Add("own lag, p99", lag)
	if known := r.Environment.ThreadStates; known != "" {
		t.Add("waits in Send measured by", known)
	}
	if g.SimulatedLateP99Ns > 0 {
		t.Add("lateness of the simulated system's answers, p99",
			quantity.Duration(g.SimulatedLateP99Ns))
	}
	t.Add("time that the system blocked producers, summed", phrase.Seconds(g.BlockedSeconds))
	t.Add("CPU time (with embedded servers)",
		fmt.Sprintf("%s (%s of all cores)", phrase.Seconds(g.CPUSeconds), phrase.Share(g.CPUShare,
			1)))
	t.Add("longest garbage collection pause", quantity.Duration(g.GCPauseMaxNs))
	t.Add("garbage collections", quantity.Count(g.GCCount))
	t.Add("greatest memory", quantity.Bytes(g.PeakRSSBytes))
	if s.InFlight > 0 {
		t.Add("mean in flight, sampled", phrase.Rounded(s.InFlight))
	}
	t.Add("from start to the first message", quantity.Duration(s.FirstMessageNs))
	if r.Startup.TotalNs() > 0 {
		for _, step := range fact.StartupSteps(r.Startup) {
			t.Add("start-up: to "+step.Name, step.Value)
		}
		t.Add("start-up: messages of the proof", quantity.Count(r.Startup.Proofs))
		t.Add("start-up: memory when ready", quantity.Bytes(r.Startup.RSSBytes))
		t.Add("start-up: goroutines when ready", quantity.Count(r.Startup.Goroutines))
	}
	return t
}
