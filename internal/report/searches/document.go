package searches

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/poster"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
)

// searchDocument shows searches for a peak: side by side, then each.
func searchDocument(all []*peak.Saved) document.Document {
	const title = "Peak stable throughput"
	if len(all) == 0 {
		return part.Nothing(title, "searches")
	}
	answer := searchesAnswer(all)
	d := document.Document{Title: title, Brief: searchBrief(all, answer)}
	if len(all) > 1 {
		together := []document.Block{part.Heading(1, "Peaks side by side"),
			part.Paragraph(document.Answer, answer), part.Table(togetherTable(all))}
		d.Blocks = append(d.Blocks,
			document.Block{Section: append(together, part.Charts(chart.Knees(all)...)...)})
	}
	for i, s := range all {
		d.Blocks = append(d.Blocks, searchSection(i, s, len(all) == 1))
	}
	d.Blocks = append(d.Blocks, part.Misleading(
		[2]string{"Stable", "means that over the whole window at least 99% of the offered " +
			"messages were acknowledged and received (besides the usual in-flight messages), " +
			"the number of waiting messages did not measurably grow by more than " +
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
		[2]string{"A search describes one hour", "with one workload. Repeat it " +
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
		stable, unstable := trial.Ends(b)
		t.Add(s.Name+phrase.SingleCopy(s.Durability), stable, trial.Confirmed(s),
			unstable, trial.Width(b), trial.Side(s))
	}
	return t
}

// searchSection shows one search; alone, it has its knee, which several share.
func searchSection(i int, s *peak.Saved, alone bool) document.Block {
	out := []document.Block{
		part.Title(fmt.Sprintf("search-%d", i), s.Name+": peak stable throughput",
			phrase.Moment(s.StartedAt)+", "+string(s.State)),
		part.Paragraph(document.Answer, searchAnswer(s)),
		part.Paragraph("", trial.Asked(s)),
		{Cards: searchCards(s)},
		part.Warnings(fact.Sentences(trial.SearchWarnings(s))),
	}
	facts := part.Facts("peak", document.Main, s.Sentence())
	facts = append(facts, part.Facts("reason", "", s.Reason)...)
	facts = append(facts, part.Facts("limited by", "", trial.SideSentence(s))...)
	if s.Durability.Meaning != "" {
		facts = append(facts, part.Facts("durability", "", fact.Durability(s.Durability))...)
	}
	facts = append(facts, part.Facts("clients", "", fact.Clients(s.System.Clients))...)
	out = append(out, document.Block{Facts: facts}, part.Only(document.OnPage, part.Heading(2,
		"The search")))
	if alone {
		out = append(out, part.Charts(chart.Knees([]*peak.Saved{s})...)...)
	}
	out = append(out, part.Charts(chart.Peak(s)...)...)
	out = append(out, part.Table(trialsTable(s)),
		document.Block{Facts: part.Facts("missing", document.Unsure, missingTrials(s)...)},
		part.Only(document.OnPage, part.Heading(2, "What each trial was judged by")))
	for i := range s.Trials {
		out = append(out, part.Only(document.OnPage, trialEvidence(&s.Trials[i])))
	}
	return document.Block{Section: append(out, part.Repetition(s.Asked, s.Resolved, s.Plimsoll)...)}
}

// trialEvidence is the evidence by which a trial was judged.
func trialEvidence(p *peak.Trial) document.Block {
	word, _ := trial.Outcome(p)
	var clauses []document.Verdict
	for _, c := range p.Verdict.Clauses {
		clauses = append(clauses, document.Verdict{Tone: part.Tone(c.Outcome), Outcome: c.Outcome,
			Name: c.Name, Sentence: c.Sentence})
	}
	return document.Block{Details: &document.Details{Blocks: []document.Block{{Verdicts: clauses}},
		Summary: fmt.Sprintf("Trial %d, %s at %s: %s (%s)", p.Number, trial.Kind(p.Kind, p.Long),
			phrase.Rate(p.TargetRate), word, p.Dir)}}
}

func searchCards(s *peak.Saved) []document.Card {
	b := s.Bracket
	low, high := trial.Ends(b)
	stable := document.Card{Label: "Highest stable rate", Number: low,
		Tone: part.BadIf(b.StableRate == 0)}
	stable.Add("confirmed", trial.Confirmed(s))
	if b.StableRate > 0 {
		stable.Add("payload", phrase.BytesPerSecond(b.StableRate*float64(s.Load.MessageBytes)))
	}
	unstable := document.Card{Label: "Lowest unstable rate", Number: high}
	unstable.Add("above", trial.Width(b))
	unstable.Add("asked", fmt.Sprintf("%.3g%%", s.Plan.Tolerance*100))
	side := document.Card{Label: "Limited by", Number: document.None, Word: true}
	if s.Side != nil {
		side.Number = document.Clean(s.Side.Name)
		side.Tone = part.BadIf(s.Side.Name == verdict.SideGenerator)
		if s.Side.Resource != "" {
			side.Add("resource", document.Clean(s.Side.Resource))
		}
	}
	long := 0
	for _, p := range s.Trials {
		if p.Long {
			long++
		}
	}
	trials := document.Card{Label: "Trials", Number: fmt.Sprint(len(s.Trials))}
	trials.Add("at most", fmt.Sprint(s.Plan.Most()))
	trials.Add("confirmations", fmt.Sprint(long))
	poster.AddMissed(&trials, poster.MissedIn(s))
	return []document.Card{stable, unstable, side, trials}
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
		_, tone := trial.Outcome(p)
		interval := document.None
		if p.Verdict.Sloped {
			interval = trial.Signed(p.Verdict.SlopeLow) + " to " + trial.Signed(p.Verdict.SlopeHigh)
		}
		cells := trial.Cells(p)
		last := len(cells) - 1
		r := document.Row{Name: cells[0], Values: append(document.Cells(cells[1:last]...),
			document.Cell{Words: interval}, document.Cell{Words: cells[last], Tone: tone})}
		t.Rows = append(t.Rows, r)
	}
	return t
}
