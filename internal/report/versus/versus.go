package versus

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Comparison is a comparison of two sets of runs, with its objections and notes.
type Comparison struct {
	*compare.Comparison
	Objections []string // the reasons not to compare the sets, which were compared nevertheless
	OnlyRates  []string // the reasons why latencies are left out
	Refused    []string // the reasons why nothing was compared
	Notes      []string // the runs and figures left out, and why
	Rulings    []compare.Ruling
}

// The parts of the sentences on the method of a comparison.
const (
	medianMethod = "Medians have intervals of 95%; for fewer than six runs, from the least value " +
		"to the greatest. "
	rankMethod = "B / A is the median of all ratios (Hodges and Lehmann); its interval of 95% " +
		"and p are those of the Mann-Whitney test. "
	pairedMethod = "Runs of the same %s are compared in pairs: B / A is the geometric mean of " +
		"their ratios; its interval of 95% and p are Student's, on the logarithms. "
	boundMethod = "A figure that is not reached ranks above every other. Where only a bound is " +
		"known, the test assumes the value that speaks against a difference. "
	boundByRanks = "A figure for which some run has only a bound is compared by ranks. "
	roundsMethod = "The rounds went on until figures were known: figures are geometric means of " +
		"the rounds, and B / A that of %s. Intervals of 95%% and p hold however often the rounds " +
		"were looked at (a confidence sequence, on the logarithms). "
	withinMethod = "A side has a single run: intervals of 95% and p come from a block bootstrap " +
		"with five blocks over the run's intervals of a second. They cover the variation within " +
		"a run, not between runs. "
	alarmMethod = "Of 100 comparisons of equal %s, at most 5 show a difference: 4 in %s, 1 in " +
		"the others, which Holm's method corrects together."
)

// method describes how the figures were computed.
func (v Comparison) method() string {
	out, equals, ofBounds := medianMethod+rankMethod, "systems", boundMethod
	switch {
	case v.Within:
		out, equals, ofBounds = withinMethod, "runs", ""
	case v.Sequential:
		of := "both sides, whose intervals add up"
		if v.Pairing != "" {
			of = "the ratios of each " + string(v.Pairing)
		}
		out = fmt.Sprintf(roundsMethod, of)
		ofBounds = "A figure for which some run has only a bound is not tested. "
	case v.Pairing != "":
		out = medianMethod + strings.ReplaceAll(pairedMethod, "%s", string(v.Pairing))
		ofBounds = boundByRanks + boundMethod
	}
	if slices.ContainsFunc(v.Figures, compare.Effect.Bounded) {
		out += ofBounds
	}
	return out + fmt.Sprintf(alarmMethod, equals, v.deciding())
}

// deciding names the primary figures.
func (v Comparison) deciding() string {
	if len(v.Primary) == 1 {
		return "the primary figure"
	}
	return strings.Join(v.Primary, " and ")
}

// title names the two sides.
func (v Comparison) title() string {
	side := func(s compare.Side) string {
		copies := fact.Shared(s.Runs, func(r *result.Run) string {
			return phrase.SingleCopy(r.Durability)
		})
		return fmt.Sprintf("%s (%s%s)", document.Clean(s.Name), phrase.Plural(len(s.Runs), "run",
			"runs"), copies)
	}
	return "A is " + side(v.A) + ", B is " + side(v.B)
}

// answers are the answers of the primary figures, a sentence each.
func (v Comparison) answers() []string {
	var out []string
	if len(v.Refused) > 0 {
		return []string{"not compared: " + strings.Join(v.Refused, "; ")}
	}
	for _, e := range v.Figures {
		if slices.Contains(v.Primary, e.Figure.Name) {
			out = append(out, answer(e))
		}
	}
	if len(out) == 0 {
		return []string{strings.Join(v.Primary, " and ") +
			": not known for every run, so there is no answer"}
	}
	return out
}

// answer is the answer of a figure.
func answer(e compare.Effect) string {
	name := e.Figure.Name
	against := known.Bracketed(known.Center(e.Figure.Unit, e.B)) + " against " +
		known.Bracketed(known.Center(e.Figure.Unit, e.A)) + " of A"
	if measurable(e) {
		against += ", " + ratioOf(e) + " (" + known.Reach(e.Low, e.High, known.Times) + ")"
	}
	switch {
	case !e.Tested():
		return name + ": " + against + "; not tested"
	case e.Shown:
		return fmt.Sprintf("%s of B is %s: %s", name, by(e), against)
	case e.Blurred:
		return fmt.Sprintf("%s: no difference shown: %s; the difference is too small beside "+
			"plimsoll's own error of %s", name, against, e.Figure.Unit.Print(e.OwnError))
	}
	out := fmt.Sprintf("%s: no difference shown: %s", name, against)
	share, ok := e.Detectable()
	switch {
	case ok && share >= known.Manifold-1:
		out += fmt.Sprintf("; the runs are too few, or scatter too much, to show any difference "+
			"below %d times", known.Manifold)
	case ok:
		out += fmt.Sprintf("; had the systems differed by %s, %.0f of 10 such comparisons would "+
			"have shown it", known.Percent(share), compare.Power*10)
	}
	return out
}

// measurable reports whether there is a ratio to put an interval around.
func measurable(e compare.Effect) bool {
	return e.Tested() && e.Ratio > 0 && !math.IsInf(e.Ratio, 1)
}

// ratioOf prints the ratio of B's figure to A's, or the bounds known for it.
func ratioOf(e compare.Effect) string {
	t := e.Times
	switch {
	case t.Exact() && t.Least > 0:
		return known.Times(t.Least)
	case t.NotReached():
		return "B not reached"
	case t.Most == 0:
		return "A not reached"
	case t.Least == 0 && math.IsInf(t.Most, 1):
		return "not known"
	case math.IsInf(t.Most, 1):
		return "≥ " + known.Times(t.Least)
	case t.Least == 0:
		return "≤ " + known.Times(t.Most)
	}
	return known.Times(t.Least) + " to " + known.Times(t.Most)
}

