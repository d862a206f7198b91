package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// terminalPercentiles are the percentiles that a terminal shows.
var terminalPercentiles = []float64{50, 90, 99, 99.9, 99.99}

// percentileTable is every figure of every latency series; a terminal has the most important.
func percentileTable(r *result.Run) document.Table {
	s := r.Summary
	t := document.Table{
		ID: "latency", Title: ofArrivals("Latency", r.Load),
		Empty: "No message was measured.",
		Note: "Over the measured window, from one histogram of all messages: percentiles are " +
			"never averaged. A percentile is left out (–) when fewer than ten messages lie " +
			"beyond it.",
		Head: percentileHead(),
	}
	odd := outOfRange(s)
	if odd {
		t.Head = append(t.Head, document.Column{Name: "clamped", For: document.OnPage},
			document.Column{Name: "negative", For: document.OnPage})
		t.Note += " Clamped values were above one hour and count as one hour; negative values, " +
			"from clocks that disagree, count as zero."
	} else {
		t.Note += " No value was out of range."
	}
	for _, sentence := range append(missingSentences(s), clockSentences(s)...) {
		t.Note += " " + upper(sentence) + "."
	}
	if marked(s) {
		t.Note += " " + ownNote + "."
	}
	for _, l := range latencyRows(s) {
		v := []string{quantity.Count(l.Count), none, none}
		if l.Count > 0 {
			v[1], v[2] = nanoseconds(l.MeanNs), quantity.Duration(l.MinNs)
		}
		for _, p := range result.Percentiles {
			v = append(v, at(l.Latency, p))
		}
		v = append(v, greatest(l.Latency))
		if odd {
			v = append(v, quantity.Count(l.Clamped), quantity.Count(l.Negative))
		}
		t.Add(l.title, v...)
	}
	return t
}

func percentileHead() []document.Column {
	out := heads("messages", "mean", "min")
	for i := range out {
		out[i].For = document.OnPage
	}
	for _, p := range result.Percentiles {
		c := document.Column{Name: percentileName(p), For: document.OnPage}
		if slices.Contains(terminalPercentiles, p) {
			c.For, c.Keep = "", map[float64]int{50: 2, 99: 2, 99.9: 1}[p]
		}
		out = append(out, c)
	}
	return append(out, document.Column{Name: "max", Keep: 2})
}

// latencyRow is a row of a table of latencies.
type latencyRow struct {
	title string
	result.Latency
}

// latencyRows are the rows of a table of latencies: each series that has messages, then its
// messages with a latency where others have none, and plimsoll's own error.
func latencyRows(s result.Summary) []latencyRow {
	var out []latencyRow
	for _, w := range seriesWords {
		l := s.Series(w.series)
		if !counted(l) {
			continue
		}
		title := w.title
		if l.ErrorNs > 0 {
			title += " ± " + quantity.Duration(l.ErrorNs)
		}
		out = append(out, latencyRow{title, l})
		if len(l.Answered) > 0 {
			title := w.title + ", " + answeredWords(w.series)
			out = append(out, latencyRow{title, answered(l)})
		}
	}
	for _, l := range ownErrors(s) {
		out = append(out, latencyRow{"instrument, " + l.title, l.Latency})
	}
	return out
}

// ownErrors are plimsoll's own errors that were measured.
func ownErrors(s result.Summary) []latencyRow {
	if s.Instrument == nil {
		return nil
	}
	return slices.DeleteFunc([]latencyRow{{"publish", s.Instrument.Publish},
		{"end-to-end", s.Instrument.EndToEnd}},
		func(l latencyRow) bool { return !counted(l.Latency) })
}

func outOfRange(s result.Summary) bool {
	return slices.ContainsFunc(s.Latency,
		func(l result.Latency) bool { return l.Clamped > 0 || l.Negative > 0 })
}

// countersTable shows where each scheduled message ended.
func countersTable(r *result.Run) document.Table {
	t := document.Table{
		ID: "counters", Title: "Every scheduled message",
		Note: "Each message that was due ends in exactly one of acknowledged, failed (refused by " +
			"the system), unknown (handed over, no answer) and unsent (never handed over).",
		Head: heads("scheduled", "acknowledged", "failed", "unknown", "unsent", "received"),
	}
	if c := r.Counters; !r.Counted() {
		row := counts(c.Scheduled, c.Acked, c.Failed, 0, 0, c.Received)
		row[3], row[4] = none, none
		t.Add("measured", row...)
		return t
	}
	for _, c := range []struct {
		name string
		c    result.Counters
	}{{"measured", r.Counters}, {"warm-up", r.Warmup}} {
		t.Add(c.name, counts(c.c.Scheduled, c.c.Acked, c.c.Failed, c.c.Unknown, c.c.Unsent,
			c.c.Received)...)
	}
	return t
}

