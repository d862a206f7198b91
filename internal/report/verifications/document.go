package verifications

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/table"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// matrixOf is the table of verifications: a row for each system, level and delivery, a column
// for each fault. Its note says how many rounds most cells have; the others say it themselves.
func matrixOf(all []*verify.Saved) document.Table {
	t := document.Table{ID: "matrix", Title: "Systems, levels and faults", Words: true,
		Corner: "system and level"}
	matching := map[string][]*verify.Saved{}
	var names, faults []string
	for _, s := range all {
		if len(s.Rounds) == 0 {
			continue
		}
		name, fault := rowOf(s), columnOf(s)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !slices.Contains(faults, fault) {
			faults = append(faults, fault)
		}
		matching[name+"\n"+fault] = append(matching[name+"\n"+fault], s)
	}
	slices.Sort(names)
	slices.SortStableFunc(faults, func(a, b string) int { return placeOf(a) - placeOf(b) })
	t.Head = document.Heads(faults...)
	usual := usualRounds(matching)
	for _, name := range names {
		r := document.Row{Name: name}
		for _, fault := range faults {
			var c document.Cell
			if cell := matching[name+"\n"+fault]; len(cell) == 0 {
				c.Words = document.None
			} else if c = outcome(cell); roundsOf(cell) != usual {
				c.Words += " (" + phrase.Plural(roundsOf(cell), "round", "rounds") + ")"
			}
			r.Values = append(r.Values, c)
		}
		t.Rows = append(t.Rows, r)
	}
	t.Note = fmt.Sprintf("Held: none of so many acknowledged messages was lost, and what else is "+
		"promised held too. Where nothing else is said, in %s: if none failed, at most %s of all "+
		"such rounds would (95%% confidence).", phrase.Plural(usual, "round", "rounds"),
		verify.MostFailing(usual))
	return t
}

func roundsOf(cell []*verify.Saved) (n int) {
	for _, s := range cell {
		n += len(s.Rounds)
	}
	return n
}

// usualRounds is the number of rounds that most cells have, of several such numbers the least.
func usualRounds(cells map[string][]*verify.Saved) (usual int) {
	having := map[int]int{}
	for _, cell := range cells {
		having[roundsOf(cell)]++
	}
	for _, rounds := range slices.Sorted(maps.Keys(having)) {
		if having[rounds] > having[usual] {
			usual = rounds
		}
	}
	return usual
}

// matrixFacts has the cells of the matrix, a line each: few terminals are wide enough for its
// columns.
func matrixFacts(m document.Table) []document.Fact {
	var out []document.Fact
	for _, r := range m.Rows {
		for i, v := range r.Values {
			if v.Words != document.None {
				out = append(out, document.Fact{Name: r.Name, Tone: v.Tone,
					Value: m.Head[i].Name + ": " + v.Words})
			}
		}
	}
	return out
}

// together says in one sentence how the cells of the matrix stand; empty: there are not several.
func together(m document.Table) string {
	tried, held, unpromised, unknown := 0, 0, 0, 0
	var broken []string
	for _, r := range m.Rows {
		for i, v := range r.Values {
			switch {
			case v.Words == document.None:
				continue
			case v.Tone == document.Good:
				held++
			case v.Tone == document.Unsure:
				unknown++
			case v.Tone == document.Bad:
				broken = append(broken, r.Name+", "+m.Head[i].Name)
			default:
				unpromised++
			}
			tried++
		}
	}
	if tried < 2 {
		return "" // its cell is the answer
	}
	out := fmt.Sprintf("No acknowledged message was lost, and other promises held, in %d of %s",
		held, phrase.Plural(tried, "case", "cases"))
	if len(broken) > 0 {
		out += fmt.Sprintf("; a promise was broken in %d: %s", len(broken),
			strings.Join(broken, "; "))
	}
	if unpromised > 0 {
		out += fmt.Sprintf("; messages that nothing promised to keep were lost in %d", unpromised)
	}
	if unknown > 0 {
		out += fmt.Sprintf("; %d left it unknown", unknown)
	}
	return out + "."
}

func rowOf(s *verify.Saved) string {
	out := fmt.Sprintf("%s, level %d", s.Name, s.Durability.Asked) + phrase.SingleCopy(s.Durability)
	if d := s.Load.Delivery; d != string(workload.AtLeastOnce) {
		out += ", " + strings.ReplaceAll(d, "_", " ")
	}
	return out
}

// columnOf names the faults of a verification and their targets.
func columnOf(s *verify.Saved) string {
	var all []string
	for _, f := range s.Faults {
		words := strings.Fields(f)
		all = append(all, strings.Join(words[:min(2, len(words))], " "))
	}
	return strings.Join(all, ", then ")
}

