package report

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
)

// searchDocument shows searches for a peak: side by side, then each.
func searchDocument(all []*peak.Saved) document.Document {
	const title = "Peak stable throughput"
	if len(all) == 0 {
		return nothingToReport(title, "searches")
	}
	answer := searchesAnswer(all)
	d := document.Document{Title: title, Brief: searchBrief(all, answer)}
	if len(all) > 1 {
		together := []block{heading(1, "Peaks side by side"), paragraph(document.Answer, answer),
			tabled(togetherTable(all))}
		d.Blocks = append(d.Blocks,
			block{Section: append(together, charted(kneeCharts(all)...)...)})
	}
	for i, s := range all {
		d.Blocks = append(d.Blocks, searchSection(i, s, len(all) == 1))
	}
	d.Blocks = append(d.Blocks, misleading(
		[2]string{"Stable", "means that over the whole window at least 99% of the offered " +
			"messages were acknowledged and received (besides the usual in-flight messages), " +
			"the number of waiting messages was not shown to grow by more than " +
			"0.25% of the offered rate, no message failed, plimsoll itself was not the limit, " +
			"and every objective held."},
		[2]string{"Waiting messages", "are those that were due and have not arrived. Their " +
			"growth counts, not their number: a system with a latency of 50 ms always has the " +
			"messages of 50 ms in flight."},
		[2]string{"The peak lies in the bracket,", "between the highest rate that was stable, " +
			"also in longer runs, and the lowest unstable rate. A bracket that is narrower than " +
			"the noise of the machine is luck."},
		[2]string{"A passing disturbance,", "in which no messages pile up, leads to a " +
			"repetition: the trial is made again, and the second outcome counts."},
		[2]string{"The side that limited", "is the side on which messages waited. The resource " +
			"beside it was used to 80% of its limit or more. Neither proves a cause."},
		[2]string{"A search describes one hour", "on one machine with one workload. Repeat it " +
			"before you build on it."}))
	return d
}

func togetherTable(searches []*peak.Saved) document.Table {
	t := document.Table{ID: "peaks", Title: "Peaks", Corner: "target",
		Head: []document.Column{{Name: "stable", Keep: 5}, {Name: "confirmed", Keep: 2},
			{Name: "unstable", Keep: 4}, {Name: "width", Keep: 1}, {Name: "limited by", Keep: 3}},
		Note: "The targets were searched one after the other, with the same workload. They are " +
			"not ranked."}
	for _, s := range searches {
		b := s.Bracket
		stable, unstable := endsOf(b)
		t.Add(s.Name, stable, fmt.Sprintf("%d of %d", b.Confirmed, s.Plan.Confirmations), unstable,
			widthOf(b), sideOf(s))
	}
	return t
}

// searchSection shows one search; alone, it has its knee, which several share.
func searchSection(i int, s *peak.Saved, alone bool) block {
	out := []block{
		titled(fmt.Sprintf("search-%d", i), s.Name+": peak stable throughput",
			moment(s.StartedAt)+", "+string(s.State)),
		paragraph(document.Answer, searchAnswer(s)),
		paragraph("", askedOf(s)),
		{Cards: searchCards(s)},
		warned(sentences(searchWarnings(s))),
	}
	facts := factsOf("peak", document.Main, s.Sentence())
	facts = append(facts, factsOf("reason", "", s.Reason)...)
	facts = append(facts, factsOf("limited by", "", sideSentence(s))...)
	if s.Durability.Meaning != "" {
		facts = append(facts, factsOf("durability", "", durabilitySentence(s.Durability))...)
	}
	facts = append(facts, factsOf("clients", "", ClientsSentence(s.System.Clients))...)
	out = append(out, block{Facts: facts}, only(document.OnPage, heading(2, "The search")))
	if alone {
		out = append(out, charted(kneeCharts([]*peak.Saved{s})...)...)
	}
	out = append(out, charted(peakCharts(s)...)...)
	out = append(out, tabled(trialsTable(s)),
		block{Facts: factsOf("missing", document.Unsure, missingTrials(s)...)},
		only(document.OnPage, heading(2, "What each trial was judged by")))
	for i := range s.Trials {
		out = append(out, only(document.OnPage, trialEvidence(&s.Trials[i])))
	}
	return block{Section: append(out, repetition(s.Asked, s.Resolved, s.Plimsoll)...)}
}

// trialEvidence is the evidence by which a trial was judged.
func trialEvidence(p *peak.Trial) block {
	word, _ := outcomeOf(p)
	var clauses []document.Verdict
	for _, c := range p.Verdict.Clauses {
		clauses = append(clauses, document.Verdict{Tone: toneOf(c.Outcome), Outcome: c.Outcome,
			Name: c.Name, Sentence: c.Sentence})
	}
	return block{Details: &document.Details{Blocks: []block{{Verdicts: clauses}},
		Summary: fmt.Sprintf("Trial %d, %s at %s: %s (%s)", p.Number, kindOf(p.Kind, p.Long),
			rate(p.TargetRate), word, p.Dir)}}
}

func searchCards(s *peak.Saved) []card {
	b := s.Bracket
	low, high := endsOf(b)
	stable := card{Label: "Highest stable rate", Number: low, Tone: badIf(b.StableRate == 0)}
	stable.Add("confirmed", fmt.Sprintf("%d of %d", b.Confirmed, s.Plan.Confirmations))
	if b.StableRate > 0 {
		stable.Add("payload", bytesPerSecond(b.StableRate*float64(s.Load.MessageBytes)))
	}
	unstable := card{Label: "Lowest unstable rate", Number: high}
	unstable.Add("above", widthOf(b))
	unstable.Add("asked", fmt.Sprintf("%.3g%%", s.Plan.Tolerance*100))
	side := card{Label: "Limited by", Number: none, Word: true}
	if s.Side != nil {
		side.Number = clean(s.Side.Name)
		side.Tone = badIf(s.Side.Name == verdict.SideGenerator)
		if s.Side.Resource != "" {
			side.Add("resource", clean(s.Side.Resource))
		}
	}
	long := 0
	for _, p := range s.Trials {
		if p.Long {
			long++
		}
	}
	trials := card{Label: "Trials", Number: fmt.Sprint(len(s.Trials))}
	trials.Add("at most", fmt.Sprint(s.Plan.Most()))
	trials.Add("confirmations", fmt.Sprint(long))
	addMissed(&trials, missedIn(s))
	return []card{stable, unstable, side, trials}
}

func trialsTable(s *peak.Saved) document.Table {
	t := document.Table{ID: "trials", Title: "Trials", Corner: "trial", Empty: "No trial was made.",
		Head: []document.Column{{Name: "offered", Keep: 4}, {Name: "achieved", Keep: 3},
			{Name: "publish p99", Keep: 2}, {Name: "e2e p99", Keep: 1}, {Name: "backlog", Keep: 3},
			{Name: "95% interval", For: document.AtLength}, {Name: "verdict", Keep: 5}},
		Note: "Backlog: the growth of the number of messages due and not yet arrived: waiting to " +
			"be handed over, in flight, or not yet received."}
	for i := range s.Trials {
		p := &s.Trials[i]
		_, tone := outcomeOf(p)
		interval := none
		if p.Verdict.Sloped {
			interval = signed(p.Verdict.SlopeLow) + " to " + signed(p.Verdict.SlopeHigh)
		}
		cells := trialCells(p)
		last := len(cells) - 1
		r := document.Row{Name: cells[0], Values: append(values(cells[1:last]...),
			document.Cell{Words: interval}, document.Cell{Words: cells[last], Tone: tone})}
		t.Rows = append(t.Rows, r)
	}
	return t
}
