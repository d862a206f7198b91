package versus

import (
	"io"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
)

// versusFigureJSON is the comparison of a figure. Unknown values, and values that are not
// reached, are left out.
type versusFigureJSON struct {
	Figure string           `json:"figure"`
	Unit   figure.Unit      `json:"unit"`
	A      known.CenterJSON `json:"a"`
	B      known.CenterJSON `json:"b"`
	Ratio  *float64         `json:"ratio,omitempty"`
	// Bound is at_least, at_most, a_not_reached, b_not_reached or not_known.
	Bound    string   `json:"ratio_bound,omitempty"`
	Low      *float64 `json:"ratio_low,omitempty"` // of the interval of 95%
	High     *float64 `json:"ratio_high,omitempty"`
	P        *float64 `json:"p,omitempty"`
	Paired   bool     `json:"paired"`
	Shown    bool     `json:"shown"`
	OwnError *float64 `json:"instrument_ns,omitempty"`   // plimsoll's own error in it
	Blurred  bool     `json:"within_instrument_error"`   // and so no difference
	Detect   *float64 `json:"detectable,omitempty"`      // as a share
	Power    *float64 `json:"detectable_with,omitempty"` // the share of comparisons that show it
}

func newVersusFigureJSON(e compare.Effect) versusFigureJSON {
	out := versusFigureJSON{
		Figure: e.Figure.Name, Unit: e.Figure.Unit, A: known.NewCenterJSON(e.A),
		B: known.NewCenterJSON(e.B),
		P: known.Number(e.P), Paired: e.Paired, Shown: e.Shown, Blurred: e.Blurred,
		High: known.Number(e.High),
	}
	switch t := e.Times; {
	case t.Exact() && t.Least > 0:
		out.Ratio = known.Number(t.Least)
	case t.NotReached():
		out.Bound = "b_not_reached"
	case t.Most == 0:
		out.Bound = "a_not_reached"
	case t.Least > 0:
		out.Ratio, out.Bound = known.Number(t.Least), "at_least"
	case !math.IsInf(t.Most, 1):
		out.Ratio, out.Bound = known.Number(t.Most), "at_most"
	default:
		out.Bound = "not_known"
	}
	if e.Low > 0 {
		out.Low = known.Number(e.Low)
	}
	if e.OwnError > 0 {
		out.OwnError = known.Number(e.OwnError)
	}
	if share, ok := e.Detectable(); ok {
		out.Detect, out.Power = known.Number(share), known.Number(compare.Power)
	}
	return out
}

// JSON writes a comparison for machines. Unknown values are left out.
func JSON(w io.Writer, v Comparison) error {
	type side struct {
		Name string   `json:"name"`
		Runs []string `json:"runs"`
	}
	ids := func(s compare.Side) side {
		out := side{Name: s.Name}
		for _, r := range s.Runs {
			out.Runs = append(out.Runs, r.Run.ID)
		}
		return out
	}
	out := struct {
		A        side               `json:"a"`
		B        side               `json:"b"`
		Primary  string             `json:"primary"` // with commas between
		Within   bool               `json:"within_single_runs"`
		Rounds   bool               `json:"until_known,omitempty"`
		Paired   compare.Pairing    `json:"paired_by,omitempty"`
		Answer   string             `json:"answer"`
		Warnings []string           `json:"warnings"`
		Figures  []versusFigureJSON `json:"figures"`
		Gates    []compare.Ruling   `json:"gates,omitempty"`
		Method   string             `json:"method"`
	}{ids(v.A), ids(v.B), strings.Join(v.Primary, ","), v.Within, v.Sequential, v.Pairing,
		strings.Join(v.answers(), "; "), append([]string{}, v.warnings()...),
		[]versusFigureJSON{}, v.Rulings, v.method()}
	figures := v.Figures
	if len(v.Refused) > 0 {
		figures, out.Method = nil, ""
	}
	for _, e := range figures {
		out.Figures = append(out.Figures, newVersusFigureJSON(e))
	}
	return document.JSON(w, out)
}
