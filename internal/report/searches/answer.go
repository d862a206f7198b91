package searches

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
// at a rate at which the other was not.
func searchesAnswer(all []*peak.Saved) string {
	if len(all) == 1 {
		return searchAnswer(all[0])
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
	h := part.Heading(1, title)
	h.Heading.Beside = trial.Asked(all[0])
	return []document.Block{h, part.Paragraph(document.Answer, answer),
		part.Table(togetherTable(all)),
		{Facts: part.BriefWarnings(slices.Compact(fact.Sentences(warned)))}}
}
