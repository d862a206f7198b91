package searches

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/poster"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Report reports on searches for a peak.
func Report(all []*peak.Saved) form.Report { return ReportUntil(all, nil) }

// ReportUntil is Report for peaks that were searched for until they are known; peaks says how
// well they are.
func ReportUntil(all []*peak.Saved, peaks *compare.Known) form.Report {
	type of struct {
		*peak.Saved
		Known *known.JSON `json:"known,omitempty"`
	}
	forJSON := make([]of, len(all))
	for i, s := range all {
		forJSON[i].Saved = s
	}
	if len(all) > 0 {
		forJSON[len(all)-1].Known = known.NewJSON(peaks)
	}
	return form.Report{
		Document: func() document.Document {
			d := searchDocument(all)
			if peaks != nil {
				d.Brief = append(d.Brief, known.Blocks(peaks)...)
				d.Blocks = append([]document.Block{{Section: append([]document.Block{
					part.Heading(1, "Peaks of all rounds")}, known.Blocks(peaks)...)}}, d.Blocks...)
			}
			return d
		},
		Kind: "a search for a peak", Parts: "each of its trials", OfParts: export.Formats(),
		Forms: append([]form.Form{form.JSON(forJSON)},
			form.Poster(func() *document.Poster { return Poster(all) })...),
	}
}

