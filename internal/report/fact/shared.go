package fact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

var digits = regexp.MustCompile(`[0-9][0-9.,]*[a-zµ%]*(?: trials?)?`)

// WithoutFigures is the part of a warning that is equal in warnings that differ in figures only.
func WithoutFigures(w result.Warning) result.Warning {
	w.Sentence = digits.ReplaceAllString(w.Sentence, "#")
	return w
}

// Circumstances are the levels, the load and the length of runs, if all share them; levels
// that differ are named for each run.
func Circumstances(runs []*result.Saved) string {
	levels := func(r *result.Run) string {
		if r.Durability.Level == 0 {
			return ""
		}
		words := "durability " + phrase.Level(r.Durability.Level)
		if m := document.Clean(r.Durability.Meaning); m != "" {
			words += " (" + m + ")"
		}
		return words
	}
	length := func(r *result.Run) string {
		if r.Load.WindowSeconds <= 0 {
			return ""
		}
		return "for " + phrase.Seconds(r.Load.WindowSeconds)
	}
	of := Shared(runs, levels)
	if of == "" {
		var each []string
		for i, n := range Names(runs) {
			if r := &runs[i].Run; r.Durability.Level > 0 {
				each = append(each, n+" at durability "+phrase.LevelRead(r.Durability))
			}
		}
		of = phrase.List(each)
	}
	aim := func(r *result.Run) string { return Aim(r.Load) }
	parts := []string{of, Shared(runs, aim), Shared(runs, Load),
		Shared(runs, length)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// Shared are words that all runs have in common; empty where they differ.
func Shared(runs []*result.Saved, words func(*result.Run) string) string {
	out := ""
	for i, s := range runs {
		w := words(&s.Run)
		if i > 0 && w != out {
			return ""
		}
		out = w
	}
	return out
}
