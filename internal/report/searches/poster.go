package searches

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/poster"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Poster is the poster of searches for a peak.
func Poster(all []*peak.Saved) *document.Poster {
	p := &document.Poster{}
	if len(all) == 0 {
		return p
	}
	s := all[0]
	var levels []string
	bracket := document.Figure{Name: "Peak stable throughput"}
	above := document.Figure{Name: "Unstable from"}
	publish := document.Figure{Name: "Publish latency at the peak, p99"}
	delivered := document.Figure{Name: "End-to-end latency at the peak, p99"}
	for _, s := range all {
		p.Systems = append(p.Systems, document.Clean(s.Name))
		levels = append(levels, phrase.LevelRead(s.Durability))
		low, high := trial.Ends(s.Bracket)
		bracket.Values, above.Values = append(bracket.Values, low), append(above.Values, high)
		stable, _ := s.Ends()
		if stable == nil {
			stable = &peak.Trial{}
		}
		publish.Values = append(publish.Values,
			phrase.Micro(latency.At(stable.Series(result.Publish), 99)))
		delivered.Values = append(delivered.Values,
			phrase.Micro(latency.At(stable.Series(result.EndToEnd), 99)))
	}
	asked := "do " + phrase.List(p.Systems)
	if len(all) == 1 {
		asked = "does " + p.Systems[0]
	}
	p.Question = "How many " + phrase.Messages(s.Load) + " per second " + asked + " carry?"
	if same := slices.Compact(slices.Clone(levels)); len(same) == 1 {
		levels = same
	}
	p.Circumstances = fmt.Sprintf("durability %s, windows of %s, %s", phrase.List(levels),
		phrase.Seconds(s.TrialSeconds), confirmedWords(all))
	p.Figures = []document.Figure{bracket, publish, above, delivered}
	if knees := chart.Knees(all); len(knees) > 0 {
		p.Chart = knees[0]
	} else {
		p.Chart = chart.Sticks(s)
	}
	var warned []result.Warning
	var commands [][]string
	var columns []poster.Missed
	for _, s := range all {
		commands, columns = append(commands, s.Asked.Command), append(columns, poster.MissedIn(s))
		for _, w := range trial.SearchWarnings(s) {
			if len(all) > 1 {
				w.Sentence = document.Clean(s.Name) + ": " + w.Sentence
			}
			warned = append(warned, w)
		}
	}
	p.Faults = poster.MissedRows(", all trials", columns)
	p.Limits = poster.Gravest(warned)
	p.Command = poster.Command(commands)
	p.Source = poster.Source(s.Plimsoll, phrase.Moment(s.StartedAt))
	return p
}

// confirmedWords says whether longer runs confirmed every peak.
func confirmedWords(all []*peak.Saved) string {
	if slices.ContainsFunc(all, func(s *peak.Saved) bool { return s.Bracket.Confirmed == 0 }) {
		return "not every peak confirmed by a longer run"
	}
	return "confirmed by longer runs"
}
