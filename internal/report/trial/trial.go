package trial

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Head is the head of a table of trials, and Cells a row of it.
var Head = []string{"trial", "offered", "achieved", "publish p99", "e2e p99", "backlog",
	"verdict"}

// Cells is the row of a trial in a table with Head.
func Cells(p *peak.Trial) []string {
	word, _ := Outcome(p)
	return []string{fmt.Sprintf("%d %s", p.Number, Kind(p.Kind, p.Long)), phrase.Rate(p.TargetRate),
		phrase.Rate(p.AchievedRate), latency.At(p.Series(result.Publish), 99),
		latency.At(p.Series(result.EndToEnd), 99), Slope(p.Verdict), word}
}

// Outcome is the outcome of a trial, in a word, and its tone.
func Outcome(p *peak.Trial) (word string, tone document.Tone) {
	switch {
	case !p.Judged:
		return "stopped", ""
	case p.Repeated:
		return "repeated", document.Unsure
	case p.Verdict.Stable:
		return "stable", document.Good
	case p.Verdict.Undecided:
		return "undecided", document.Unsure
	case p.Verdict.OwnLimit():
		return "limited by plimsoll", document.Unsure
	}
	return "unstable", document.Bad
}

// Kind is the purpose of a trial, marked where its window was lengthened.
func Kind(kind peak.Kind, long bool) string {
	if long && kind != peak.Confirm {
		return string(kind) + ", longer"
	}
	return string(kind)
}

// Slope prints the growth of the number of waiting messages.
func Slope(v verdict.Stability) string {
	if !v.Sloped || !phrase.Finite(v.SlopeRate) {
		return document.None
	}
	return Signed(v.SlopeRate)
}

// Signed prints a rate with its sign.
func Signed(perSecond float64) string {
	if perSecond > 0 {
		return "+" + phrase.Rate(perSecond)
	}
	return phrase.Rate(perSecond)
}
