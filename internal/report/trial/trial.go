package trial

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
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

// Asked describes the search that was asked for.
func Asked(s *peak.Saved) string {
	messages := phrase.Messages(s.Load)
	if words := fact.ArrivalWords(s.Load); words != "" {
		messages += ", " + words
	}
	confirmed := "not confirmed"
	if n := s.Plan.Confirmations; n > 0 {
		confirmed = "confirmed by " + phrase.Plural(n, "run", "runs") + " of " +
			phrase.Seconds(s.ConfirmSeconds)
	}
	out := fmt.Sprintf("%s of %s, %s; windows of %s, %s", document.Clean(s.System.Name), messages,
		phrase.Plural(s.Load.Subscriptions, "subscription", "subscriptions"),
		phrase.Seconds(s.TrialSeconds), confirmed)
	if len(s.Objectives) > 0 {
		out += "; objective " + document.Clean(strings.Join(s.Objectives, ", "))
	}
	return out
}

// Confirmed counts the longer runs that confirmed a search's stable rate, of those wanted.
func Confirmed(s *peak.Saved) string {
	if s.Plan.Confirmations == 0 {
		return document.None
	}
	return fmt.Sprintf("%d of %d", s.Bracket.Confirmed, s.Plan.Confirmations)
}

// SearchWarnings are the warnings that come before a search's figures, the gravest first.
func SearchWarnings(s *peak.Saved) []result.Warning {
	var out []result.Warning
	warn := func(code, sentence string) {
		out = append(out, result.Warning{Code: code, Sentence: sentence})
	}
	switch s.State {
	case result.Complete:
	case result.Running:
		warn(string(s.State),
			"this search is still running: the figures are of the trials made so far")
	default:
		warn(string(s.State), fmt.Sprintf("this search is %s (%s): its figures until then are kept",
			s.State, document.Clean(s.StateReason)))
	}
	for _, c := range s.Caveats() {
		warn(c.Code, document.Clean(c.Sentence))
	}
	if s.System.SharesHost {
		warn(verdict.CodeSharedHost, verdict.SharedHost)
	}
	verdict.BySeverity(out)
	return out
}

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
	side := SideWords(s.Side)
	if s.Side.Resource != "" && s.Side.Resource != verdict.NoneSeen &&
		s.Side.Resource != verdict.NotKnown {
		side += ", " + document.Clean(s.Side.Resource)
	}
	return side
}

// SideWords names a side that limited.
func SideWords(s *verdict.Side) string {
	return cmp.Or(map[string]string{
		verdict.SideGenerator: "plimsoll itself", verdict.SideWorkload: "the workload",
		verdict.SidePublish: "the publish side", verdict.SideConsume: "the consume side",
		verdict.SideUnknown: "not known",
	}[s.Name], document.None)
}

// SideSentence names the side that limited, and the reason.
func SideSentence(s *peak.Saved) string {
	if s.Side == nil {
		return ""
	}
	out := SideWords(s.Side) + ": " + document.Clean(s.Side.Sentence)
	if s.Side.Use != "" {
		out += "; limiting resource " + document.Clean(s.Side.Resource) + ": " +
			document.Clean(s.Side.Use)
	}
	return out
}
