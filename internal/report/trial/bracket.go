package trial

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
)

// Bracket prints the bracket in which the peak lies.
func Bracket(b peak.Bracket) string {
	stable, unstable := Ends(b)
	return stable + " to " + unstable
}

// Ends prints the ends of a bracket.
func Ends(b peak.Bracket) (stable, unstable string) {
	return figure.PerSecond.Known(b.StableRate, b.StableRate > 0),
		figure.PerSecond.Known(b.UnstableRate, b.UnstableRate > 0)
}

// Width prints how far apart the ends of a bracket are.
func Width(b peak.Bracket) string {
	if w := b.Width(); phrase.Finite(w) {
		return fmt.Sprintf("%.1f%%", w*100)
	}
	return document.None
}

// Side is the side that limited, in a word or two.
func Side(s *peak.Saved) string {
	if s.Side == nil {
		return document.None
	}
	side := document.Clean(s.Side.Name)
	if s.Side.Resource != "" && s.Side.Resource != verdict.NoneSeen &&
		s.Side.Resource != verdict.NotKnown {
		side += ", " + document.Clean(s.Side.Resource)
	}
	return side
}

// SideSentence names the side that limited, and the reason.
func SideSentence(s *peak.Saved) string {
	if s.Side == nil {
		return ""
	}
	words := map[string]string{
		verdict.SideGenerator: "plimsoll itself", verdict.SideWorkload: "the workload",
		verdict.SidePublish: "the publish side",
		verdict.SideConsume: "the consume side", verdict.SideUnknown: "not known",
	}[s.Side.Name]
	out := cmp.Or(words, document.None) + ": " + document.Clean(s.Side.Sentence)
	if s.Side.Use != "" {
		out += "; limiting resource " + document.Clean(s.Side.Resource) + ": " +
			document.Clean(s.Side.Use)
	}
	return out
}
