package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// maxMethods bounds the sentences on how figures were found.
const maxMethods = 50

// costBlocks show the cost of a run.
func costBlocks(s *result.Saved) []document.Block {
	c := figure.NewCost(&s.Run)
	small, flat, unknown := chart.Usage(s)
	whose := fact.AtTheEnd(&s.Run,
		"The run ended before it added up its resource use in the measured "+
			"window, so there are lines and no figures.")
	switch {
	case c.Observed():
		whose = whoseCost(c)
	case small == nil:
		whose = fact.AtTheEnd(&s.Run,
			"The resource use of servers and machine was not observed in "+
				"this run.")
	}
	if s.Price != nil {
		whose += " Price: " + price.Sentence(s.Price) + "."
	}
	out := []document.Block{part.Paragraph(document.Note, whose)}
	if c.Observed() {
		out = append(out, document.Block{Cards: []document.Card{cpuCard(c), diskCard(c),
			syncCard(c), memoryCard(c), limitCard(c.Run)}})
	}
	out = append(out, document.Block{Row: part.Charts(small...)})
	for _, w := range []struct {
		why string
		of  []string
	}{{"zero throughout", flat}, {"unknown", unknown}} {
		if len(w.of) > 0 {
			out = append(out, part.Paragraph(document.Note, fact.AtTheEnd(&s.Run,
				"No chart, because "+w.why+": "+strings.Join(w.of, "; ")+".")))
		}
	}
	if c.Observed() {
		out = append(out, part.Table(processTable(c)), document.Block{Row: []document.Block{
			part.Table(shareTable(&s.Run)), part.Table(machineTable(&s.Run))}})
	}
	return append(out, part.Folded("How these figures were found, and why some are missing",
		document.Block{Facts: part.Facts("", "", methods(&s.Run)...)}))
}

// whoseCost says which processes the figures describe.
func whoseCost(c figure.Cost) string {
	switch {
	case c.Embedded:
		return "The servers ran inside plimsoll's own process: their resource use cannot be told " +
			"from that of the load generator, so each figure of the servers includes the load " +
			"generator."
	case len(c.Servers) == 0:
		return "No server's process could be observed, so these figures describe plimsoll and " +
			"its machine."
	}
	out := fmt.Sprintf("Over the measured window, of %s",
		phrase.Plural(len(c.Servers), "server process", "server processes"))
	if c.Own != nil {
		out += " and of plimsoll, each apart"
	}
	return out + "."
}

// costCard begins a card with a figure that may not be known.
func costCard(label string, u figure.Unit, v float64, known bool) document.Card {
	out := document.Card{Label: label}
	out.Number, out.Unit = part.Unit(u.Known(v, known))
	return out
}

func cpuCard(c figure.Cost) document.Card {
	v, ok := c.MsgsPerCoreSecond()
	out := costCard("Msgs per core-second", figure.PerSecond, v, ok)
	out.Unit = strings.TrimSuffix(out.Unit, "/s")
	perMessage := func(ns float64, ok bool) string {
		if !ok {
			return document.None
		}
		return phrase.Nanoseconds(ns) + "/msg"
	}
	if c.Embedded {
		out.Add("per message", figure.Nanoseconds.Known(c.ServerCPU()))
	} else {
		out.Add("servers", perMessage(c.ServerCPU()))
		out.Add("plimsoll", perMessage(c.OwnCPU()))
	}
	total, ok := c.ServerCPUSeconds()
	out.Add("cores used", figure.Number.Known(total/max(c.Seconds, 1e-9), ok))
	if c.Embedded {
		out.Add("", "plimsoll's own included")
	}
	return out
}

func diskCard(c figure.Cost) document.Card {
	v, ok := c.Amplification()
	out := costCard("Write amplification", figure.Number, v, ok)
	if out.Number != document.None {
		out.Unit = "×"
	}
	out.Add("to disks", figure.BytesPerSecond.Known(c.WrittenPerSecond()))
	out.Add("from disks", figure.BytesPerSecond.Known(c.PerSecond(figure.Read)))
	return out
}

func syncCard(c figure.Cost) document.Card {
	v, ok := c.EachNode(figure.Syncs)
	out := costCard("fsyncs/s, each node", figure.Number, v, ok)
	out.Add("per message", figure.Number.Known(c.PerMessage(figure.Syncs)))
	if v, ok := c.EachNode(figure.MapSyncs); ok && v > 0 {
		out.Add("msyncs/s", phrase.Rounded(v))
	}
	if l := c.Run.Observation.Limits; l != nil && len(l.SyncLatency) > 0 &&
		l.SyncLatency[0].Count > 0 {
		out.Add("fdatasync, idle", latency.At(l.SyncLatency[0], 50))
	}
	return out
}

