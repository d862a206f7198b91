package known

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Of returns how well the figures of a set are known whose rounds end when they are; nil: the
// runs are no such set.
func Of(runs []*result.Saved) *compare.Known {
	goal, is := compare.GoalOf(runs)
	if !is {
		return nil
	}
	complete := slices.DeleteFunc(slices.Clone(runs),
		func(s *result.Saved) bool { return s.Run.State != result.Complete })
	return compare.NewKnown(goal, complete)
}

// Blocks show how well the figures of a set are known, and what more it would take.
func Blocks(k *compare.Known) []document.Block {
	if k == nil {
		return nil
	}
	out := []document.Block{{Facts: Facts(k)}, part.Table(knownTable(k))}
	if len(k.Pairs) > 0 {
		out = append(out, part.Table(pairsTable(k)))
	}
	return append(out, part.Warnings(withoutValue(k)))
}

// Facts say whether the figures of a set are known.
func Facts(k *compare.Known) []document.Fact {
	if k == nil {
		return nil
	}
	return part.Facts("until "+bound(k), document.Main, knownSentence(k))
}

// withoutValue says which targets lack a figure, in all rounds or in some, and why.
func withoutValue(k *compare.Known) (out []string) {
	for _, f := range k.Without {
		out = append(out, fmt.Sprintf("%s has no %s: %s", document.Clean(f.Target), f.Figure.Name,
			document.Clean(f.Why)))
	}
	for _, f := range k.Figures {
		if f.Why == "" {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %d of %d rounds give no %s: %s",
			document.Clean(f.Target), k.Rounds-f.Center.Values, k.Rounds, f.Figure.Name,
			document.Clean(f.Why)))
	}
	return out
}

func bound(k *compare.Known) string { return quantity.ExactShare(k.Share) }

// knownSentence says whether the figures are known, and what is missing.
func knownSentence(k *compare.Known) string {
	after := "after " + phrase.Plural(k.Rounds, "round", "rounds")
	switch {
	case len(k.Figures) == 0:
		return "nothing is known " + after + ": no run gives a value of a primary figure"
	case k.Precise():
		return fmt.Sprintf("known %s: the interval of 95%% of each primary figure reaches at most "+
			"%s above it", after, bound(k))
	case k.Decided():
		return fmt.Sprintf("known %s: in each primary figure every pair of targets differs, or is "+
			"equal within %s", after, bound(k))
	}
	return "not known " + after + ": " + moreSentence(k, k.More())
}

// moreSentence says how many more rounds would do, and how long they would take.
func moreSentence(k *compare.Known, rounds int) string {
	if rounds >= compare.Unforeseen {
		return "the rounds cannot tell how many more it takes"
	}
	return fmt.Sprintf("about %s, %s (--resume, with a longer --at-most)",
		phrase.Plural(rounds, "more round", "more rounds"), roughly(int64(rounds)*k.RoundNs))
}

// roughly prints a time of which only the first digits are known.
func roughly(ns int64) string {
	const minute = 60e9
	switch minutes := float64(ns) / minute; {
	case minutes < 1:
		return phrase.Plural(int64(math.Ceil(float64(ns)/1e9)), "second", "seconds")
	case minutes < 100:
		return phrase.Plural(int64(math.Ceil(minutes)), "minute", "minutes")
	case minutes < 60*72:
		return phrase.Plural(int64(math.Ceil(minutes/60)), "hour", "hours")
	default:
		return phrase.Plural(int64(math.Ceil(minutes/60/24)), "day", "days")
	}
}

// knownTable has a row for each primary figure of each target.
func knownTable(k *compare.Known) document.Table {
	t := document.Table{ID: "known", Title: "How well the figures are known", Corner: "target",
		Words: true, Head: document.Heads("figure", "mean of rounds", "interval of 95%",
			"reaches above",
			"rounds", "further rounds"),
		Note: "The intervals hold however often the rounds were looked at; each covers the " +
			"variation between rounds."}
	for _, f := range k.Figures {
		mean, interval := Center(f.Figure.Unit, f.Center)
		t.Add(document.Clean(f.Target), f.Figure.Name, mean, interval, ReachOf(f.Reach),
			fmt.Sprintf("%d of %d", f.Center.Values, k.Rounds), furtherRounds(f.More))
	}
	return t
}

