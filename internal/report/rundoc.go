package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/price"
	"github.com/plimsoll-bench/plimsoll/result"
)

// runDocument shows runs: side by side, then each. A terminal has the comparison alone where
// the runs are many.
func runDocument(runs []*result.Saved) document.Document {
	all := names(runs)
	d := document.Document{Title: "no runs"}
	switch len(runs) {
	case 0:
		return nothingToReport(d.Title, "runs")
	case 1:
		sure := newWithin(runs[0])
		answer := runAnswer(runs[0], sure)
		d.Title, d.Brief = all[0], runBrief(runs[0], sure, answer)
		d.Blocks = append(d.Blocks, runSection(0, all[0], runs[0], sure, answer))
	default:
		answer := runsAnswer(runs)
		d.Title = fmt.Sprintf("%d runs side by side", len(runs))
		d.Brief = runsBrief(runs, answer)
		d.Blocks = append(append(d.Blocks, comparison(runs, answer)), foldedRuns(runs)...)
	}
	d.Blocks = append(d.Blocks, howRunsMislead())
	return d
}

// foldedRuns has a section for each of several runs, which a page folds and a terminal leaves out
// where the runs are many.
func foldedRuns(runs []*result.Saved) (out []block) {
	for i, n := range names(runs) {
		s := runs[i]
		section := runSection(i, n, s, newWithin(s), "")
		out = append(out, only(document.OnPage, block{Details: &document.Details{Summary: n,
			Blocks: []block{section}}}))
		section.For = document.InText
		if len(runs) >= manyRuns {
			section.For = document.InMarkdown
			if sentence := price.Sentence(s.Price); sentence != "" {
				out = append(out, only(document.OnTerminal, block{
					Facts: factsOf("price", "", n+": "+sentence)}))
			}
		}
		out = append(out, section)
	}
	return out
}

// runSection shows a run: its answer and main figures, what restricts them, and then the rest, its
// latency before its cost. Of a run under way, the charts come before its verdicts.
func runSection(i int, name string, s *result.Saved, sure within, answer string) block {
	r, id := &s.Run, fmt.Sprintf("run-%d", i)
	out := []block{
		titled(id, name, moment(r.StartedAt)+", "+stateWord(r)),
		paragraph(document.Answer, cmp.Or(progressSentence(s), answer)),
		{Cards: cards(r, sure)},
		warned(sentences(slices.DeleteFunc(warningsOf(s), saysRunning))),
	}
	page := onPage(id, s, sure)
	if running(r) { // its charts come first
		out = append(append(out, page...), only(document.OnPage, heading(2, "So far")))
		page = nil
	}
	out = append(out, paragraph(document.Lead, headline(r)),
		paragraph(document.Note, strings.Join(metaWords(r), ", ")),
		block{Facts: factsOf("format", "", lacksSentence(r))},
		only(document.OnPage, block{Verdicts: verdictsOf(r.Verdicts)}))
	out = append(append(out, inText(s, sure)...), page...)
	if running(r) {
		out = soFar(out)
	}
	return block{Section: out}
}

