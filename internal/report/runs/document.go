package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/overview"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/report/table"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Report reports on runs. The page of a run is bounded: time lines longer than a screen are
// thinned so that the least and the greatest value of each stretch are kept.
func Report(runs []*result.Saved) form.Report {
	return form.Report{Measured: runs,
		Document: func() document.Document { return runDocument(runs) },
		Forms:    export.AllForms(runs, func() *document.Poster { return Poster(runs) })}
}

// runDocument shows runs: side by side, then each. A terminal has the comparison alone where
// the runs are many.
func runDocument(runs []*result.Saved) document.Document {
	all := fact.Names(runs)
	d := document.Document{Title: "no runs"}
	switch len(runs) {
	case 0:
		return part.Nothing(d.Title, "runs")
	case 1:
		sure := latency.NewWithin(runs[0])
		answer := runAnswer(runs[0], sure)
		d.Title, d.Brief = all[0], runBrief(runs[0], sure, answer)
		d.Blocks = append(d.Blocks, runSection(0, all[0], runs[0], sure, answer))
	default:
		answer := overview.Answer(runs)
		d.Title = fmt.Sprintf("%d runs side by side", len(runs))
		d.Brief = overview.BriefBlocks(runs, answer)
		d.Blocks = append(append(d.Blocks, overview.Blocks(runs, answer)), foldedRuns(runs)...)
	}
	d.Blocks = append(d.Blocks, howRunsMislead())
	return d
}

// foldedRuns has a section for each of several runs, which a page folds and a terminal leaves out
// where the runs are many.
func foldedRuns(runs []*result.Saved) (out []document.Block) {
	for i, n := range fact.Names(runs) {
		s := runs[i]
		section := runSection(i, n, s, latency.NewWithin(s), "")
		out = append(out, part.Only(document.OnPage, part.Folded(n, section)))
		section.For = document.InText
		if len(runs) >= overview.ManyRuns {
			section.For = document.InMarkdown
			if sentence := price.Sentence(s.Price); sentence != "" {
				out = append(out, part.Only(document.OnTerminal, document.Block{
					Facts: part.Facts("price", "", n+": "+sentence)}))
			}
		}
		out = append(out, section)
	}
	return out
}

// runSection shows a run: its answer and main figures, what restricts them, and then the rest, its
// latency before its cost. Of a run under way, the charts come before its verdicts.
func runSection(i int, name string, s *result.Saved, sure latency.Within,
	answer string) document.Block {
	r, id := &s.Run, fmt.Sprintf("run-%d", i)
	warnings := slices.DeleteFunc(fact.Warnings(s), func(w result.Warning) bool {
		return w.Code == verdict.CodeRunning // its progress says that
	})
	out := []document.Block{
		part.Title(id, name, phrase.Moment(r.StartedAt)+", "+fact.StateWord(r)),
		part.Paragraph(document.Answer, cmp.Or(progressSentence(s), answer)),
		{Cards: cards(r, sure)},
		part.Warnings(fact.Sentences(warnings)),
	}
	page := onPage(id, s, sure)
	if fact.Running(r) { // its charts come first
		out = append(append(out, page...), part.Only(document.OnPage, part.Heading(2, "So far")))
		page = nil
	}
	out = append(out, part.Paragraph(document.Lead, headline(r)),
		part.Paragraph(document.Note, strings.Join(metaWords(r), ", ")),
		document.Block{Facts: part.Facts("format", "", latency.Lacks(r))},
		part.Only(document.OnPage, document.Block{Verdicts: verdictsOf(r.Verdicts)}))
	out = append(append(out, inText(s, sure)...), page...)
	if fact.Running(r) {
		out = soFar(out)
	}
	return document.Block{Section: out}
}

