package known

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// JSON is compare.Known for machines.
type JSON struct {
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

// NewJSON is nil for runs that are no such set.
func NewJSON(k *compare.Known) *JSON {
	if k == nil {
		return nil
	}
	out := &JSON{Share: k.Share, Rounds: k.Rounds, RoundNs: k.RoundNs, Precise: k.Precise(),
		Decided: k.Decided(), Figures: []knownFigureJSON{}, WithoutValue: withoutValue(k),
		Sentence: knownSentence(k)}
	if !out.Precise && !out.Decided {
		if out.Further = foreseen(k.More()); out.Further != nil {
			out.FurtherNs = new(int64(*out.Further) * k.RoundNs)
		}
	}
	for _, f := range k.Figures {
		c := NewCenterJSON(f.Center)
		out.Figures = append(out.Figures, knownFigureJSON{f.Target, f.Figure.Name, f.Figure.Unit,
			c.Median, c.Low, c.High, Number(f.Reach), f.Center.Values, foreseen(f.More)})
	}
	for _, p := range k.Pairs {
		one := knownPairJSON{A: p.A, B: p.B, Figure: p.Figure.Name, Ratio: Number(p.Ratio),
			High: Number(p.High), Answer: p.Relation, Further: foreseen(p.More)}
		if p.Low > 0 {
			one.Low = Number(p.Low)
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

// CenterJSON is the middle of a set of values.
type CenterJSON struct {
	Median     *float64     `json:"median,omitempty"` // or its lower bound, when only that is known
	Bound      result.Bound `json:"bound,omitempty"`
	Low        *float64     `json:"low,omitempty"`
	High       *float64     `json:"high,omitempty"`
	Confidence float64      `json:"confidence"`   // of the interval
	Values     int          `json:"values_count"` // that it comes from
}

// Number is nil for a value that is not finite.
func Number(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// NewCenterJSON is the center of a set as JSON.
func NewCenterJSON(c compare.Center) CenterJSON {
	return CenterJSON{Median: Number(c.Median.Least), Bound: c.Median.Bound(),
		Low: Number(c.Low), High: Number(c.High), Confidence: c.Confidence, Values: c.Values}
}
