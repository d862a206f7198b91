package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// posterForms are the forms to share: a picture as SVG and as PNG, and a short text.
func posterForms(poster func() *document.Poster) []form {
	return []form{
		{"card", func(w io.Writer) error {
			_, err := io.WriteString(w, poster().SVG())
			return err
		}},
		{"card.png", func(w io.Writer) error {
			png, err := poster().PNG(context.Background())
			if err != nil {
				return err
			}
			_, err = w.Write(png)
			return err
		}},
		{"post", func(w io.Writer) error {
			_, err := io.WriteString(w, poster().Post())
			return err
		}},
	}
}

// RunsPoster is the poster of runs: one, or several side by side.
func RunsPoster(runs []*result.Saved) *document.Poster {
	p := &document.Poster{Systems: names(runs), Circumstances: sharedCircumstances(runs)}
	if len(runs) == 0 {
		return p
	}
	r := &runs[0].Run
	switch {
	case len(runs) > 1:
		p.Question = "How do " + listed(p.Systems) + " compare under the same load?"
		if sharedWords(runs, loadWords) == "" {
			p.Question = "How do " + listed(p.Systems) + " compare?"
		}
		p.Chart = newOverlay(runs).curve(result.Publish)
	default:
		p.Question = "How does " + cmp.Or(clean(r.System.Name), "an unnamed system") + " carry " +
			cmp.Or(loadWords(r), "this load") + "?"
		p.Chart = curveChart(runs[0], within{})
	}
	for _, f := range posterFigures {
		p.Figures = append(p.Figures, posterFigure(f[0], f[1], runs)...)
	}
	var columns []missed
	for _, s := range runs {
		columns = append(columns, missedOf(&s.Run))
	}
	p.Faults = missedRows("", columns)
	if len(p.Faults) == 0 || p.Faults[0].Name != missedNames[0] {
		p.Figures = append(p.Figures, posterFigure(missedNames[0], figure.Lost, runs)...)
	}
	p.Limits = gravest(append(unranked(runs), sharedWarnings(runs)...))
	var commands [][]string
	for _, s := range runs {
		commands = append(commands, s.Run.Asked.Command)
	}
	p.Command = commandOf(commands)
	p.Source = sourceWords(r.Plimsoll, moment(r.StartedAt))
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
		words := printed(name)(&s.Run)
		some = some || words != none
		out.Values = append(out.Values, micro(words))
		out.Unranked = append(out.Unranked, len(runs) > 1 && f.Unit != figure.Messages &&
			!rankedBy(&s.Run, f.IsLatency()))
	}
	if !some {
		return nil
	}
	return []document.Figure{out}
}

// unranked are the reasons not to compare the runs, and not to rank single ones.
func unranked(runs []*result.Saved) (out []result.Warning) {
	if len(runs) > 1 {
		for _, sentence := range incomparable(runs) {
			out = append(out, result.Warning{Code: verdict.Incomparable, Sentence: sentence})
		}
	}
	for i, name := range names(runs) {
		if ranked, why := verdict.RankingOf(&runs[i].Run); ranked != verdict.Ranked {
			why.Sentence = name + " is not ranked: " + clean(why.Sentence)
			out = append(out, why)
		}
	}
	return out
}

// gravest is the gravest of the sentences, or that one run is not many.
func gravest(all []result.Warning) string {
	all = slices.DeleteFunc(slices.Clone(all), func(w result.Warning) bool {
		return strings.TrimRight(w.Sentence, ".") == ""
	})
	if len(all) == 0 {
		return "Measured on one machine in one hour: another machine, or another day, may differ."
	}
	verdict.BySeverity(all)
	sentence := strings.TrimRight(all[0].Sentence, ".")
	out := sentence + "."
	if first, _, _ := strings.Cut(sentence, " "); !strings.HasSuffix(first, ":") {
		out = strings.ToUpper(sentence[:1]) + sentence[1:] + "."
	}
	if left := len(all) - 1; left > 0 {
		out += " And " + plural(left, "more warning", "more warnings") + " in the report."
	}
	return out
}

