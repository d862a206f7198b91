package fact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Counted is a kind of warning of several results, with the first sentence.
type Counted struct {
	result.Warning
	Of     int  `json:"of"`               // so many results have it
	Differ bool `json:"differ,omitempty"` // their sentences differ
}

// Count counts the results that have warnings of a kind: each kind once, the gravest first.
func Count(results [][]result.Warning) (all []Counted) {
	var sentences phrase.Grouped[result.Warning, string]
	for _, own := range results {
		told := map[result.Warning]bool{}
		for _, w := range own {
			if key := kindOf(w); !told[key] {
				told[key] = true
				sentences.Add(key, w.Sentence)
			}
		}
	}
	verdict.BySeverity(sentences.Keys)
	for _, key := range sentences.Keys {
		said := sentences.Of[key]
		all = append(all, Counted{result.Warning{Code: key.Code, Sentence: said[0]},
			len(said), len(slices.Compact(slices.Sorted(slices.Values(said)))) > 1})
	}
	return all
}

// kindOf is the part of a warning that is equal in warnings of one kind. They differ in their
// figures, and those of a window that moved or of a limit also in what shows it.
func kindOf(w result.Warning) result.Warning {
	if w.Code == verdict.Steady || w.Code == verdict.Generator {
		w.Sentence, _, _ = strings.Cut(w.Sentence, ":")
	}
	return WithoutFigures(w)
}

// Among says how many of the results have the warning, and its sentence.
func (c Counted) Among(results int, one, many string) string {
	example := ""
	if c.Differ {
		example = ", for example"
	}
	return fmt.Sprintf("%d of %s%s: %s", c.Of, phrase.Plural(results, one, many), example,
		c.Sentence)
}