// placeOf is a column's place, by the kind of its fault.
func placeOf(column string) int {
	kind, _, _ := strings.Cut(column, " ")
	return slices.Index(workload.FaultKinds(), workload.FaultKind(kind))
}

// outcome is what the verifications of one kind found, without their number of rounds.
func outcome(all []*verify.Saved) document.Cell {
	var lost, of int64
	promised, unknown := true, false
	var more []string
	for _, s := range all {
		g := s.Guarantee(verify.NoLoss)
		lost, of, promised = lost+g.Count, of+g.Of, promised && g.Promised
		if g.Outcome == result.Unknown || s.State != result.Complete {
			unknown = true
		}
		for _, g := range s.Guarantees {
			switch {
			case g.Name == verify.NoLoss || !g.Promised || g.Outcome == result.Holds:
			case g.Outcome == result.Unknown:
				unknown = true
			default:
				more = append(more, g.Promise().Failure+" "+quantity.Count(g.Count))
			}
		}
	}
	c := document.Cell{Words: fmt.Sprintf("lost %s of %s", quantity.Count(lost),
		quantity.Count(of)), Tone: document.Bad}
	switch {
	case unknown:
		// Missing messages may still be stored on servers that are not back.
		c = document.Cell{Tone: document.Unsure, Words: fmt.Sprintf("unknown%s: %s of %s did not "+
			"arrive", unknownOf(all), quantity.Count(lost), quantity.Count(of))}
	case lost == 0 && len(more) == 0:
		c = document.Cell{Tone: document.Good, Words: "held: 0 of " + quantity.Count(of)}
	case !promised:
		c.Tone = ""
	}
	if len(more) > 0 {
		c.Tone = document.Bad
	}
	if !promised {
		c.Words += " (not promised)"
	}
	c.Words = strings.Join(append([]string{c.Words}, more...), ", ")
	return c
}

func held(s *verify.Saved) bool {
	return outcome([]*verify.Saved{s}).Tone == document.Good
}

// unknownOf counts the unknown rounds; empty where none or all are unknown.
func unknownOf(all []*verify.Saved) string {
	unknown, rounds := 0, 0
	for _, s := range all {
		for _, r := range s.Rounds {
			rounds++
			if slices.ContainsFunc(r.Guarantees, func(g verify.Guarantee) bool {
				return g.Outcome == result.Unknown && (g.Promised || g.Name == verify.NoLoss)
			}) {
				unknown++
			}
		}
	}
	if unknown == 0 || unknown == rounds {
		return ""
	}
	return " in " + phrase.Plural(unknown, "round", "rounds")
}

// verifyDocument shows verifications: what all found together, then each.
func verifyDocument(all []*verify.Saved) document.Document {
	const title = "What an acknowledgement is worth"
	if len(all) == 0 {
		return part.Nothing(title, "verifications")
	}
	d := document.Document{Title: title, Origin: "Written by plimsoll report -f md, from saved " +
		"runs of plimsoll verify; change nothing here."}
	m := matrixOf(all)
	var warned []string
	for _, s := range all {
		warned = append(warned, verifyWarnings(s)...)
	}
	answer := part.Paragraph(document.Answer, together(m))
	d.Brief = []document.Block{part.Heading(1, title), answer, {Facts: matrixFacts(m)},
		{Facts: part.BriefWarnings(warned)}}
	if len(all) > 1 {
		d.Blocks = append(d.Blocks, part.Only(document.OnPage, part.Heading(1, title)),
			part.To(document.AtLength, answer, part.Table(m)))
		if slices.ContainsFunc(all, func(s *verify.Saved) bool { return !held(s) }) {
			d.Blocks = append(d.Blocks, part.Only(document.InMarkdown, part.Paragraph(document.Lead,
				"What follows are the verifications that lost something or left it unknown.")))
		}
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b *verify.Saved) int {
		return cmp.Or(cmp.Compare(rowOf(a), rowOf(b)), placeOf(columnOf(a))-placeOf(columnOf(b)))
	})
	for i, s := range all {
		one := verification(i, s)
		if len(all) > 1 { // a terminal folds nothing
			to := document.AtLength
			if held(s) {
				to = document.OnPage // the table says all of it
			}
			d.Blocks = append(d.Blocks, part.Only(to, part.Folded(verifyAnswer(s), one)))
			one.For = document.OnTerminal
		}
		d.Blocks = append(d.Blocks, one)
	}
	if len(all) > 1 {
		d.Blocks = append(d.Blocks,
			part.To(document.OnTerminal, part.Heading(1, "together"),
				answer, document.Block{Facts: matrixFacts(m)}))
	}
	d.Blocks = append(d.Blocks, part.Misleading(
		[2]string{"Each round", "offers a load, breaks servers while it is offered, heals them, " +
			"and accounts for every message: acknowledged messages that never arrived are lost."},
		[2]string{"Promised", "follows from the durability level and the delivery guarantee. " +
			"Violations of other guarantees are counted too, but not held against the system."},
		[2]string{"Holds", "means that no round broke the guarantee. It is no proof: more " +
			"rounds, with other seeds, may break it."},
		[2]string{"Unknown", "means that the rounds could not show an answer, for example " +
			"because the system did not come back in time."},
		[2]string{"Unavailable", "is the longest time without an acknowledgement of any " +
			"producer, while load was offered. It is exact where it is longer than the reading " +
			"of the run around a fault, a tenth of a second, and a lower bound (at least) " +
			"where the load ended before an acknowledgement came again."}))
	return d
}

