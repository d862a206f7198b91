package studies

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// claimBlocks are a study's claims with our answers: in sentences, and where there is room for it
// as a table, with the sentences folded.
func claimBlocks(o study.Outcome) []document.Block {
	sentences := document.Block{Verdicts: claimVerdicts(o)}
	return []document.Block{
		part.Only(document.OnTerminal, sentences),
		part.Only(document.AtLength, part.Table(claimTable(o.Claims))),
		part.Only(document.AtLength, document.Block{Details: &document.Details{
			Summary: "Each claim in a sentence, with its loads and limits, and those not asked",
			Blocks:  []document.Block{sentences}}}),
	}
}

// claimTable has a row for each claim, with their ratio and ours.
func claimTable(all []study.Judgement) document.Table {
	out := document.Table{ID: "claims", Corner: "claim", Head: []document.Column{
		{Name: "theirs"}, {Name: "as published", Words: true},
		{Name: "at equal levels", Words: true}, {Name: "to decide it", Words: true}}}
	for _, j := range all {
		equal := document.Cell{Words: equalWords(j)}
		if j.Equal != nil {
			equal = answerCell(*j.Equal)
		}
		decides := strings.Join(j.Published.Decides(), "; ")
		out.Rows = append(out.Rows, document.Row{Name: bounded(j),
			Values: []document.Cell{{Words: study.Times(j.Theirs)}, answerCell(j.Published), equal,
				{Words: cmp.Or(decides, document.None)}}})
	}
	return out
}

// equalWords are the answer at equal levels, in a word or two.
func equalWords(j study.Judgement) string {
	switch {
	case j.Equal != nil:
		return string(j.Equal.Answer)
	case j.NoEqual == "":
		return "the same"
	}
	return document.None
}

// answerCell is an answer with its ratio.
func answerCell(r study.Reply) document.Cell {
	words := string(r.Answer)
	if r.Ours > 0 {
		words += "\n" + r.Ratio()
		if strings.HasPrefix(r.About, "per ") {
			words += " " + r.About
		}
	}
	return document.Cell{Words: words, Tone: answerTone(r.Answer)}
}

func answerTone(a study.Answer) document.Tone {
	switch a {
	case study.Agrees:
		return document.Good
	case study.Differs:
		return document.Bad
	}
	return document.Unsure
}

// claimVerdicts are the claims with our answers, each labelled with the one that it begins with,
// and those without cells, with the reason.
func claimVerdicts(o study.Outcome) (out []document.Verdict) {
	for _, j := range o.Claims {
		out = append(out, document.Verdict{Tone: answerTone(j.Answer), Outcome: string(j.Answer),
			Name: bounded(j), Sentence: j.Sentence})
	}
	for _, c := range o.LeftOut {
		out = append(out, document.Verdict{Tone: document.Unsure, Outcome: "left out",
			Name: numbered(c), Sentence: "table " + c.Table + " was not asked for"})
	}
	for _, c := range o.NotAsked {
		out = append(out, document.Verdict{Tone: document.Unsure, Outcome: "not asked",
			Name: numbered(c), Sentence: c.NotAsked})
	}
	return out
}

// bounded is a claim's sentence with its number and its bound.
func bounded(j study.Judgement) string {
	return fmt.Sprintf("%s (%s)", numbered(j.Claim), j.Bound)
}

// numbered is a claim's sentence after its number.
func numbered(c study.Claim) string { return strings.TrimSpace(c.ID + " " + c.Says) }

// asked counts claims and the ratios that ask them.
func asked(all []study.Judgement) string {
	ids := map[string]bool{}
	for _, j := range all {
		ids[cmp.Or(j.ID, j.Says)] = true
	}
	claims := phrase.Plural(len(ids), "claim", "claims")
	if len(ids) == len(all) {
		return claims
	}
	return phrase.Plural(len(all), "ratio", "ratios") + ", which ask " + claims
}

// claimsSentence counts the answers, as published and at equal levels, and the claims without;
// empty: there are no answers.
func claimsSentence(o study.Outcome) string {
	all := o.Claims
	if len(all) == 0 {
		return ""
	}
	published, equal := map[study.Answer]int{}, map[study.Answer]int{}
	limited, without := 0, 0
	for _, j := range all {
		answer := j.Published
		published[answer.Answer]++
		if j.Equal != nil {
			answer = *j.Equal
		}
		if j.NoEqual == "" {
			equal[answer.Answer]++
		} else {
			without++
		}
		if about(j.Published) || about(answer) {
			limited++
		}
	}
	out := fmt.Sprintf("Of %s, as published: %s. At equal levels: %s",
		asked(all), answers(published), answers(equal))
	if without > 0 {
		out += fmt.Sprintf("; %d have none", without)
	}
	if out += "."; limited > 0 {
		out += fmt.Sprintf(" %s about a resource that limited both sides, and not about the "+
			"study's machines.", phrase.Plural(limited, "answer is", "answers are"))
	}
	if n := len(o.LeftOut); n > 0 {
		out += fmt.Sprintf(" %s left out, with their tables.", phrase.Plural(n,
			"further ratio is", "further ratios are"))
	}
	if n := len(o.NotAsked); n > 0 {
		out += fmt.Sprintf(" %s not asked.", phrase.Plural(n, "further claim is",
			"further claims are"))
	}
	return out
}

// about reports whether an answer is about a resource that limited both sides.
func about(r study.Reply) bool { return r.About != "" && r.Answer.Decided() }

// answers lists how many claims have each answer, without not measured if none has it.
func answers(counts map[study.Answer]int) string {
	var parts []string
	for _, a := range study.Answers {
		if counts[a] > 0 || a != study.NotMeasured {
			parts = append(parts, fmt.Sprintf("%s %d", a, counts[a]))
		}
	}
	return strings.Join(parts, ", ")
}
