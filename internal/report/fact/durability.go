package fact

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// DurabilityOf is Durability, and why the run is at a weaker level than its workload.
func DurabilityOf(r *result.Run) string {
	if Running(r) && r.Durability.Level == 0 {
		return "not read back from the cluster yet"
	}
	out := Durability(r.Durability)
	if weaker := document.Clean(r.Asked.Weaker); weaker != "" {
		out += "; " + weaker
	}
	return out
}

// Durability gives the level asked for and the level read back from the cluster.
func Durability(d result.Durability) string {
	out := phrase.Level(d.Asked) + " asked, "
	switch {
	case d.Asked == 0 && d.Level == 0:
		return "no level is on record"
	case d.Level == 0:
		out += "not read back from the cluster"
	case d.Stated:
		out += "stated and not read back from the servers alone"
	case d.Asked == 0:
		out = phrase.Level(d.Level) + " read back from the cluster, none asked"
	case d.Asked != d.Level:
		out += "but " + phrase.Level(d.Level) + " read back from the cluster"
	default:
		out += phrase.Level(d.Level) + " read back from the cluster"
	}
	if m := document.Clean(d.Meaning); m != "" {
		out += ": " + m
	}
	return out
}

// ShortLevel is the level that was read back from the cluster, or else the level asked for.
func ShortLevel(r *result.Run) string {
	switch d := r.Durability; {
	case d.Level > 0:
		return fmt.Sprint(d.Level) + phrase.SingleCopy(d)
	case d.Asked > 0:
		return fmt.Sprintf("%d asked", d.Asked)
	}
	return document.None
}