// ledgerTable is the account of each subscription.
func ledgerTable(r *result.Run) document.Table {
	l := r.Ledger
	t := document.Table{
		ID: "ledger", Title: "Account of each subscription",
		Note: "Over the whole run, warm-up included. Lost: acknowledged and never received. " +
			"Reordered: came after a later message of the same lane. A message that was received " +
			"without ever being acknowledged is legal.",
		Head: heads("acknowledged", "received", "lost", "duplicate", "reordered",
			"unacknowledged, received", "corrupt", "foreign"),
		Empty: "The run ended before its messages were accounted for.",
	}
	if !l.Accounted {
		return t
	}
	t.Empty = "There was no subscription, so there is nothing to account for."
	for _, s := range l.Subscriptions {
		row := counts(s.Acked, s.Received, s.Lost, s.Duplicate, s.Reordered, s.Unacked, s.Corrupt,
			s.Foreign)
		row[2] = lostOf(s)
		t.Add(s.Subscription, row...)
	}
	for _, more := range rareCounts {
		if more.of(l.Total()) == 0 {
			continue
		}
		t.Head = append(t.Head, document.Column{Name: more.name})
		for i, s := range l.Subscriptions {
			t.Rows[i].Values = append(t.Rows[i].Values,
				document.Cell{Words: quantity.Count(more.of(s))})
		}
	}
	if l.Total().Unread > 0 {
		t.Note += " Unread: acknowledged and not received, perhaps still to come."
	}
	if l.WatchedNs > 0 {
		t.Note += " Consumers stayed open for " + quantity.Duration(l.WatchedNs) +
			" after the last message: later arrivals were not seen."
	}
	if bound := boundSentence(r); bound != "" {
		t.Note += " Bounds: " + bound + "."
	}
	return t
}

// rareCounts are the columns of the account that are left out where they are 0.
var rareCounts = []struct {
	name string
	of   func(result.SubscriptionLedger) int64
}{
	{"unread", func(s result.SubscriptionLedger) int64 { return s.Unread }},
	{"lost of the warm-up", func(s result.SubscriptionLedger) int64 { return s.LostWarmup }},
	{"overtaken at another consumer",
		func(s result.SubscriptionLedger) int64 { return s.Overtaken }},
	{"came to several workers, order not watched between them",
		func(s result.SubscriptionLedger) int64 { return s.BetweenWorkers }},
	{"reordered, or copies from another worker",
		func(s result.SubscriptionLedger) int64 { return s.ReorderedOrCopies }},
	{"given back", func(s result.SubscriptionLedger) int64 { return s.GivenBack }},
	{"delivered again", func(s result.SubscriptionLedger) int64 { return s.Redelivered }},
	{"misplaced", func(s result.SubscriptionLedger) int64 { return s.Misplaced }},
	{"refused, received", func(s result.SubscriptionLedger) int64 { return s.RefusedReceived }},
	{"transactions in part", func(s result.SubscriptionLedger) int64 {
		return s.PartialTransactions
	}},
}

func lostTable(l result.Ledger) document.Table {
	t := document.Table{ID: "lost", Title: "The first lost messages", Words: true,
		Head: heads("topic", "partition", "producer", "sequence numbers")}
	for _, s := range l.Subscriptions {
		for _, r := range s.LostRanges {
			sequences := strconv.FormatInt(r.First, 10)
			if r.Last != r.First {
				sequences += " to " + strconv.FormatInt(r.Last, 10)
			}
			t.Add(s.Subscription, r.Topic, strconv.Itoa(r.Partition), strconv.Itoa(r.Producer),
				sequences)
		}
	}
	return t
}

func errorTable(errs []result.Error) document.Table {
	t := document.Table{ID: "errors", Title: "Errors that the system returned",
		Head: heads("message"), Words: true}
	for _, e := range errs {
		t.Add(quantity.Count(e.Count)+" ×", e.Message)
	}
	return t
}

