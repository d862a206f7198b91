package overview

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Closing returns the last sentence on runs: which did not reach the offered rate, or were limited
// by plimsoll; empty: none.
func Closing(runs []*result.Saved) string {
	var groups phrase.Grouped[string, string]
	for i, n := range fact.Names(runs) {
		r := &runs[i].Run
		v, overloaded := verdict.Overloaded(r)
		switch {
		case r.Summary.Generator.Limited:
			groups.Add("plimsoll itself was the limit, so the figures are not the system's: "+
				strings.TrimPrefix(verdictSentence(r, verdict.Generator),
					"plimsoll itself was the limit: "), n)
		case overloaded && v.Name == verdict.Rate:
			groups.Add("the offered rate was not reached: "+document.Clean(v.Sentence), n)
		case overloaded:
			groups.Add(document.Clean(v.Sentence), n)
		}
	}
	var out []string
	for _, sentence := range groups.Keys {
		if len(runs) > 1 {
			sentence = strings.Join(groups.Of[sentence], ", ") + ": " + sentence
		}
		out = append(out, sentence)
	}
	if len(out) > 1 {
		return fmt.Sprintf("%s; and %s like it", out[0], phrase.Plural(len(out)-1, "more", "more"))
	}
	return strings.Join(out, "")
}

func verdictSentence(r *result.Run, name string) string {
	for _, v := range r.Verdicts {
		if v.Name == name {
			return document.Clean(v.Sentence)
		}
	}
	return ""
}
