package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// knownOf returns how well the figures of a set are known whose rounds end when they are; nil: the
// runs are no such set.
func knownOf(runs []*result.Saved) *compare.Known {
	goal, is := compare.GoalOf(runs)
	if !is {
		return nil
	}
	complete := slices.DeleteFunc(slices.Clone(runs),
		func(s *result.Saved) bool { return s.Run.State != result.Complete })
	return compare.NewKnown(goal, complete)
}

// knownBlocks show how well the figures of a set are known, and what more it would take.
func knownBlocks(k *compare.Known) []block {
	if k == nil {
		return nil
	}
	out := []block{{Facts: knownFacts(k)}, tabled(knownTable(k))}
	if len(k.Pairs) > 0 {
		out = append(out, tabled(pairsTable(k)))
	}
	return append(out, warned(withoutValue(k)))
}

// knownFacts say whether the figures of a set are known.
func knownFacts(k *compare.Known) []document.Fact {
	if k == nil {
		return nil
	}
	return factsOf("until "+bound(k), document.Main, knownSentence(k))
}

// withoutValue says which targets lack a figure, in all rounds or in some, and why.
func withoutValue(k *compare.Known) (out []string) {
	for _, f := range k.Without {
		out = append(out, fmt.Sprintf("%s has no %s: %s", clean(f.Target), f.Figure.Name,
			clean(f.Why)))
	}
	for _, f := range k.Figures {
		if f.Why == "" {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %d of %d rounds give no %s: %s", clean(f.Target),
			k.Rounds-f.Center.Values, k.Rounds, f.Figure.Name, clean(f.Why)))
	}
	return out
}

func bound(k *compare.Known) string { return quantity.ExactShare(k.Share) }

// knownSentence says whether the figures are known, and what is missing.
func knownSentence(k *compare.Known) string {
	after := "after " + plural(k.Rounds, "round", "rounds")
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
		plural(rounds, "more round", "more rounds"), roughly(int64(rounds)*k.RoundNs))
}

// roughly prints a time of which only the first digits are known.
func roughly(ns int64) string {
	const minute = 60e9
	switch minutes := float64(ns) / minute; {
	case minutes < 1:
		return plural(int64(math.Ceil(float64(ns)/1e9)), "second", "seconds")
	case minutes < 100:
		return plural(int64(math.Ceil(minutes)), "minute", "minutes")
	case minutes < 60*72:
		return plural(int64(math.Ceil(minutes/60)), "hour", "hours")
	default:
		return plural(int64(math.Ceil(minutes/60/24)), "day", "days")
	}
}

// knownTable has a row for each primary figure of each target.
func knownTable(k *compare.Known) document.Table {
	t := document.Table{ID: "known", Title: "How well the figures are known", Corner: "target",
		Words: true, Head: heads("figure", "mean of rounds", "interval of 95%", "reaches above",
			"rounds", "further rounds"),
		Note: "The intervals hold however often the rounds were looked at; each covers the " +
			"variation between rounds."}
	for _, f := range k.Figures {
		mean, interval := printCenter(f.Figure.Unit, f.Center)
		t.Add(clean(f.Target), f.Figure.Name, mean, interval, reachOf(f.Reach),
			fmt.Sprintf("%d of %d", f.Center.Values, k.Rounds), furtherRounds(f.More))
	}
	return t
}

// cellsKnown show how well the figures of a sweep's cells are known, if it goes on until they are.
func cellsKnown(plan *sweep.Plan, runs, further []*result.Saved) []block {
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
	return []block{tabled(t), {Facts: factsOf("until "+quantity.ExactShare(plan.Until),
		document.Main, missing...)}}
}

// reachOf prints a share, which may be large or unknown.
func reachOf(share float64) string {
	if share > 100 {
		return none
	}
	return percent(share)
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
		Head: heads("figure", "ratio", "interval", "answer", "further rounds"),
		Note: "Of 100 sets of equal targets, at most 4 have a pair that differs here, however " +
			"often they were looked at and however many pairs there are. The intervals hold for " +
			"all pairs together.",
		Empty: "Each pair is decided."}
	for _, p := range k.Pairs {
		if len(k.Pairs) > mostPairs && p.Relation != compare.Undecided {
			continue
		}
		t.Add(clean(p.B)+" / "+clean(p.A), p.Figure.Name, times(p.Ratio),
			reach(p.Low, p.High, times), answerOf(k, p), furtherRounds(p.More))
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

// knownJSON is compare.Known for machines.
type knownJSON struct {
	Share        float64           `json:"until"`
	Rounds       int               `json:"rounds"`
	RoundNs      int64             `json:"round_ns"`
	Precise      bool              `json:"each_figure_known"`
	Decided      bool              `json:"each_pair_decided"`
	FurtherNs    *int64            `json:"further_ns,omitempty"` // of Further
	Further      *int              `json:"further_rounds,omitempty"`
	Figures      []knownFigureJSON `json:"figures"`
	Pairs        []knownPairJSON   `json:"pairs,omitempty"`
	WithoutValue []string          `json:"without_value,omitempty"`
	Sentence     string            `json:"sentence"`
}

type knownFigureJSON struct {
	Target  string      `json:"target"`
	Figure  string      `json:"figure"`
	Unit    figure.Unit `json:"unit"`
	Mean    *float64    `json:"mean"`
	Low     *float64    `json:"low,omitempty"` // of the interval of 95%
	High    *float64    `json:"high,omitempty"`
	Reach   *float64    `json:"reach,omitempty"`
	Rounds  int         `json:"rounds"`
	Further *int        `json:"further_rounds,omitempty"`
}

type knownPairJSON struct {
	A       string           `json:"a"`
	B       string           `json:"b"`
	Figure  string           `json:"figure"`
	Ratio   *float64         `json:"ratio"`
	Low     *float64         `json:"ratio_low,omitempty"`
	High    *float64         `json:"ratio_high,omitempty"`
	Answer  compare.Relation `json:"answer"`
	Further *int             `json:"further_rounds,omitempty"`
}

// newKnownJSON is nil for runs that are no such set.
func newKnownJSON(k *compare.Known) *knownJSON {
	if k == nil {
		return nil
	}
	out := &knownJSON{Share: k.Share, Rounds: k.Rounds, RoundNs: k.RoundNs, Precise: k.Precise(),
		Decided: k.Decided(), Figures: []knownFigureJSON{}, WithoutValue: withoutValue(k),
		Sentence: knownSentence(k)}
	if !out.Precise && !out.Decided {
		if out.Further = foreseen(k.More()); out.Further != nil {
			ns := int64(*out.Further) * k.RoundNs
			out.FurtherNs = &ns
		}
	}
	for _, f := range k.Figures {
		c := newCenterJSON(f.Center)
		out.Figures = append(out.Figures, knownFigureJSON{f.Target, f.Figure.Name, f.Figure.Unit,
			c.Median, c.Low, c.High, number(f.Reach), f.Center.Values, foreseen(f.More)})
	}
	for _, p := range k.Pairs {
		one := knownPairJSON{A: p.A, B: p.B, Figure: p.Figure.Name, Ratio: number(p.Ratio),
			High: number(p.High), Answer: p.Relation, Further: foreseen(p.More)}
		if p.Low > 0 {
			one.Low = number(p.Low)
		}
		out.Pairs = append(out.Pairs, one)
	}
	return out
}

// foreseen is nil for a number of rounds that cannot be told.
func foreseen(rounds int) *int {
	if rounds >= compare.Unforeseen {
		return nil
	}
	return &rounds
}