// inText has the figures of a run as sentences, and the tables that fit on a terminal.
func inText(s *result.Saved, sure latency.Within) []document.Block {
	r := &s.Run
	facts := func(all ...[]document.Fact) document.Block {
		return document.Block{For: document.InText, Facts: slices.Concat(all...)}
	}
	show := func(t document.Table) document.Block {
		return part.Only(document.InText, part.Table(t))
	}
	throughput := row.Throughput(r)
	if r.Summary.WindowNs <= 0 {
		throughput = fact.AtTheEnd(r, throughput)
	}
	out := []document.Block{facts(part.Facts("throughput", "", throughput),
		part.Facts("backlog", "", backlogSentence(r.Backlog)),
		part.Facts("effect", "", effectSentence(r.Backlog)))}
	if r.Backlog != nil {
		out = append(out, show(stretchTable(r.Backlog)))
	}
	percentiles := table.Percentiles(r)
	percentiles.Note = ""
	out = append(out, show(percentiles),
		facts(part.Facts("waits", "", latency.Waits(r)...),
			part.Facts("missing", document.Unsure, latency.Missing(r.Summary)...),
			part.Facts("clocks", document.Unsure, fact.Clocks(r.Summary)...),
			part.Facts("instrument", "", latency.InstrumentSentence(r.Summary)),
			part.Facts("proved", "", fact.Proof(r.Environment.Proof)),
			part.Facts("p95", "", minuteSentence(r.Summary.Minutes)),
			part.Facts("intervals", "", sure.Sentence()),
			part.Facts("fault", document.Unsure, table.FaultSentences(r)...)))
	for _, t := range append(effectTables(r), table.Workers(r)) {
		out = append(out, show(t))
	}
	out = append(out, facts(part.Facts("lost", document.Bad, table.LostWorkers(r)...)))
	account := document.Tone("")
	if t := r.Ledger.Total(); r.Ledger.Accounted && t.Lost+t.Corrupt > 0 {
		account = document.Bad
	}
	counters := ""
	if !fact.Imported(r) {
		counters = fact.AtTheEnd(r, fact.Counters(r))
	}
	return append(out,
		facts(part.Facts("account", account, fact.AtTheEnd(r, fact.Account(r))),
			part.Facts("account", "", fact.Bounds(r), counters),
			part.Facts("error", document.Bad, fact.Errors(r.Errors)...),
			part.Facts("durability", "", fact.DurabilityOf(r)),
			part.Facts("clients", "", fact.Clients(r.System.Clients)),
			part.Facts("start-up", "", fact.Startup(r)),
			part.Facts("servers", "", fact.Warming(r.Warming)),
			part.Facts("cost", "", costSentence(r)),
			part.Facts("price", "", price.Sentence(s.Price)),
			part.Facts("limit", "", limitSentence(r)),
			part.Facts("bill", "", fact.Bill(r.Bill))),
		part.Only(document.InText, document.Block{Verdicts: verdictsOf(r.Verdicts)}))
}

// onPage has the charts and tables of a run that only fit on a page.
func onPage(id string, s *result.Saved, sure latency.Within) []document.Block {
	r := &s.Run
	var out []document.Block
	var contents []document.Contents
	section := func(name, words string, blocks ...document.Block) {
		if fact.Running(r) && len(soFar(blocks)) == 0 {
			return
		}
		contents = append(contents, document.Contents{ID: id + "-" + name, Words: words})
		h := part.Heading(2, words)
		h.Heading.ID = id + "-" + name
		out = append(append(out, h), blocks...)
	}
	section("time", "Throughput and latency", slices.Concat(
		[]document.Block{part.Paragraph(document.Note, chart.Sentence(s))},
		part.Charts(chart.Run(s, sure)...),
		[]document.Block{{Facts: fact.Events(s)}})...)
	section("cost", "What it cost", costBlocks(s)...)
	section("figures", "Every figure", runTables(s, sure)...)
	how := ""
	if r.Durability.How != "" {
		how = "How: " + r.Durability.How + "."
	}
	section("durability", "Durability", part.Paragraph("", fact.DurabilityOf(r)+"."),
		part.Paragraph(document.Note, how), part.Table(table.Evidence(r.Durability)))
	section("ran", "What ran", document.Block{Facts: slices.Concat(
		part.Facts("clients", "", fact.Clients(r.System.Clients)),
		part.Facts("servers", "", fact.Warming(r.Warming)))},
		document.Block{Row: []document.Block{part.Table(table.Settings(r.Settings)),
			part.Table(table.Environment(r))}})
	out = append([]document.Block{{Contents: contents}}, out...)
	return append([]document.Block{part.To(document.OnPage, out...)},
		part.Repetition(r.Asked, r.Resolved, r.Plimsoll)...)
}

// runTables are the tables of every figure of a run.
func runTables(s *result.Saved, sure latency.Within) []document.Block {
	r := &s.Run
	var all []document.Table
	if b := r.Backlog; b != nil {
		t := stretchTable(b)
		for _, sentence := range []string{effectSentence(b), backlogSentence(b)} {
			if sentence != "" {
				t.Note = phrase.Upper(sentence) + ". " + t.Note
			}
		}
		all = append(all, t)
	}
	percentiles := table.Percentiles(r)
	for _, sentence := range latency.Waits(r) {
		percentiles.Note += " " + phrase.Upper(sentence) + "."
	}
	if sentence := sure.Sentence(); sentence != "" {
		percentiles.Note += " Intervals: " + sentence + "."
	}
	all = append(append(all, percentiles, table.Faults(r)), effectTables(r)...)
	if len(r.Summary.Minutes) > 0 {
		all = append(all, minuteTable(r.Summary))
	}
	if fact.Imported(r) {
		all = append(all, table.Imported(r))
	} else if !fact.Running(r) {
		all = append(all, table.Counters(r), table.Ledger(r))
	}
	all = append(all, table.Lost(r.Ledger), table.Errors(r.Errors), table.Gauges(r),
		table.Trends(r))
	if !fact.Imported(r) && !fact.Running(r) {
		all = append(all, table.Generator(r))
	}
	var out []document.Block
	for _, t := range append(all, table.Workers(r)) {
		out = append(out, part.Table(t))
	}
	return out
}

// effectTables show a run by its faults, its classes of messages, and its consumers that came and
// went.
func effectTables(r *result.Run) []document.Table {
	return []document.Table{table.Impact(r), table.Classes(r), table.Scaling(r), table.Returns(r),
		table.Absences(r)}
}

