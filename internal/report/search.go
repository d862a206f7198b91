package report

import (
	"cmp"
	"fmt"
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Searches reports on searches for a peak.
func Searches(all []*peak.Saved) Report { return SearchesUntil(all, nil) }

// SearchesUntil is Searches for peaks that were searched for until they are known; peaks says how
// well they are.
func SearchesUntil(all []*peak.Saved, peaks *compare.Known) Report {
	type of struct {
		*peak.Saved
		Known *knownJSON `json:"known,omitempty"`
	}
	forJSON := make([]of, len(all))
	for i, s := range all {
		forJSON[i].Saved = s
	}
	if len(all) > 0 {
		forJSON[len(all)-1].Known = newKnownJSON(peaks)
	}
	return Report{
		Document: func() document.Document {
			d := searchDocument(all)
			if peaks != nil {
				d.Brief = append(d.Brief, knownBlocks(peaks)...)
				d.Blocks = append([]block{{Section: append([]block{
					heading(1, "Peaks of all rounds")}, knownBlocks(peaks)...)}}, d.Blocks...)
			}
			return d
		},
		kind: "a search for a peak", parts: "each of its trials", ofParts: Formats(),
		forms: append([]form{jsonForm(forJSON)},
			posterForms(func() *document.Poster { return SearchesPoster(all) })...),
	}
}

// outcomeOf is the outcome of a trial, in a word, and its tone.
func outcomeOf(p *peak.Trial) (word string, tone document.Tone) {
	switch {
	case !p.Judged:
		return "stopped", ""
	case p.Repeated:
		return "repeated", document.Unsure
	case p.Verdict.Stable:
		return "stable", document.Good
	case p.Verdict.Undecided:
		return "undecided", document.Unsure
	}
	return "unstable", document.Bad
}

// kindOf is the purpose of a trial, marked where its window was lengthened.
func kindOf(kind peak.Kind, long bool) string {
	if long && kind != peak.Confirm {
		return string(kind) + ", longer"
	}
	return string(kind)
}

// slopeOf prints the growth of the number of waiting messages.
func slopeOf(v verdict.Stability) string {
	if !v.Sloped || !finite(v.SlopeRate) {
		return none
	}
	return signed(v.SlopeRate)
}

func signed(perSecond float64) string {
	if perSecond > 0 {
		return "+" + rate(perSecond)
	}
	return rate(perSecond)
}

// bracketOf prints the bracket in which the peak lies.
func bracketOf(b peak.Bracket) string {
	stable, unstable := endsOf(b)
	return stable + " to " + unstable
}

// endsOf prints the ends of a bracket.
func endsOf(b peak.Bracket) (stable, unstable string) {
	return figure.PerSecond.Known(b.StableRate, b.StableRate > 0),
		figure.PerSecond.Known(b.UnstableRate, b.UnstableRate > 0)
}

// widthOf prints how far apart the ends of a bracket are.
func widthOf(b peak.Bracket) string {
	if w := b.Width(); finite(w) {
		return fmt.Sprintf("%.1f%%", w*100)
	}
	return none
}

// sideOf is the side that limited, in a word or two.
func sideOf(s *peak.Saved) string {
	if s.Side == nil {
		return none
	}
	side := clean(s.Side.Name)
	if s.Side.Resource != "" && s.Side.Resource != verdict.NoneSeen &&
		s.Side.Resource != verdict.NotKnown {
		side += ", " + clean(s.Side.Resource)
	}
	return side
}

// sideSentence names the side that limited, and the reason.
func sideSentence(s *peak.Saved) string {
	if s.Side == nil {
		return ""
	}
	words := map[string]string{
		verdict.SideGenerator: "plimsoll itself", verdict.SideWorkload: "the workload",
		verdict.SidePublish: "the publish side",
		verdict.SideConsume: "the consume side", verdict.SideUnknown: "not known",
	}[s.Side.Name]
	out := cmp.Or(words, none) + ": " + clean(s.Side.Sentence)
	if s.Side.Use != "" {
		out += "; limiting resource " + clean(s.Side.Resource) + ": " + clean(s.Side.Use)
	}
	return out
}

// askedOf describes the search that was asked for.
func askedOf(s *peak.Saved) string {
	messages := messagesOf(s.Load)
	if words := arrivalWords(s.Load); words != "" {
		messages += ", " + words
	}
	out := fmt.Sprintf("%s of %s, %s; windows of %s, confirmed by %s", clean(s.System.Name),
		messages, plural(s.Load.Subscriptions, "subscription", "subscriptions"),
		seconds(s.TrialSeconds), plural(s.Plan.Confirmations, "run", "runs"))
	if s.Plan.Confirmations > 0 {
		out += " of " + seconds(s.ConfirmSeconds)
	}
	for i, o := range s.Objectives {
		out += map[bool]string{true: "; objective ", false: ", "}[i == 0] + clean(o)
	}
	return out
}

// searchWarnings are the warnings that come before a search's figures, the gravest first.
func searchWarnings(s *peak.Saved) []result.Warning {
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
			s.State, clean(s.StateReason)))
	}
	for _, c := range s.Caveats() {
		warn(c.Code, clean(c.Sentence))
	}
	if s.System.SharesHost {
		warn(verdict.CodeSharedHost, verdict.SharedHost)
	}
	verdict.BySeverity(out)
	return out
}

// missingTrials count the messages without a latency of each trial that has such messages.
func missingTrials(s *peak.Saved) []string {
	var out []string
	for i := range s.Trials {
		p := &s.Trials[i]
		for _, sentence := range missingSentences(result.Summary{Latency: p.Latency}) {
			out = append(out, fmt.Sprintf("trial %d, %s", p.Number, sentence))
		}
	}
	return out
}

// logPlace is the place of a rate between two others on a logarithmic scale, from 0 to 1.
func logPlace(rate, least, most float64) float64 {
	if !(rate > 0) || !(least > 0) || !(most > least) {
		return 1
	}
	return min(max(math.Log(rate/least)/math.Log(most/least), 0), 1)
}