func memoryCard(c figure.Cost) document.Card {
	label := "Server memory"
	if c.Embedded {
		label = "Memory, with plimsoll"
	}
	v, ok := c.Memory()
	out := costCard(label, figure.Bytes, v, ok)
	if c.Own != nil {
		out.Add("plimsoll", quantity.Bytes(c.Own.RSSBytes))
	}
	out.Add("page cache", quantity.Bytes(c.Run.Observation.Host.PageCacheBytes))
	out.Add("of it dirty", quantity.Bytes(c.Run.Observation.Host.DirtyBytes))
	return out
}

// limitCard names the limiting resource beside the shares of all.
func limitCard(r *result.Run) document.Card {
	l := verdict.Limiting(r)
	out := document.Card{Label: "Limiting resource", Number: document.Clean(l.Resource),
		Tone: part.BadIf(l.Resource == verdict.Generator), Word: true}
	for _, s := range verdict.Shares(r) {
		out.Add(document.Clean(s.Resource), phrase.Share(s.Share, 1))
	}
	return out
}

// processTable is the resource use of each process.
func processTable(c figure.Cost) document.Table {
	t := document.Table{ID: "processes", Title: "Each process",
		Note: "Over the measured window. Compiling is the share of the CPU time that a " +
			"virtual machine took for compiling hot code. Memory is the greatest value; a " +
			"figure that the kernel did not report is left out (–).",
		Head: document.Heads("cores", "CPU per message", "compiling", "memory", "written", "read",
			"fsyncs", "msyncs", "sent", "received"), Empty: "No process was observed."}
	for _, p := range c.Run.Observation.Processes {
		name := document.Clean(p.Name)
		switch {
		case c.Embedded && p.Name == result.Self:
			name = "plimsoll, servers inside"
		case p.Name != result.Self && slices.ContainsFunc(c.Servers,
			func(server result.ProcessUse) bool { return server.Name == p.Name }):
			name += ", server"
		}
		per := func(v *int64, printed func(float64) string) string {
			if v == nil {
				return document.None
			}
			return printed(float64(*v) / c.Seconds)
		}
		count := func(v float64) string { return phrase.Rounded(v) + "/s" }
		compiling := document.None
		if p.CompileNs != nil && p.CPUSeconds > 0 {
			compiling = phrase.Share(float64(*p.CompileNs)/1e9/p.CPUSeconds, 1)
		}
		each := figure.Nanoseconds.Known(p.CPUSeconds*1e9/max(c.Messages, 1e-9), c.Messages > 0)
		t.Add(name, phrase.Rounded(p.CPUSeconds/c.Seconds), each, compiling,
			quantity.Bytes(p.RSSBytes), per(p.WriteBytes, phrase.BytesPerSecond), per(p.ReadBytes,
				phrase.BytesPerSecond), per(p.Syncs, count), per(p.MapSyncs, count),
			per(p.NetSentBytes, phrase.BytesPerSecond), per(p.NetReceivedBytes,
				phrase.BytesPerSecond))
	}
	return t
}

// shareTable is the share of each of the machine's limits.
func shareTable(r *result.Run) document.Table {
	l := verdict.Limiting(r)
	t := document.Table{ID: "shares", Title: "Share of this machine's limits",
		Head: document.Heads("used", "share"),
		Note: "Limiting resource: " + document.Clean(l.Resource) + ". " +
			sentenceCase(document.Clean(l.Sentence)) +
			". A share is a mean over the measured window; a resource counts as limiting from " +
			"80% on.",
		Empty: "No limit of this machine is known."}
	for _, s := range verdict.Shares(r) {
		of := map[string]string{"disk": ", sequential writes", "loopback": " bandwidth"}[s.Resource]
		bar := 0
		if phrase.Finite(s.Share) {
			bar = int(math.Round(min(max(s.Share, 0), 1) * 100))
		}
		t.Add(s.Resource+of, verdict.UsedOf(s), phrase.Share(s.Share, 1))
		t.Rows[len(t.Rows)-1].Values[1].Bar = bar
	}
	return t
}