// inText has the figures of a run as sentences, and the tables that fit on a terminal.
func inText(s *result.Saved, sure within) []block {
	r := &s.Run
	facts := func(all ...[]document.Fact) block {
		return block{For: document.InText, Facts: slices.Concat(all...)}
	}
	show := func(t document.Table) block { return only(document.InText, tabled(t)) }
	throughput := throughputSentence(r)
	if r.Summary.WindowNs <= 0 {
		throughput = atTheEnd(r, throughput)
	}
	out := []block{facts(factsOf("throughput", "", throughput),
		factsOf("backlog", "", backlogSentence(r.Backlog)),
		factsOf("effect", "", effectSentence(r.Backlog)))}
	if r.Backlog != nil {
		out = append(out, show(stretchTable(r.Backlog)))
	}
	percentiles := percentileTable(r)
	percentiles.Note = ""
	out = append(out, show(percentiles),
		facts(factsOf("waits", "", waitSentences(r)...),
			factsOf("missing", document.Unsure, missingSentences(r.Summary)...),
			factsOf("clocks", document.Unsure, clockSentences(r.Summary)...),
			factsOf("instrument", "", instrumentSentence(r.Summary)),
			factsOf("proved", "", proofSentence(r.Environment.Proof)),
			factsOf("p95", "", minuteSentence(r.Summary.Minutes)),
			factsOf("intervals", "", sure.sentence()),
			factsOf("fault", document.Unsure, faultSentences(r)...)))
	if r.Impact != nil {
		out = append(out, show(impactTable(r)))
	}
	out = append(out, show(scalingTable(r)), show(returnsTable(r)), show(absencesTable(r)),
		show(workersTable(r)),
		facts(factsOf("lost", document.Bad, lostWorkers(r)...)))
	account := document.Tone("")
	if t := r.Ledger.Total(); r.Ledger.Accounted && t.Lost+t.Corrupt > 0 {
		account = document.Bad
	}
	counters := ""
	if !imported(r) {
		counters = atTheEnd(r, countersSentence(r))
	}
	return append(out,
		facts(factsOf("account", account, atTheEnd(r, accountLine(r))),
			factsOf("account", "", boundSentence(r), counters),
			factsOf("error", document.Bad, errorSentences(r.Errors)...),
			factsOf("durability", "", durabilityWords(r)),
			factsOf("clients", "", ClientsSentence(r.System.Clients)),
			factsOf("start-up", "", startupSentence(r)),
			factsOf("servers", "", WarmingSentence(r.Warming)),
			factsOf("cost", "", costSentence(r)), factsOf("price", "", price.Sentence(s.Price)),
			factsOf("limit", "", limitSentence(r)),
			factsOf("bill", "", billSentence(r.Bill))),
		only(document.InText, block{Verdicts: verdictsOf(r.Verdicts)}))
}

// onPage has the charts and tables of a run that only fit on a page.
func onPage(id string, s *result.Saved, sure within) []block {
	r := &s.Run
	var out []block
	var contents []document.Contents
	section := func(name, words string, blocks ...block) {
		if running(r) && len(soFar(blocks)) == 0 {
			return
		}
		contents = append(contents, document.Contents{ID: id + "-" + name, Words: words})
		h := heading(2, words)
		h.Heading.ID = id + "-" + name
		out = append(append(out, h), blocks...)
	}
	section("time", "Throughput and latency", slices.Concat(
		[]block{paragraph(document.Note, chartsSentence(s))}, charted(runCharts(s, sure)...),
		[]block{{Facts: happened(s)}})...)
	section("cost", "What it cost", costBlocks(s)...)
	section("figures", "Every figure", runTables(s, sure)...)
	how := ""
	if r.Durability.How != "" {
		how = "How: " + r.Durability.How + "."
	}
	section("durability", "Durability", paragraph("", durabilityWords(r)+"."),
		paragraph(document.Note, how), tabled(evidenceTable(r.Durability)))
	section("ran", "What ran", block{Facts: slices.Concat(
		factsOf("clients", "", ClientsSentence(r.System.Clients)),
		factsOf("servers", "", WarmingSentence(r.Warming)))},
		block{Row: []block{tabled(settingsTable(r.Settings)),
			tabled(environmentTable(r))}})
	out = append([]block{{Contents: contents}}, out...)
	return append([]block{to(document.OnPage, out...)},
		repetition(r.Asked, r.Resolved, r.Plimsoll)...)
}

