package fact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Replays reports whether a subscription of its own read the backlog, so that
// the others kept up all along.
func Replays(b *result.Backlog) bool { return b.Then == "replay" }

// Arrivals names the arrival process, or is empty if that is unknown: percentiles of two kinds of
// arrivals cannot be compared.
func Arrivals(l result.Load) string {
	switch {
	case l.Closed != nil:
		return "closed loop"
	case l.Burst > 1:
		return fmt.Sprintf("%s bursts of %d", document.Clean(l.Arrivals), l.Burst)
	}
	return document.Clean(l.Arrivals)
}

// ArrivalWords names the arrivals in a heading.
func ArrivalWords(l result.Load) string {
	words := Arrivals(l)
	if l.Closed != nil || l.Burst > 1 || words == "" {
		return words
	}
	return words + " arrivals"
}

// BriefLoad is the level and the load of a run, in a few words.
func BriefLoad(r *result.Run) string {
	var parts []string
	if d := r.Durability; d.Level > 0 {
		parts = append(parts, phrase.LevelRead(d))
	}
	if words := Load(r); words != "" {
		parts = append(parts, words)
	}
	if r.Load.WindowSeconds > 0 {
		parts = append(parts, phrase.Seconds(r.Load.WindowSeconds))
	}
	return strings.Join(parts, ", ")
}

// Aim names the aim of a run's clients; empty: the default.
func Aim(l result.Load) string {
	if word := workload.Clients(document.Clean(l.Clients)).Word(); word != workload.ClientsDefault {
		return "clients for " + string(word)
	}
	return ""
}

// Topics says how many topics there are, and how many partitions each of them has.
func Topics(l result.Load) string {
	kinds := l.TopicKinds
	if len(kinds) == 0 {
		kinds = []result.TopicKind{{Topics: l.Topics, Partitions: l.Partitions}}
	}
	var all []string
	for _, k := range kinds {
		one := TopicsOf(k)
		if k.Class != "" {
			one += " of " + document.Clean(k.Class)
		}
		all = append(all, one)
	}
	return strings.Join(all, " + ")
}

// TopicsOf says how many topics are of a kind, and how many partitions each of them has.
func TopicsOf(k result.TopicKind) string {
	return fmt.Sprintf("%s × %s", phrase.Plural(k.Topics, "topic", "topics"),
		phrase.Plural(k.Partitions, "partition", "partitions"))
}

// Closed says how many sends a closed loop keeps in flight.
func Closed(l result.Load) string {
	batch := phrase.Plural(l.Closed.BatchMost, "message", "messages")
	if l.Closed.BatchLeast != l.Closed.BatchMost {
		batch = fmt.Sprintf("%d to %d messages", l.Closed.BatchLeast, l.Closed.BatchMost)
	}
	return fmt.Sprintf("a closed loop: %s, each with %s of %s of %s in flight",
		phrase.Plural(l.Topics*l.Producers, "producer", "producers"),
		phrase.Plural(l.Closed.InFlight, "send", "sends"), batch, phrase.Size(l))
}

// Model is the load model and, of an open loop, its arrivals.
func Model(l result.Load) []string {
	if l.Model == "" {
		return nil
	}
	out := []string{document.Clean(l.Model) + " loop"}
	if l.Closed == nil && l.Arrivals != "" {
		out = append(out, ArrivalWords(l))
	}
	return out
}

// Load are the offered rate and the size of a run's messages.
func Load(r *result.Run) string {
	size := phrase.Messages(r.Load)
	switch l := r.Load; {
	case l.Closed != nil:
		return size + " in " + Closed(l)
	case l.TargetRate > 0 && phrase.Finite(l.TargetRate):
		return phrase.Rate(l.TargetRate) + " of " + size
	}
	return ""
}

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
