package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// SearchFormats are the forms that searches can be written in.
func SearchFormats() []string {
	return []string{"table", "html", "json", "card", "card.png", "post"}
}

// RenderSearches writes searches for a peak in the named format.
func RenderSearches(w io.Writer, format string, searches []*peak.Saved) error {
	switch format {
	case "table":
		return SearchTerminal(w, searches, defaultWidth, false)
	case "html":
		return SearchHTML(w, searches)
	case "json":
		return SearchJSON(w, searches)
	}
	poster := posterForms(func() *document.Poster { return SearchesPoster(searches) })
	for _, f := range poster {
		if f.name == format {
			return f.write(w)
		}
	}
	if slices.Contains(Formats(), format) {
		return fmt.Errorf(
			"a search for a peak is written as table, html, json, card, card.png or post, not as "+
				"%s: each of its "+
				"trials is a run directory that can be", format)
	}
	return errors.New(strict.Unknown("report format", format, SearchFormats()))
}

// SearchJSON writes each search's experiment.json, in one array.
func SearchJSON(w io.Writer, searches []*peak.Saved) error {
	raw, err := json.MarshalIndent(searches, "", "  ")
	if err != nil {
		return fmt.Errorf("encode searches as JSON: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// outcomeOf is the outcome of a trial, in a word, and its colour.
func outcomeOf(p *peak.Trial) (word, code string) {
	switch {
	case !p.Judged:
		return "stopped", faint
	case p.Repeated:
		return "repeated", warn
	case p.Verdict.Stable:
		return "stable", good
	}
	return "unstable", bad
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
	low, high := none, none
	if b.StableRate > 0 {
		low = rate(b.StableRate)
	}
	if b.UnstableRate > 0 {
		high = rate(b.UnstableRate)
	}
	return low + " to " + high
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
	out := orNone(words) + ": " + clean(s.Side.Sentence)
	if s.Side.Use != "" {
		out += "; limiting resource " + clean(s.Side.Resource) + ": " + clean(s.Side.Use)
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

// askedOf describes the search that was asked for.
func askedOf(s *peak.Saved) string {
	messages := quantity.Bytes(s.Load.MessageBytes) + " messages"
	if words := arrivalWords(s.Load); words != "" {
		messages += ", " + words
	}
	out := fmt.Sprintf("%s of %s, %s; windows of %s, confirmed by %s", clean(s.System.Name),
		messages,
		plural(int64(s.Load.Subscriptions), "subscription",
			"subscriptions"), seconds(s.TrialSeconds),
		plural(int64(s.Plan.Confirmations), "run", "runs"))
	if s.Plan.Confirmations > 0 {
		out += " of " + seconds(s.ConfirmSeconds)
	}
	for i, o := range s.Objectives {
		out += map[bool]string{true: "; objective ", false: ", "}[i == 0] + clean(o)
	}
	return out
}

// searchWarnings are the warnings that come before a search's figures.
func searchWarnings(s *peak.Saved) []string {
	var out []string
	switch s.State {
	case result.Complete:
	case result.Running:
		out = append(out, "this search is still running: the figures are of the trials made so far")
	default:
		out = append(out, fmt.Sprintf("this search is %s (%s): its figures until then are kept",
			s.State, clean(s.StateReason)))
	}
	for _, c := range s.Caveats() {
		out = append(out, clean(c))
	}
	if s.System.SharesHost {
		out = append(out, verdict.SharedHost)
	}
	return out
}

// SearchTerminal writes searches for a terminal of the given width.
func SearchTerminal(w io.Writer, searches []*peak.Saved, width int, color bool) error {
	p := newPage(orDefault(width), color)
	if len(searches) == 0 {
		p.line("no searches")
	}
	if len(searches) > 1 {
		p.peaks(searches)
	}
	for i, s := range searches {
		if i > 0 || len(searches) > 1 {
			p.line("")
		}
		p.search(s)
	}
	_, err := w.Write(p.Bytes())
	return err
}

// columnsOf pads the cells of rows to columns: the first to the left, the rest
// to the right.
func columnsOf(rows [][]string) []string {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(c))
		}
	}
	out := make([]string, len(rows))
	for k, r := range rows {
		for i, c := range r {
			if i == 0 {
				out[k] += pad(c, widths[i])
			} else {
				out[k] += "  " + pad(c, -widths[i])
			}
		}
	}
	return out
}

// peaks puts the searches side by side, without a ranking.
func (p *page) peaks(searches []*peak.Saved) {
	rows := [][]string{{"target", "stable", "confirmed", "unstable", "width", "limited by"}}
	for _, s := range searches {
		b := s.Bracket
		row := []string{cut(clean(s.Name), 24), none, none, none, widthOf(b), sideOf(s)}
		if b.StableRate > 0 {
			row[1], row[2] = rate(b.StableRate), fmt.Sprintf("%d of %d", b.Confirmed,
				s.Plan.Confirmations)
		}
		if b.UnstableRate > 0 {
			row[3] = rate(b.UnstableRate)
		}
		rows = append(rows, row)
	}
	for i, l := range columnsOf(rows) {
		if i == 0 {
			l = p.paint.as(faint, l)
		}
		p.line(l)
	}
}

func (p *page) search(s *peak.Saved) {
	when := "  " + moment(s.StartedAt) + "  " + string(s.State)
	p.line(p.paint.as(strong, cut(clean(s.Name)+": peak stable throughput",
		max(p.width-columns(when), 10))) + p.paint.as(faint, when))
	for _, l := range wrap(askedOf(s), p.width) {
		p.line(l)
	}
	p.line("")
	if all := searchWarnings(s); len(all) > 0 {
		for _, sentence := range all {
			p.said("warning", warn, sentence)
		}
		p.line("")
	}
	p.said("peak", strong, s.Sentence())
	if s.Reason != "" {
		p.said("reason", "", s.Reason)
	}
	if sentence := sideSentence(s); sentence != "" {
		p.said("limited by", "", sentence)
	}
	if s.Durability.Meaning != "" {
		p.said("durability", "", durabilitySentence(s.Durability))
	}
	p.line("")
	p.trials(s)
}

// trialHead is the head of a table of trials, and trialCells a row of it.
var trialHead = []string{"trial", "offered", "achieved", "publish p99", "e2e p99", "backlog",
	"verdict"}

func trialCells(p *peak.Trial) []string {
	word, _ := outcomeOf(p)
	return []string{
		fmt.Sprintf("%d %s", p.Number,
			kindOf(p.Kind, p.Long)), rate(p.TargetRate), rate(p.AchievedRate),
		at(p.Series(result.Publish), 99), at(p.Series(result.EndToEnd),
			99), slopeOf(p.Verdict), word,
	}
}

func (p *page) trials(s *peak.Saved) {
	rows := [][]string{trialHead}
	for i := range s.Trials {
		rows = append(rows, trialCells(&s.Trials[i]))
	}
	for i, l := range columnsOf(rows) {
		if i == 0 {
			p.line(p.paint.as(faint, l))
			continue
		}
		_, code := outcomeOf(&s.Trials[i-1])
		p.line(p.paint.as(code, l))
	}
	for _, sentence := range missingTrials(s) {
		p.said("missing", warn, sentence)
	}
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