// missingTrials count the messages without a latency of each trial that has such messages.
func missingTrials(s *peak.Saved) []string {
	var out []string
	for i := range s.Trials {
		p := &s.Trials[i]
		for _, sentence := range latency.Missing(result.Summary{Latency: p.Latency}) {
			out = append(out, fmt.Sprintf("trial %d, %s", p.Number, sentence))
		}
	}
	return out
}

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
			{Name: "unstable", Keep: 4}, {Name: "width", Keep: 1}, {Name: "limited by", Keep: 3},
			{Name: "level", Keep: 4}},
		Note: "The searches were made one after the other."}
	for _, s := range searches {
		b := s.Bracket
		stable, unstable := trial.Ends(b)
		level := document.None
		if n := s.Durability.Level; n > 0 {
			level = fmt.Sprint(n)
		}
		t.Add(s.Name+phrase.SingleCopy(s.Durability), stable, trial.Confirmed(s),
			unstable, trial.Width(b), trial.Side(s), level)
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
	return part.Folded(fmt.Sprintf("Trial %d, %s at %s: %s (%s)", p.Number,
		trial.Kind(p.Kind, p.Long), phrase.Rate(p.TargetRate), word, p.Dir),
		document.Block{Verdicts: clauses})
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
		side.Number = strings.TrimPrefix(trial.SideWords(s.Side), "the ")
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

// searchAnswer is the result of a search, what limited it, and what to do if that was plimsoll. It
// is empty while a search is under way.
func searchAnswer(s *peak.Saved) string {
	if s.State == result.Running {
		return ""
	}
	out := s.Name + ": " + s.Sentence()
	switch {
	case s.Side == nil || s.Side.Name == verdict.SideUnknown:
	case s.Side.Name == verdict.SideGenerator && s.Lost() > 0: // more load does not help
	case s.Side.Name == verdict.SideGenerator:
		out += "; share the load among workers (--workers)"
	default:
		out += "; the limit was " + trial.Side(s)
	}
	return out + "."
}

// searchesAnswer orders the systems by what they carry: one is ahead of the next if it was stable
// at a rate at which the other was not. It does not order searches with other guarantees or loads,
// nor rounds of one system.
func searchesAnswer(all []*peak.Saved) string {
	if len(all) == 1 {
		return searchAnswer(all[0])
	}
	if rounds := roundsAnswer(all); rounds != "" {
		return rounds
	}
	if why := unlike(all); why != "" {
		var parts []string
		for _, s := range all {
			if answer := searchAnswer(s); answer != "" {
				parts = append(parts, strings.TrimSuffix(answer, "."))
			}
		}
		return strings.Join(append(parts, "not to be ranked: "+why), "; ") + "."
	}
	var ranked []*peak.Saved
	var parts, refused []string
	for _, s := range all {
		if answer := searchAnswer(s); s.Bracket.StableRate > 0 {
			ranked = append(ranked, s)
		} else if answer != "" {
			refused = append(refused, strings.TrimSuffix(answer, "."))
		}
	}
	slices.SortStableFunc(ranked, func(a, b *peak.Saved) int {
		return cmp.Compare(b.Bracket.StableRate, a.Bracket.StableRate)
	})
	for i := 1; i < len(ranked); i++ {
		a, b := ranked[i-1], ranked[i]
		if high := b.Bracket.UnstableRate; high > 0 && a.Bracket.StableRate >= high &&
			(b.Side == nil || b.Side.Name != verdict.SideGenerator) {
			parts = append(parts, fmt.Sprintf("%s carries more than %s (%s against %s)", a.Name,
				b.Name, phrase.Rate(a.Bracket.StableRate), phrase.Rate(b.Bracket.StableRate)))
			continue
		}
		parts = append(parts, fmt.Sprintf("between %s and %s no difference was shown", a.Name,
			b.Name))
	}
	if len(ranked) == 1 {
		parts = append(parts, strings.TrimSuffix(searchAnswer(ranked[0]), "."))
	}
	return strings.Join(append(parts, refused...), "; ") + "."
}

// roundsAnswer says between which stable rates several searches of one target lie; empty: no target
// has several.
func roundsAnswer(all []*peak.Saved) string {
	var names, parts []string
	of := map[string][]float64{}
	for _, s := range all {
		if _, known := of[s.Name]; !known {
			names = append(names, s.Name)
		}
		of[s.Name] = append(of[s.Name], s.Bracket.StableRate)
	}
	if len(names) == len(all) {
		return ""
	}
	for _, name := range names {
		rates := of[name]
		stable := slices.DeleteFunc(slices.Clone(rates), func(r float64) bool { return r <= 0 })
		words := fmt.Sprintf("%s: a rate was stable in %d of %s", name, len(stable),
			quantity.Plural(len(rates), "search", "searches"))
		if len(stable) > 0 {
			least, most := phrase.Rate(slices.Min(stable)), phrase.Rate(slices.Max(stable))
			if words += ", at best " + least; most != least {
				words += " to " + most
			}
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, "; ") + "."
}

// unlike says why searches must not be ranked against one another; empty: they may be.
func unlike(all []*peak.Saved) string {
	var runs []*result.Run
	for _, s := range all {
		r := &result.Run{SchemaVersion: result.SchemaVersion, System: s.System, Load: s.Load,
			Durability: s.Durability}
		// The rate is that of the first trial.
		r.Load.TargetRate, r.Load.Segments = 0, nil
		if w, err := workload.Parse("the workload", []byte(s.Resolved.Workload)); err == nil {
			w.SetRate(1)
			r.Resolved.Workload = w.YAML()
		}
		runs = append(runs, r)
	}
	var why []string
	for _, w := range verdict.Comparable(runs) {
		why = append(why, strings.TrimPrefix(w.Sentence, "these runs are not comparable: "))
	}
	if slices.ContainsFunc(all, func(s *peak.Saved) bool {
		return !slices.Equal(s.Objectives, all[0].Objectives)
	}) {
		why = append(why, "their objectives differ")
	}
	return strings.Join(why, ", and ")
}

// searchBrief is the answer of searches and what it rests on, for one screen of a terminal.
func searchBrief(all []*peak.Saved, answer string) []document.Block {
	title := "Peaks side by side"
	if len(all) == 1 {
		title = all[0].Name + ": peak stable throughput"
	}
	var warned []result.Warning
	for _, s := range all {
		warned = append(warned, trial.SearchWarnings(s)...)
	}
	verdict.BySeverity(warned)
	return []document.Block{part.Title("", title, trial.Asked(all[0])),
		part.Paragraph(document.Answer, answer), part.Table(togetherTable(all)),
		{Facts: part.BriefWarnings(slices.Compact(fact.Sentences(warned)))}}
}