// Cells show how well the figures of a sweep's cells are known, if it goes on until they are.
func Cells(plan *sweep.Plan, runs, further []*result.Saved) []document.Block {
	known, err := compare.KnownCells(plan, runs, further)
	if err != nil || known == nil {
		return nil
	}
	t := knownTable(&compare.Known{})
	t.Corner = "cell"
	var missing []string
	for i, k := range known {
		label := sweep.Label(plan.Axes, plan.Cells[i].Values)
		for _, row := range knownTable(k).Rows {
			row.Name = label
			t.Rows = append(t.Rows, row)
		}
		if !k.Precise() {
			missing = append(missing, label+": "+knownSentence(k))
		}
	}
	t.Note += " Charts and figures elsewhere are those of the first round."
	if len(missing) == 0 {
		missing = []string{"every cell is known to " + quantity.ExactShare(plan.Until)}
	}
	return []document.Block{part.Table(t),
		{Facts: part.Facts("until "+quantity.ExactShare(plan.Until), document.Main, missing...)}}
}

// ReachOf prints a share, which may be large or unknown.
func ReachOf(share float64) string {
	if share > 100 {
		return document.None
	}
	return Percent(share)
}

func furtherRounds(n int) string {
	switch {
	case n == 0:
		return "–"
	case n >= compare.Unforeseen:
		return "not known"
	}
	return "about " + strconv.Itoa(n)
}

// mostPairs is the number of pairs up to which decided ones are listed too.
const mostPairs = 12

// pairsTable has a row for each primary figure of each pair of targets. Of many pairs it has only
// those that are not decided.
func pairsTable(k *compare.Known) document.Table {
	t := document.Table{ID: "pairs", Title: "Pairs of targets", Corner: "B / A", Words: true,
		Head: document.Heads("figure", "ratio", "interval", "answer", "further rounds"),
		Note: "Of 100 sets of equal targets, at most 4 have a pair that differs here, however " +
			"often they were looked at and however many pairs there are. The intervals hold for " +
			"all pairs together.",
		Empty: "Each pair is decided."}
	for _, p := range k.Pairs {
		if len(k.Pairs) > mostPairs && p.Relation != compare.Undecided {
			continue
		}
		t.Add(document.Clean(p.B)+" / "+document.Clean(p.A), p.Figure.Name, Times(p.Ratio),
			Reach(p.Low, p.High, Times), answerOf(k, p), furtherRounds(p.More))
	}
	return t
}

func answerOf(k *compare.Known, p compare.KnownPair) string {
	switch p.Relation {
	case compare.Alike:
		return "equal within " + bound(k)
	case compare.Hidden:
		return "within plimsoll's own error"
	}
	return string(p.Relation)
}

// Manifold is the least ratio that is described as "N times as high" rather than by a percentage,
// and the least difference that is too large to be called what the runs could have shown.
const Manifold = 10

// Percent prints a share, with a digit after the point where it is small.
func Percent(v float64) string {
	digits := 0
	if v < 0.1 {
		digits = 1
	}
	return strconv.FormatFloat(v*100, 'f', digits, 64) + "%"
}

// Times prints a ratio.
func Times(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64) + "x"
	}
	return strconv.FormatFloat(v, 'f', 3, 64) + "x"
}

// Reach prints an interval; either end may be open.
func Reach(low, high float64, printed func(float64) string) string {
	switch {
	case math.IsInf(low, 1) || high == 0 || low <= 0 && math.IsInf(high, 1):
		return "no interval"
	case math.IsInf(high, 1):
		return printed(low) + " or more"
	case low <= 0:
		return printed(high) + " or less"
	}
	return printed(low) + " to " + printed(high)
}

// PValue prints a p.
func PValue(e compare.Effect) string {
	switch {
	case !e.Tested():
		return document.None
	case e.P < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(e.P, 'f', 4, 64)
}

// Shown is the answer of one figure in a word.
func Shown(e compare.Effect) string {
	switch {
	case !e.Tested():
		return "not tested"
	case e.Blurred:
		return "own error"
	case !e.Shown:
		return "–"
	case e.Ratio > 1:
		return "higher"
	}
	return "lower"
}

// Center prints a median, or its bounds, and its interval.
func Center(unit figure.Unit, c compare.Center) (median, interval string) {
	print := func(v float64) string { return unit.Print(v) }
	switch {
	case c.Median.NotReached():
		median = "not reached"
	case math.IsInf(c.Median.Most, 1):
		median = "≥ " + print(c.Median.Least)
	case !c.Median.Exact():
		median = print(c.Median.Least) + " to " + print(c.Median.Most)
	default:
		median = print(c.Median.Least)
	}
	if c.Values == 1 && (c.Low == c.High || !c.Median.Exact()) || math.IsInf(c.Low, 1) {
		return median, ""
	}
	return median, Reach(c.Low, c.High, print)
}

// Bracketed prints a value with its interval, where it has one.
func Bracketed(value, interval string) string {
	if interval == "" {
		return value
	}
	return value + " (" + interval + ")"
}