// generatorTable is plimsoll's own figures.
func generatorTable(r *result.Run) document.Table {
	t := document.Table{
		ID: "generator", Title: "The load generator", Head: heads("figure"), Words: true,
		Empty: "Nothing was measured.",
		Note: "A result is only as good as the tool that made it. " +
			"When plimsoll itself was the limit, the run is marked and must not be ranked.",
	}
	s := r.Summary
	if s.WindowNs <= 0 {
		return t
	}
	g := s.Generator
	t.Add("was the limit", yesNo(g.Limited))
	lag := quantity.Duration(g.OwnLagP99Ns)
	if g.OwnLagCount > 0 {
		lag += " (of " + plural(g.OwnLagCount, "message", "messages") + ")"
	}
	t.Add("own lag, p99", lag)
	if known := r.Environment.ThreadStates; known != "" {
		t.Add("waits in Send measured by", known)
	}
	if g.SimulatedLateP99Ns > 0 {
		t.Add("lateness of the simulated system's answers, p99",
			quantity.Duration(g.SimulatedLateP99Ns))
	}
	t.Add("time that the system blocked producers, summed", seconds(g.BlockedSeconds))
	t.Add("CPU time (with embedded servers)",
		fmt.Sprintf("%s (%s of all cores)", seconds(g.CPUSeconds), share(g.CPUShare, 1)))
	t.Add("longest garbage collection pause", quantity.Duration(g.GCPauseMaxNs))
	t.Add("garbage collections", quantity.Count(g.GCCount))
	t.Add("greatest memory", quantity.Bytes(g.PeakRSSBytes))
	if s.InFlight > 0 {
		t.Add("mean in flight, sampled", rounded(s.InFlight))
	}
	t.Add("from start to the first message", quantity.Duration(s.FirstMessageNs))
	if r.Startup.TotalNs() > 0 {
		for _, step := range startupSteps(r.Startup) {
			t.Add("start-up: to "+step.Name, step.Value)
		}
		t.Add("start-up: messages of the proof", quantity.Count(r.Startup.Proofs))
		t.Add("start-up: memory when ready", quantity.Bytes(r.Startup.RSSBytes))
		t.Add("start-up: goroutines when ready", quantity.Count(r.Startup.Goroutines))
	}
	return t
}

func evidenceTable(d result.Durability) document.Table {
	t := document.Table{ID: "evidence", Title: "What the live cluster reported",
		Head: heads("fact", "value", "source"), Words: true,
		Empty: "The cluster was not asked, or did not answer."}
	if d.Stated {
		t.Title = "What is stated, because the servers do not show it, and what they reported"
	}
	for _, f := range d.Evidence {
		t.Add(f.Where, f.Name, f.Value, f.Source)
	}
	return t
}

// settingsTable is every resolved setting.
func settingsTable(all []result.Setting) document.Table {
	t := document.Table{ID: "settings", Title: "Settings, defaults spelled out", Words: true,
		Head: heads("setting", "value"), Empty: "No settings are on record."}
	for _, s := range all {
		t.Add(s.Group, s.Name, s.Value)
	}
	return t
}

// environmentTable is the system and the machine of the run.
func environmentTable(r *result.Run) document.Table {
	t := document.Table{ID: "environment", Title: "Environment", Head: heads("value"), Words: true,
		Empty: "No environment is on record."}
	add := func(name, value string) {
		if value = clean(value); value != "" {
			t.Add(name, value)
		}
	}
	add("client library", r.System.Client)
	add("servers", strings.Join(repeated(r.System.Servers), ", "))
	add("endpoints", strings.Join(r.System.Endpoints, ", "))
	add("client's spread of messages without a key", r.System.ClientSpread)
	if d := r.System.Redelivery; d != nil {
		add("redelivery", d.Why)
	}
	add("order", r.System.Unordered)
	add("bill", billSentence(r.Bill))
	e := r.Environment
	if r.System.Name != "" && !imported(r) {
		add("load and servers on one machine", yesNo(r.System.SharesHost))
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
	add("proved", proofSentence(e.Proof))
	add("clock", e.Clock)
	add("file system of the data", e.DataFS)
	add("plimsoll", r.Plimsoll.Version+" "+r.Plimsoll.Commit+" "+r.Plimsoll.Go)
	return t
}

// repeated merges equal neighbours into one text with their number.
func repeated(texts []string) []string {
	var out []string
	for i := 0; i < len(texts); {
		n := 1
		for i+n < len(texts) && texts[i+n] == texts[i] {
			n++
		}
		text := texts[i]
		if n > 1 {
			text = fmt.Sprintf("%d × %s", n, text)
		}
		out = append(out, text)
		i += n
	}
	return out
}
