package fact

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// DurabilityOf is Durability, and why the run is at a weaker level than its workload.
func DurabilityOf(r *result.Run) string {
	if Running(r) && r.Durability.Level == 0 {
		return "not read back from the cluster yet"
	}
	out := Durability(r.Durability)
	if weaker := document.Clean(r.Asked.Weaker); weaker != "" {
		out += "; " + weaker
	}
	return out
}

// Durability gives the level asked for and the level read back from the cluster.
func Durability(d result.Durability) string {
	out := phrase.Level(d.Asked) + " asked, "
	switch {
	case d.Asked == 0 && d.Level == 0:
		return "no level is on record"
	case d.Level == 0:
		out += "not read back from the cluster"
	case d.Stated:
		out += "stated and not read back from the servers alone"
	case d.Asked == 0:
		out = phrase.Level(d.Level) + " read back from the cluster, none asked"
	case d.Asked != d.Level:
		out += "but " + phrase.Level(d.Level) + " read back from the cluster"
	default:
		out += phrase.Level(d.Level) + " read back from the cluster"
	}
	if m := document.Clean(d.Meaning); m != "" {
		out += ": " + m
	}
	return out
}

// ShortLevel is the level that was read back from the cluster, or else the level asked for.
func ShortLevel(r *result.Run) string {
	switch d := r.Durability; {
	case d.Level > 0:
		return fmt.Sprint(d.Level) + phrase.SingleCopy(d)
	case d.Asked > 0:
		return fmt.Sprintf("%d asked", d.Asked)
	}
	return document.None
}

// Clients says what the settings of clients aim at, and what that set; empty: it is not on
// record.
func Clients(c *result.Clients) string {
	if c == nil {
		return ""
	}
	out := document.Clean(c.Word) + " (" + document.Clean(c.Meaning) + ")"
	if set := settingWords(c.Set); set != "" {
		out += ": " + set
	}
	if how := document.Clean(c.How); how != "" {
		out += "; " + how
	}
	if kept := settingWords(c.Kept); kept != "" {
		out += "; the target's own values hold instead: " + kept
	}
	return out
}

func settingWords(all []result.Setting) string {
	var out []string
	for _, s := range all {
		out = append(out, document.Clean(s.Name)+" "+document.Clean(s.Value))
	}
	return strings.Join(out, ", ")
}

// Wait says what a wait is a part of.
func Wait(w result.Wait) string {
	if w.Series == "" {
		return document.Clean(w.Sentence) + ", which no latency includes"
	}
	return "part of " + phrase.SeriesTitle(w.Series) + " latency: " + document.Clean(w.Sentence)
}

// WaitsIn returns the sentences of the waits that a latency includes. End-to-end latency is shown
// only with waits of its own: those of publish latency are in it too.
func WaitsIn(r *result.Run, series result.Series) (out []string) {
	own := false
	for _, w := range r.System.Waits {
		if w.Series == series || w.Series == result.Publish && series == result.EndToEnd {
			out, own = append(out, document.Clean(w.Sentence)), own || w.Series == series
		}
	}
	if !own {
		return nil
	}
	return out
}

// WaitWords are the longest waits of a latency, with their settings.
func WaitWords(r *result.Run, series result.Series) string {
	var out []string
	for _, w := range r.System.Waits {
		if w.Series == series {
			out = append(out, fmt.Sprintf("up to %s (%s)", quantity.Duration(w.MostNs),
				document.Clean(w.Setting)))
		}
	}
	return strings.Join(out, ", ")
}

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

// ClockWords says how a worker's clock relates to the coordinator's.
func ClockWords(w result.Worker) string {
	if w.SameClock {
		return "the coordinator's"
	}
	return fmt.Sprintf("offset %s ± %s", quantity.Duration(w.ClockOffsetNs),
		quantity.Duration(w.ClockBoundNs))
}

// ChronySaid reports whether chrony answered on any machine of a fleet.
func ChronySaid(r *result.Run) bool {
	return r.Environment.Chrony != nil ||
		slices.ContainsFunc(r.Workers, func(w result.Worker) bool { return w.Chrony != nil })
}

// ChronyWords is what chrony says of a machine's clock.
func ChronyWords(c *result.Chrony) string {
	if c == nil {
		return document.None
	}
	if !c.Synchronised {
		return "not synchronised"
	}
	side, ns := "behind", c.BehindNs
	if ns < 0 {
		side, ns = "ahead", -ns
	}
	return fmt.Sprintf("stratum %d, %s %s ± %s", c.Stratum, quantity.Duration(ns), side,
		quantity.Duration(c.BoundNs))
}

// Clocks say how far the clocks at the two ends of a latency can be apart.
func Clocks(s result.Summary) (all []string) {
	for _, l := range s.Latency {
		if l.ErrorNs > 0 && l.Series == result.EndToEnd {
			all = append(all, fmt.Sprintf("end-to-end latency is from one worker's clock to "+
				"another's, which are at most %s apart: percentiles below %s are refused; --pair "+
				"keeps each topic on one worker and one clock", quantity.Duration(l.ErrorNs),
				quantity.Duration(result.ErrorShare*l.ErrorNs)))
		}
	}
	return all
}