// machineTable is the resource use of the whole machine.
func machineTable(r *result.Run) document.Table {
	o := r.Observation
	t := document.Table{ID: "machine", Title: "The machine", Head: document.Heads("mean")}
	cpu := func(name string, seconds float64) {
		v, known := verdict.HostShare(r, seconds)
		if !known {
			v = math.NaN()
		}
		t.Add(name, phrase.Share(v, 1))
	}
	cpu("CPU busy", o.Host.CPUSeconds)
	cpu("CPU idle, waiting for a disk", o.Host.IOWaitSeconds)
	cpu("CPU stolen by the hypervisor", o.Host.StealSeconds)
	for _, p := range []struct {
		name string
		v    *float64
	}{{"CPU", o.Host.PressureCPU}, {"disks", o.Host.PressureIO},
		{"memory", o.Host.PressureMemory}} {
		if p.v != nil {
			t.Add("some task waited for "+p.name, phrase.Share(*p.v, 1))
		}
	}
	seconds := float64(max(o.WindowNs, 1)) / 1e9
	for _, d := range o.Disks {
		if d.ReadBytes+d.WriteBytes > 0 {
			name := "disk " + document.Clean(d.Name)
			t.Add(name+", written", phrase.BytesPerSecond(float64(d.WriteBytes)/seconds))
			t.Add(name+", read", phrase.BytesPerSecond(float64(d.ReadBytes)/seconds))
			t.Add(name+", busy", phrase.Share(d.Utilization, 1))
		}
	}
	t.Add("page cache, greatest", quantity.Bytes(o.Host.PageCacheBytes))
	t.Add("of it not yet on disk, greatest", quantity.Bytes(o.Host.DirtyBytes))
	return t
}

// methods says how figures were measured, and with which limits they are compared.
func methods(r *result.Run) []string {
	o := r.Observation
	var out []string
	for _, m := range o.Methods {
		if m = document.Clean(m); m != "" && len(out) < maxMethods {
			out = append(out, sentenceCase(m)+".")
		}
	}
	if o.WindowNs <= 0 {
		return out
	}
	if o.Limits == nil {
		if slices.ContainsFunc(out,
			func(m string) bool { return strings.Contains(m, "calibrate") }) {
			return out
		}
		return append(out,
			"This machine's limits were not calibrated, so there are no shares of its disk and "+
				"its loopback: run plimsoll calibrate once.")
	}
	l := o.Limits
	how := "through the page cache"
	if l.DirectIO {
		how = "with direct I/O"
	}
	limits := fmt.Sprintf(
		"The machine's limits were measured at %s: %s sequential writes %s (%s), %s over the "+
			"loopback",
		document.Clean(l.MeasuredAt), phrase.BytesPerSecond(l.SequentialWriteBytes), how,
		document.Clean(l.Dir), phrase.BytesPerSecond(l.LoopbackBytes))
	if len(l.SyncLatency) > 0 && l.SyncLatency[0].Count > 0 {
		limits += fmt.Sprintf(", fdatasync of 4KB p50 %s, p99 %s", latency.At(l.SyncLatency[0], 50),
			latency.At(l.SyncLatency[0], 99))
	}
	return append(out, limits+".")
}

// sentenceCase capitalizes a phrase, without a full stop.
func sentenceCase(s string) string { return phrase.Upper(strings.TrimSuffix(s, ".")) }

// costSentence gives the cost of a message. It is empty when nothing was observed.
func costSentence(r *result.Run) string {
	c := figure.NewCost(r)
	if !c.Observed() {
		return ""
	}
	var out string
	server, ok := c.ServerCPU()
	own, okOwn := c.OwnCPU()
	switch {
	case ok && c.Embedded:
		out = fmt.Sprintf("%s of CPU per message, servers and plimsoll in one process",
			phrase.Nanoseconds(server))
	case ok:
		perCore, _ := c.MsgsPerCoreSecond()
		out = fmt.Sprintf("%s of server CPU per message (%s per core-second)",
			phrase.Nanoseconds(server), phrase.Plural(int64(math.Round(perCore)), "message",
				"messages"))
	default:
		out = "the servers were not observed"
	}
	if okOwn {
		out += fmt.Sprintf(", %s of plimsoll's", phrase.Nanoseconds(own))
	}
	if v, ok := c.Amplification(); ok {
		out += fmt.Sprintf("; %s bytes written per byte published", phrase.Rounded(v))
	}
	if s := syncSentence(c); s != "" {
		out += "; " + s
	}
	return out
}

// syncSentence says how often the servers flushed their writes to disk.
func syncSentence(c figure.Cost) string {
	each, ok := c.EachNode(figure.Syncs)
	switch {
	case !ok:
		return ""
	case each == 0:
		return "no fsync"
	}
	out := phrase.Rounded(each) + " fsyncs per second on each node"
	if v, ok := c.PerMessage(figure.Syncs); ok {
		out += ", " + phrase.Rounded(v) + " per message over all nodes"
	}
	return out
}

// limitSentence names the resource near its limit. It is empty when nothing was observed and
// plimsoll was not the limit.
func limitSentence(r *result.Run) string {
	l := verdict.Limiting(r)
	if l.Resource == verdict.NotKnown && !figure.NewCost(r).Observed() {
		return ""
	}
	return "limiting resource: " + document.Clean(l.Resource) + "; " + document.Clean(l.Sentence)
}