// verification shows one verification.
func verification(i int, s *verify.Saved) document.Block {
	out := []document.Block{
		part.Title(fmt.Sprintf("verification-%d", i), rowOf(s)+": "+columnOf(s),
			phrase.Moment(s.StartedAt)+", "+string(s.State)),
		part.Paragraph(document.Answer, verifyAnswer(s)),
		part.Paragraph(document.Lead, "What an acknowledgement is worth: "+verifiedSentence(s)+"."),
		part.Warnings(verifyWarnings(s)),
		part.Only(document.OnPage, part.Heading(2, "What held")),
	}
	var guarantees []document.Verdict
	for _, g := range s.Guarantees {
		v := document.Verdict{Tone: part.Tone(g.Outcome), Outcome: g.Outcome,
			Name: g.Promise().Means, Sentence: g.Sentence + "; promised: " + g.Why}
		if !g.Promised { // its outcome is neither good nor bad
			v.Tone, v.Outcome = "", "no promise"
			v.Sentence = g.Sentence + "; not promised: " + g.Why
		}
		guarantees = append(guarantees, v)
	}
	out = append(out, document.Block{Verdicts: guarantees}, part.Table(roundTable(s)),
		part.Only(document.OnPage, part.Table(faultTimeline(s))),
		part.Only(document.OnPage, part.Heading(2, "Evidence")),
		document.Block{Facts: slices.Concat(part.Facts("evidence", "", evidenceSentences(s)...),
			part.Facts("lost", "", "lost messages were acknowledged, and the audit, which ends "+
				"when no message has come for "+phrase.Seconds(s.QuietSeconds)+", did not find "+
				"them, or a later message of their partition passed them; unacknowledged messages "+
				"may legally arrive"),
			part.Facts("durability", "", fact.Durability(s.Durability)),
			part.Facts("clients", "", fact.Clients(s.System.Clients)),
			part.Facts("repeat", "", repeatSentence(s)))},
		part.To(document.OnPage, part.Heading(2, "What ran"), document.Block{Row: []document.Block{
			part.Table(table.Evidence(s.Durability)),
			part.Table(table.Settings(s.Settings))}}))
	return document.Block{Section: append(out, part.Repetition(s.Asked, s.Resolved, s.Plimsoll)...)}
}

// verifyAnswer is what a verification found, in one sentence.
func verifyAnswer(s *verify.Saved) string {
	if len(s.Rounds) == 0 {
		return rowOf(s) + ", " + columnOf(s) + ": no round is over yet."
	}
	found, rounds := outcome([]*verify.Saved{s}), len(s.Rounds)
	words := fmt.Sprintf("%s, %s: %s in %s", rowOf(s), columnOf(s), found.Words,
		phrase.Plural(rounds, "round", "rounds"))
	if found.Tone == document.Good {
		words += fmt.Sprintf(" (at most %s fail)", verify.MostFailing(rounds))
	}
	return words + "."
}

// faultTimeline has a row for each fault of each round.
func faultTimeline(s *verify.Saved) document.Table {
	t := document.Table{ID: "timeline", Title: "Time line", Words: true,
		Head: document.Heads("since", "what happened"), Empty: "No fault was injected."}
	for _, r := range s.Rounds {
		for _, f := range r.Faults {
			t.Add(fmt.Sprintf("round %d: %s", r.Number, fact.Fault(f)),
				quantity.Duration(f.StartNs), f.Sentence+"; "+table.FaultEffect(f))
		}
	}
	return t
}