// runTables are the tables of every figure of a run.
func runTables(s *result.Saved, sure within) []block {
	r := &s.Run
	var out []block
	if b := r.Backlog; b != nil {
		t := stretchTable(b)
		for _, sentence := range []string{effectSentence(b), backlogSentence(b)} {
			if sentence != "" {
				t.Note = upper(sentence) + ". " + t.Note
			}
		}
		out = append(out, tabled(t))
	}
	percentiles := percentileTable(r)
	for _, sentence := range waitSentences(r) {
		percentiles.Note += " " + upper(sentence) + "."
	}
	if sentence := sure.sentence(); sentence != "" {
		percentiles.Note += " Intervals: " + sentence + "."
	}
	out = append(out, tabled(percentiles), tabled(faultTable(r)))
	if r.Impact != nil {
		out = append(out, tabled(impactTable(r)))
	}
	out = append(out, tabled(scalingTable(r)), tabled(returnsTable(r)), tabled(absencesTable(r)))
	if len(r.Summary.Minutes) > 0 {
		out = append(out, tabled(minuteTable(r.Summary)))
	}
	if imported(r) {
		out = append(out, tabled(importedTable(r)))
	} else if !running(r) {
		out = append(out, tabled(countersTable(r)), tabled(ledgerTable(r)))
	}
	for _, t := range []document.Table{lostTable(r.Ledger), errorTable(r.Errors), gaugeTable(r),
		trendTable(r)} {
		out = append(out, tabled(t))
	}
	if !imported(r) && !running(r) {
		out = append(out, tabled(generatorTable(r)))
	}
	return append(out, tabled(workersTable(r)))
}

// verdictsOf are a run's verdicts.
func verdictsOf(verdicts []result.Verdict) []document.Verdict {
	var out []document.Verdict
	for _, v := range verdicts {
		out = append(out, document.Verdict{Tone: toneOf(v.Outcome), Outcome: outcomeWord(v),
			Name: verdictName(v), Sentence: v.Sentence})
	}
	return out
}

// headline describes the run in one sentence.
func headline(r *result.Run) string {
	system := cmp.Or(clean(r.System.Name), "An unnamed system")
	at := ", with no durability level on record"
	if d := r.Durability; d.Asked > 0 || d.Level > 0 {
		at = fmt.Sprintf(" at durability level %d", cmp.Or(d.Level, d.Asked))
		if m := clean(d.Meaning); m != "" {
			at += " (" + m + ")"
		}
	}
	offered := ""
	switch l := r.Load; {
	case l.Closed != nil:
		offered = ", in " + closedSentence(l)
	case l.TargetRate > 0 && finite(l.TargetRate):
		offered = fmt.Sprintf(", offered %s of %s", rate(l.TargetRate), messagesOf(l))
		if l.WindowSeconds > 0 {
			offered += " for " + seconds(l.WindowSeconds)
		}
	}
	return fmt.Sprintf("%s%s%s.", system, at, offered) +
		atTheEnd(r, " The run is "+stateSentence(r)+".")
}

// metaWords has the circumstances, in a few words each.
func metaWords(r *result.Run) []string {
	l, out := r.Load, []string{}
	if w := clean(l.Workload); w != "" {
		out = append(out, "workload "+w)
	}
	out = append(out, modelWords(l)...)
	if l.Topics > 0 {
		out = append(out,
			fmt.Sprintf("%s × %s", plural(l.Topics, "topic", "topics"),
				plural(l.Partitions, "partition", "partitions")),
			plural(l.Topics*l.Producers, "producer", "producers"))
		if len(l.Existing) > 0 {
			out[len(out)-2] += " that existed before: " + clean(strings.Join(l.Existing, ", "))
		}
		if l.Subscriptions > 0 || !imported(r) {
			out[len(out)-1] += ", " +
				plural(l.Topics*l.Subscriptions*l.Consumers, "consumer", "consumers")
		}
		out[len(out)-1] += connectionWords(r)
	}
	if l.Delivery != "" {
		out = append(out, strings.ReplaceAll(clean(l.Delivery), "_", " "))
	}
	if aim := aimWords(l); aim != "" {
		out = append(out, aim)
	}
	if r.Plimsoll.Version != "" {
		out = append(out, "plimsoll "+clean(r.Plimsoll.Version))
	}
	return out
}

// connectionWords says on how many connections the clients are; empty if that is not known.
func connectionWords(r *result.Run) string {
	if r.Connections == 0 {
		return ""
	}
	return " on " + plural(r.Connections, "connection", "connections") + " to the servers"
}

// unit splits a printed quantity into its number and its unit.
func unit(printed string) (string, string) {
	i := strings.IndexFunc(printed,
		func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '-' })
	if i <= 0 {
		return printed, ""
	}
	return printed[:i], micro(printed[i:])
}

// micro writes microseconds with the sign µ.
func micro(printed string) string { return strings.ReplaceAll(printed, "us", "µs") }
