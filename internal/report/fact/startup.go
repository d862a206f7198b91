package fact

import (
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Proof states the result of `plimsoll prove` on the machine before the run; empty if
// there was none.
func Proof(p *result.Proof) string {
	if p == nil {
		return ""
	}
	all := p.Held + p.Missed + p.Unknown
	out := fmt.Sprintf("%d of %d planted truths held on this machine on %s", p.Held, all,
		p.At.UTC().Format(time.DateOnly))
	if p.Unknown > 0 {
		out += fmt.Sprintf(", %d could not be decided", p.Unknown)
	}
	if p.Missed > 0 {
		out += fmt.Sprintf(", %d missed: %s", p.Missed, strings.Join(p.MissedTruths, ", "))
	}
	return out
}

// crowd is the least number of partitions, or of clients, at which the start and the memory
// are shown beside the figures.
const crowd = 100

// StartupSteps are the parts of a start, in order.
func StartupSteps(s result.Startup) (all []document.Fact) {
	for _, step := range []struct {
		name string
		ns   int64
	}{{"start servers", s.ServersNs}, {"connect", s.ConnectNs - s.ServersNs},
		{"create topics", s.TopicsNs},
		{"read durability back", s.ReadBackNs}, {"open clients", s.OpenNs},
		{"prove every partition and subscription", s.ReadyNs}} {
		if step.ns > 0 {
			all = append(all, document.Fact{Name: step.name, Value: quantity.Duration(step.ns)})
		}
	}
	return all
}

// Startup gives the start-up time and the memory of a crowd; empty if they are unknown or
// there is no crowd.
func Startup(r *result.Run) string {
	s, l := r.Startup, r.Load
	clients := l.Topics * (l.Producers + l.Subscriptions*l.Consumers)
	if s.TotalNs() == 0 || max(l.AllPartitions(), clients) < crowd {
		return ""
	}
	var steps []string
	for _, step := range StartupSteps(s) {
		steps = append(steps, step.Value+" to "+step.Name)
	}
	out := fmt.Sprintf("%s: %s (%s)", quantity.Duration(s.TotalNs()), strings.Join(steps, ", "),
		phrase.Plural(s.Proofs, "message", "messages"))
	if peak := max(s.RSSBytes, r.Summary.Generator.PeakRSSBytes); peak > 0 {
		out += fmt.Sprintf("; at most %s of memory", quantity.Bytes(peak))
		if figure.Embedded(r.Observation) {
			out += ", including servers in plimsoll's process"
		}
	}
	return out
}

// Warming says how servers were warmed up before they were measured; empty: they were not.
func Warming(w *result.Warming) string {
	if w == nil {
		return ""
	}
	out := fmt.Sprintf("warmed for %s", quantity.Duration(w.Ns))
	switch {
	case w.Steady:
		out += " until steady"
	case w.Why != "":
		out += ", and not steady (" + w.Why + ")"
	}
	load, p50 := "", "publish p50 under this load"
	if w.RateMsgsPerS > 0 {
		load = ", as fast as they could and then at " + quantity.Rate(w.RateMsgsPerS)
		p50 = "publish p50"
	}
	switch {
	case w.CPULastNs > 0:
		out += fmt.Sprintf("%s: the servers' CPU per message went from %s to %s, %s from %s to %s",
			load, quantity.Duration(int64(w.CPUFirstNs)), quantity.Duration(int64(w.CPULastNs)),
			p50, quantity.Duration(int64(w.P50FirstNs)), quantity.Duration(int64(w.P50LastNs)))
	case w.P50LastNs > 0:
		out += fmt.Sprintf("%s: %s went from %s to %s", load, p50,
			quantity.Duration(int64(w.P50FirstNs)), quantity.Duration(int64(w.P50LastNs)))
	}
	if w.CompileFirst != nil && w.CompileLast != nil {
		out += fmt.Sprintf("; compiling their own code took %s of their CPU time, %s at the end",
			phrase.Share(*w.CompileFirst, 1), phrase.Share(*w.CompileLast, 1))
	}
	if w.PauseNs > 0 {
		out += fmt.Sprintf("; then a pause of %s", quantity.Duration(w.PauseNs))
	}
	if w.Shared {
		out += ", once for all runs on these servers"
	}
	return out
}