// by describes the distance of the ratio from 1.
func by(e compare.Effect) string {
	least := ""
	if e.Bounded() {
		least = "at least "
	}
	switch r := e.Ratio; {
	case math.IsInf(r, 1):
		return "not reached, and so higher"
	case r == 0:
		return "lower, as that of A is not reached"
	case r >= known.Manifold:
		return fmt.Sprintf("%s%.0f times as high", least, r)
	case r >= 1:
		return least + known.Percent(r-1) + " higher"
	default:
		return least + known.Percent(1-r) + " lower"
	}
}

// sets are the settings in which the two sets, or the runs of one, differ.
func (v Comparison) sets() []document.Row {
	runs := slices.Concat(v.A.Runs, v.B.Runs)
	var out []document.Row
	for _, r := range row.Differing(runs) {
		sides := document.Row{Name: r.Name}
		a := len(v.A.Runs)
		for _, cells := range [][]document.Cell{r.Values[:a], r.Values[a:]} {
			var values []string
			for _, c := range cells {
				values = append(values, c.Words)
			}
			slices.Sort(values)
			sides.Values = append(sides.Values,
				document.Cell{Words: strings.Join(slices.Compact(values), " | ")})
		}
		if r.Name == row.Seed && row.Same(sides) {
			continue // trials have a seed of their own in each round
		}
		out = append(out, sides)
	}
	return out
}

// warnings are the warnings that come before the figures.
func (v Comparison) warnings() []string {
	out := v.restrictions()
	for _, n := range v.Notes {
		out = append(out, document.Clean(n))
	}
	return append(out, v.Hints...)
}

// restrictions say why a comparison should not have been made, or leaves latencies out.
func (v Comparison) restrictions() (out []string) {
	for _, o := range v.Objections {
		out = append(out, "compared although "+document.Clean(o))
	}
	for _, o := range v.OnlyRates {
		out = append(out, "latencies are left out: "+document.Clean(o))
	}
	return out
}

// Document shows a comparison: what restricts it, its answers, then every figure.
func (v Comparison) Document() document.Document {
	h := part.Heading(1, v.title())
	grave := document.Warnings{Title: "Not comparable", Grave: true, Sentences: v.restrictions()}
	if len(v.Refused) > 0 {
		grave.Sentences = v.Refused
		return document.Document{Title: v.title(), Blocks: []document.Block{h, {Warnings: &grave},
			part.Warnings(v.Notes), {Facts: GateFacts(v.Rulings)}}}
	}
	differ := document.Table{ID: "differ", Title: "What differs", Words: true,
		Head: document.Heads("A", "B"), Rows: v.sets()}
	return document.Document{Title: v.title(), Blocks: []document.Block{h, {Warnings: &grave},
		{Facts: slices.Concat(part.Facts("answer", document.Main, v.answers()...),
			GateFacts(v.Rulings))},
		part.Warnings(slices.Concat(v.Notes, v.Hints)), part.Table(v.table()), part.Table(differ),
		part.Paragraph(document.Note, v.method())}}
}

// Brief has the answers of a comparison, and what restricts them.
func (v Comparison) Brief() []document.Block {
	return []document.Block{{Facts: append(part.Facts("answer", document.Main, v.answers()...),
		part.BriefWarnings(v.warnings())...)}}
}

// GateFacts are the rulings of gates.
func GateFacts(rulings []compare.Ruling) (out []document.Fact) {
	for _, r := range rulings {
		f := document.Fact{Name: "gate", Value: r.Gate + " " + r.Sentence, Tone: document.Good}
		if r.Fails {
			f.Tone = document.Bad
		}
		out = append(out, f)
	}
	return out
}

// table has a row for each figure, with the intervals on a second line.
func (v Comparison) table() document.Table {
	t := document.Table{ID: "versus", Title: "Figures", Corner: "figure",
		Head: []document.Column{{Name: "A", Keep: 3}, {Name: "B", Keep: 3},
			{Name: "B / A", Keep: 4}, {Name: "p", Keep: 2}, {Name: "plimsoll's own error"},
			{Name: "shown", Keep: 4}}}
	lines := func(value, interval string) string {
		if interval == "" {
			return value
		}
		return value + "\n(" + interval + ")"
	}
	for _, e := range v.Figures {
		ratio, own := ratioOf(e), document.None
		if measurable(e) {
			ratio = lines(ratio, known.Reach(e.Low, e.High, known.Times))
		}
		if e.OwnError > 0 {
			own = e.Figure.Unit.Print(e.OwnError)
		}
		t.Add(e.Figure.Name, lines(known.Center(e.Figure.Unit, e.A)),
			lines(known.Center(e.Figure.Unit, e.B)), ratio, known.PValue(e), own, known.Shown(e))
	}
	return t
}

// Medians shows the medians of several runs of one target, with their intervals.
func Medians(runs []*result.Saved) []document.Block {
	figures, centers := compare.Medians(runs)
	middle := "median"
	if _, is := compare.GoalOf(runs); is {
		middle = "mean of rounds"
	}
	t := document.Table{Corner: "figure", Head: []document.Column{{Name: middle, Words: true},
		{Name: "interval", Words: true}}}
	for i, f := range figures {
		median, interval := known.Center(f.Unit, centers[i])
		if interval == "" {
			interval = document.None
		} else {
			interval += fmt.Sprintf(" (%.3g%%)", centers[i].Confidence*100)
		}
		t.Add(f.Name, median, interval)
	}
	return []document.Block{part.Table(t)}
}
