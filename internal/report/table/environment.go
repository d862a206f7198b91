package table

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Evidence has what the live cluster reported on its durability.
func Evidence(d result.Durability) document.Table {
	t := document.Table{ID: "evidence", Title: "What the live cluster reported",
		Head: document.Heads("fact", "value", "source"), Words: true,
		Empty: "The cluster was not asked, or did not answer."}
	if d.Stated {
		t.Title = "What is stated, because the servers do not show it, and what they reported"
	}
	for _, f := range d.Evidence {
		t.Add(f.Where, f.Name, f.Value, f.Source)
	}
	return t
}

// Settings is every resolved setting.
func Settings(all []result.Setting) document.Table {
	t := document.Table{ID: "settings", Title: "Settings, defaults spelled out", Words: true,
		Head: document.Heads("setting", "value"), Empty: "No settings are on record."}
	for _, s := range all {
		t.Add(s.Group, s.Name, s.Value)
	}
	return t
}

// Environment is the system and the machine of the run.
func Environment(r *result.Run) document.Table {
	t := document.Table{ID: "environment", Title: "Environment", Head: document.Heads("value"),
		Words: true,
		Empty: "No environment is on record."}
	add := func(name, value string) {
		if value = document.Clean(value); value != "" {
			t.Add(name, value)
		}
	}
	add("client library", r.System.Client)
	add("servers", strings.Join(phrase.Repeated(r.System.Servers), ", "))
	add("endpoints", strings.Join(r.System.Endpoints, ", "))
	add("client's spread of messages without a key", r.System.ClientSpread)
	if d := r.System.Redelivery; d != nil {
		add("redelivery", d.Why)
	}
	add("order", r.System.Unordered)
	add("bill", fact.Bill(r.Bill))
	e := r.Environment
	if r.System.Name != "" && !fact.Imported(r) {
		add("load and servers on one machine", phrase.YesNo(r.System.SharesHost))
	}
	for _, h := range r.System.Hosts {
		add("host "+h.Name, fact.Processors(h.Address+" on "+h.Machine, h.Cores))
	}
	add("machine", e.Hostname)
	add("operating system", e.OS+" "+e.Kernel)
	add("CPU", e.CPU)
	if e.Cores > 0 {
		add("cores", fmt.Sprintf("%d (GOMAXPROCS %d)", e.Cores, e.GoMaxProcs))
	}
	if a := e.Apart; a != nil {
		add("CPUs of servers and load", a.String())
	}
	if e.MemoryBytes > 0 {
		add("memory", quantity.Bytes(e.MemoryBytes))
	}
	add("virtualization", e.Virtual)
	add("proved", fact.Proof(e.Proof))
	add("clock", e.Clock)
	add("file system of the data", e.DataFS)
	add("plimsoll", r.Plimsoll.Version+" "+r.Plimsoll.Commit+" "+r.Plimsoll.Go)
	return t
}

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

// Workers shows the processes of a fleet. Without one it is empty and is not shown.
func Workers(r *result.Run) document.Table {
	t := document.Table{
		ID: "workers", Title: "The workers", Words: true,
		Head: document.Heads("host", "scheduled", "received", "own lag, p99", "CPU", "memory",
			"clock"),
		Note: "The worker with the greatest own lag decides whether plimsoll was the limit.",
	}
	asked := fact.ChronySaid(r)
	if asked {
		t.Head = append(t.Head, document.Heads("chrony's word")...)
		t.Note += fmt.Sprintf(" chrony's word of the coordinator's clock: %s. It is evidence "+
			"beside the offsets that plimsoll measured, and no figure depends on it.",
			fact.ChronyWords(r.Environment.Chrony))
	}
	for _, w := range r.Workers {
		lag := document.None
		if w.OwnLagCount > 0 {
			lag = quantity.Duration(w.OwnLagP99Ns)
		}
		row := []string{w.Host, quantity.Count(w.Scheduled), quantity.Count(w.Received), lag,
			phrase.Seconds(w.CPUSeconds), quantity.Bytes(w.PeakRSSBytes), fact.ClockWords(w)}
		if asked {
			row = append(row, fact.ChronyWords(w.Chrony))
		}
		t.Add(w.Name, row...)
	}
	return t
}

// LostWorkers says which workers were lost, and why.
func LostWorkers(r *result.Run) (all []string) {
	for _, w := range r.Workers {
		if w.Lost != "" {
			all = append(all, w.Lost)
		}
	}
	return all
}

// Imported names the source of figures that plimsoll did not measure. It takes the place
// of the table of plimsoll's own figures.
func Imported(r *result.Run) document.Table {
	t := document.Table{ID: "imported", Title: "Source of this run", Head: document.Heads("source"),
		Words: true,
		Note: "Plimsoll did not measure this run. It made no schedule for it, kept no account " +
			"and asked no cluster."}
	t.Add("measured by", r.Imported.Tool)
	t.Add("read from", r.Imported.File)
	t.Add("read by plimsoll", r.Plimsoll.Version)
	return t
}