// verdictsOf are a run's verdicts.
func verdictsOf(verdicts []result.Verdict) []document.Verdict {
	var out []document.Verdict
	for _, v := range verdicts {
		out = append(out, document.Verdict{Tone: part.Tone(v.Outcome), Outcome: fact.OutcomeWord(v),
			Name: fact.VerdictName(v), Sentence: v.Sentence})
	}
	return out
}

// headline describes the run in one sentence.
func headline(r *result.Run) string {
	system := cmp.Or(document.Clean(r.System.Name), "An unnamed system")
	at := ", with no durability level on record"
	if d := r.Durability; d.Asked > 0 || d.Level > 0 {
		at = fmt.Sprintf(" at durability level %d", cmp.Or(d.Level, d.Asked))
		if m := document.Clean(d.Meaning); m != "" {
			at += " (" + m + ")"
		}
	}
	offered := ""
	switch l := r.Load; {
	case l.Closed != nil:
		offered = ", in " + fact.Closed(l)
	case l.TargetRate > 0 && phrase.Finite(l.TargetRate):
		offered = fmt.Sprintf(", offered %s of %s", phrase.Rate(l.TargetRate), phrase.Messages(l))
		if l.WindowSeconds > 0 {
			offered += " for " + phrase.Seconds(l.WindowSeconds)
		}
	}
	return fmt.Sprintf("%s%s%s.", system, at, offered) +
		fact.AtTheEnd(r, " The run is "+fact.State(r)+".")
}

// metaWords has the circumstances, in a few words each.
func metaWords(r *result.Run) []string {
	l, out := r.Load, []string{}
	if w := document.Clean(l.Workload); w != "" {
		out = append(out, "workload "+w)
	}
	out = append(out, fact.Model(l)...)
	if l.Topics > 0 {
		topics := fact.Topics(l)
		if len(l.Existing) > 0 {
			topics += " that existed before: " + document.Clean(strings.Join(l.Existing, ", "))
		}
		clients := phrase.Plural(l.Topics*l.Producers, "producer", "producers")
		if l.Subscriptions > 0 || !fact.Imported(r) {
			clients += ", " +
				phrase.Plural(l.Topics*l.Subscriptions*l.Consumers, "consumer", "consumers")
		}
		if r.Connections > 0 {
			clients += " on " + phrase.Plural(r.Connections, "connection", "connections") +
				" to the servers"
		}
		out = append(out, topics, clients)
	}
	if l.Delivery != "" {
		out = append(out, strings.ReplaceAll(document.Clean(l.Delivery), "_", " "))
	}
	if aim := fact.Aim(l); aim != "" {
		out = append(out, aim)
	}
	if r.Plimsoll.Version != "" {
		out = append(out, "plimsoll "+document.Clean(r.Plimsoll.Version))
	}
	return out
}

// howRunsMislead says how the figures of runs could mislead.
func howRunsMislead() document.Block {
	return part.Misleading(
		[2]string{"Latency starts when a message was due,", "by a schedule made beforehand, not " +
			"when it could be sent. If the system stalls for a second, every message due in that " +
			"second is charged its share of the wait."},
		[2]string{"Publish latency", "ends when the producer has the acknowledgement, " +
			"end-to-end latency when the consumer has the message. Send latency, uncorrected, " +
			"starts only when the message is handed over; it is here so that you can compare " +
			"with tools that print it."},
		[2]string{"Acknowledged is worth what the durability level says.", "Compare two systems " +
			"at the same level, read back from the live cluster, or not at all."},
		[2]string{"Lost", "means acknowledged and not received although a later message of the " +
			"same partition was, or not found by an audit. What is merely missing when the run " +
			"ends is unread. Lost does not prove that the message is gone from the system's " +
			"disks, and zero does not prove that no message is lost in a power cut."},
		[2]string{"One run is one run.", "Figures differ between repetitions of the same run; a " +
			"difference between two systems needs repeated, interleaved runs and a test. The " +
			"greatest latency is a single message."},
		[2]string{"What it cost", "covers the measured window and all nodes together: the " +
			"servers' CPU time, bytes on their way to disks and fsync calls for each " +
			"acknowledged message. Write amplification is bytes written per byte of payload: " +
			"three replicas alone make it three."},
		[2]string{"A limiting resource", "is a resource that the run used to 80% or more of " +
			"this machine's limit. None seen does not mean that there is none: locks, a single " +
			"busy thread and the time that an fsync takes have no such limit."},
		[2]string{"The load is synthetic:", "sizes, keys and arrivals are as listed under what " +
			"ran. A load with larger messages, more topics or slower consumers has other figures."},
		[2]string{"One machine is not a cluster.", "Where load and servers share a machine they " +
			"compete for its CPU, caches and disk, and no network is between them."},
		[2]string{"The tool measures itself too.", "If the hiccups rise together with the " +
			"latency, do not blame the system before plimsoll is ruled out. Schedule lag alone " +
			"may be caused by the system: when it blocks its producers, messages that are due " +
			"wait."})
}