// SearchesPoster is the poster of searches for a peak.
func SearchesPoster(all []*peak.Saved) *document.Poster {
	p := &document.Poster{}
	if len(all) == 0 {
		return p
	}
	s := all[0]
	sizes := messagesOf(s.Load)
	var levels []string
	bracket := document.Figure{Name: "Peak stable throughput"}
	above := document.Figure{Name: "Unstable from"}
	publish := document.Figure{Name: "Publish latency at the peak, p99"}
	delivered := document.Figure{Name: "End-to-end latency at the peak, p99"}
	for _, s := range all {
		p.Systems = append(p.Systems, clean(s.Name))
		levels = append(levels, levelRead(s.Durability))
		low, high := endsOf(s.Bracket)
		bracket.Values, above.Values = append(bracket.Values, low), append(above.Values, high)
		stable, _ := s.Ends()
		if stable == nil {
			stable = &peak.Trial{}
		}
		publish.Values = append(publish.Values, micro(at(stable.Series(result.Publish), 99)))
		delivered.Values = append(delivered.Values, micro(at(stable.Series(result.EndToEnd), 99)))
	}
	p.Question = "How many " + sizes + " per second " + doesOrDo(p.Systems) + " carry?"
	p.Circumstances = "durability " + listed(levels) + ", "
	if same := slices.Compact(slices.Clone(levels)); len(same) == 1 {
		p.Circumstances = "durability " + same[0] + ", "
	}
	p.Circumstances += fmt.Sprintf("windows of %s, ", seconds(s.TrialSeconds)) + confirmedWords(all)
	p.Figures = []document.Figure{bracket, publish, above, delivered}
	if knees := kneeCharts(all); len(knees) > 0 {
		p.Chart = knees[0]
	} else {
		p.Chart = stickChart(s)
	}
	var warned []result.Warning
	var commands [][]string
	var columns []missed
	for _, s := range all {
		commands, columns = append(commands, s.Asked.Command), append(columns, missedIn(s))
		for _, w := range searchWarnings(s) {
			if len(all) > 1 {
				w.Sentence = clean(s.Name) + ": " + w.Sentence
			}
			warned = append(warned, w)
		}
	}
	p.Faults = missedRows(", all trials", columns)
	p.Limits = gravest(warned)
	p.Command = commandOf(commands)
	p.Source = sourceWords(s.Plimsoll, moment(s.StartedAt))
	return p
}

// confirmedWords says whether longer runs confirmed every peak.
func confirmedWords(all []*peak.Saved) string {
	if slices.ContainsFunc(all, func(s *peak.Saved) bool { return s.Bracket.Confirmed == 0 }) {
		return "not every peak confirmed by a longer run"
	}
	return "confirmed by longer runs"
}

func doesOrDo(systems []string) string {
	if len(systems) == 1 {
		return "does " + systems[0]
	}
	return "do " + listed(systems)
}

// listed joins names as a sentence does: the first three of many.
func listed(names []string) string {
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return names[0]
	case n <= 3:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	default:
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d others", n-3)
	}
}

// loadWords are the offered rate and the size of a run's messages.
func loadWords(r *result.Run) string {
	size := messagesOf(r.Load)
	switch l := r.Load; {
	case l.Closed != nil:
		return size + " in " + closedSentence(l)
	case l.TargetRate > 0 && finite(l.TargetRate):
		return rate(l.TargetRate) + " of " + size
	}
	return ""
}

// sharedCircumstances are the levels, the load and the length of runs, if all share them; levels
// that differ are named for each run.
func sharedCircumstances(runs []*result.Saved) string {
	levels := func(r *result.Run) string {
		if r.Durability.Level == 0 {
			return ""
		}
		words := "durability " + level(r.Durability.Level)
		if m := clean(r.Durability.Meaning); m != "" {
			words += " (" + m + ")"
		}
		return words
	}
	length := func(r *result.Run) string {
		if r.Load.WindowSeconds <= 0 {
			return ""
		}
		return "for " + seconds(r.Load.WindowSeconds)
	}
	of := sharedWords(runs, levels)
	if of == "" {
		var each []string
		for i, n := range names(runs) {
			if r := &runs[i].Run; r.Durability.Level > 0 {
				each = append(each, n+" at durability "+levelRead(r.Durability))
			}
		}
		of = listed(each)
	}
	aim := func(r *result.Run) string { return aimWords(r.Load) }
	parts := []string{of, sharedWords(runs, aim), sharedWords(runs, loadWords),
		sharedWords(runs, length)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// sharedWords are words that all runs have in common; empty where they differ.
func sharedWords(runs []*result.Saved, words func(*result.Run) string) string {
	out := ""
	for i, s := range runs {
		w := words(&s.Run)
		if i > 0 && w != out {
			return ""
		}
		out = w
	}
	return out
}

// commandOf is the command that made results, or the first of several and the number of others.
func commandOf(commands [][]string) string {
	var out []string
	for _, c := range commands {
		if words := clean(portable(c)); words != "" && !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	switch len(out) {
	case 0:
		return ""
	case 1:
		return out[0]
	}
	others := plural(len(out)-1, "other", "others")
	return fmt.Sprintf("%s   # and %s like it", out[0], others)
}

// portable is a command without the paths of this machine, that of the program and that of its
// results, and without the part of a study, which is measured part by part.
func portable(command []string) string {
	if len(command) == 0 {
		return ""
	}
	out := []string{"plimsoll"}
	for i := 1; i < len(command); i++ {
		switch name, _, whole := strings.Cut(command[i], "="); {
		case name != "--runs" && name != "--only":
			out = append(out, command[i])
		case !whole:
			i++
		}
	}
	return CommandLine(out)
}

func sourceWords(b result.Build, when string) string {
	return strings.TrimSpace("plimsoll "+clean(b.Version)) + ", measured " + when
}
