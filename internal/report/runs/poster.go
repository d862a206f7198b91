package runs

import (
	"cmp"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/overview"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/poster"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Poster is the poster of runs: one, or several side by side.
func Poster(runs []*result.Saved) *document.Poster {
	p := &document.Poster{Systems: fact.Names(runs), Circumstances: fact.Circumstances(runs)}
	if len(runs) == 0 {
		return p
	}
	r := &runs[0].Run
	switch {
	case len(runs) > 1:
		p.Question = "How do " + phrase.List(p.Systems) + " compare under the same load?"
		if fact.Shared(runs, fact.Load) == "" {
			p.Question = "How do " + phrase.List(p.Systems) + " compare?"
		}
		p.Chart = chart.NewOverlay(runs).Curve(result.Publish)
	default:
		p.Question = "How does " + cmp.Or(document.Clean(r.System.Name), "an unnamed system") +
			" carry " + cmp.Or(fact.Load(r), "this load") + "?"
		p.Chart = chart.Curve(runs[0], latency.Within{})
	}
	for _, f := range posterFigures {
		p.Figures = append(p.Figures, posterFigure(f[0], f[1], runs)...)
	}
	var columns []poster.Missed
	for _, s := range runs {
		columns = append(columns, poster.MissedOf(&s.Run))
	}
	p.Faults = poster.MissedRows("", columns)
	if len(p.Faults) == 0 || p.Faults[0].Name != poster.MissedNames[0] {
		p.Figures = append(p.Figures, posterFigure(poster.MissedNames[0], figure.Lost, runs)...)
	}
	p.Limits = poster.Gravest(append(unranked(runs), overview.SharedWarnings(runs)...))
	var commands [][]string
	for _, s := range runs {
		commands = append(commands, s.Run.Asked.Command)
	}
	p.Command = poster.Command(commands)
	p.Source = poster.Source(r.Plimsoll, phrase.Moment(r.StartedAt))
	return p
}

// posterFigures are the titles and names of a poster's figures.
var posterFigures = [][2]string{{"Acknowledged", figure.Rate},
	{"Publish latency, p99", "publish.p99"}, {"End-to-end latency, p99", "e2e.p99"},
	{"Publish latency, p50", "publish.p50"}, {"End-to-end latency, p99.9", "e2e.p99.9"}}

// posterFigure is a figure of a poster; none if no run has it.
func posterFigure(title, name string, runs []*result.Saved) []document.Figure {
	out, some, f := document.Figure{Name: title}, false, figure.Named(name)
	for _, s := range runs {
		words := row.Printed(name)(&s.Run)
		some = some || words != document.None
		out.Values = append(out.Values, phrase.Micro(words))
		out.Unranked = append(out.Unranked, len(runs) > 1 && f.Unit != figure.Messages &&
			!fact.RankedBy(&s.Run, f.IsLatency()))
	}
	if !some {
		return nil
	}
	return []document.Figure{out}
}

// unranked are the reasons not to compare the runs, and not to rank single ones.
func unranked(runs []*result.Saved) (out []result.Warning) {
	if len(runs) > 1 {
		for _, sentence := range overview.Incomparable(runs) {
			out = append(out, result.Warning{Code: verdict.Incomparable, Sentence: sentence})
		}
	}
	for i, name := range fact.Names(runs) {
		if ranked, why := verdict.RankingOf(&runs[i].Run); ranked != verdict.Ranked {
			why.Sentence = name + " is not ranked: " + document.Clean(why.Sentence)
			out = append(out, why)
		}
	}
	return out
}
