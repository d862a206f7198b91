package trial

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
	for i, o := range s.Objectives {
		out += map[bool]string{true: "; objective ", false: ", "}[i == 0] + document.Clean(o)
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
