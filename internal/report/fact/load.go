package fact

import (
	"fmt"
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

// OfArrivals is a heading followed by the arrivals.
func OfArrivals(heading string, l result.Load) string {
	if words := ArrivalWords(l); words != "" {
		return heading + " (" + words + ")"
	}
	return heading
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
	return fmt.Sprintf("a closed loop: %s, each with %s of %s of %s in flight",
		phrase.Plural(l.Topics*l.Producers, "producer", "producers"),
		phrase.Plural(l.Closed.InFlight, "send", "sends"), batchWords(l.Closed), phrase.Size(l))
}

// batchWords is the number of messages in a send.
func batchWords(c *result.Closed) string {
	if c.BatchLeast == c.BatchMost {
		return phrase.Plural(c.BatchMost, "message", "messages")
	}
	return fmt.Sprintf("%d to %d messages", c.BatchLeast, c.BatchMost)
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
