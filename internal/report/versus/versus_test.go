package versus

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

// versus compares two sets of synthetic runs with a number of seconds and a speed for each, and
// judges gates.
func versus(t *testing.T, seconds, runs int, gates ...string) Comparison {
	t.Helper()
	side := func(name string, medianU float64) compare.Side {
		s := compare.Side{Name: name}
		for i := range runs {
			sh := fixture.Small
			sh.StallAt, sh.Seconds, sh.MedianU = 0, seconds, medianU*(1+0.01*float64((i*7)%5))
			s.Runs = append(s.Runs, sh.Load(t))
			s.Runs[i].Run.ID = fmt.Sprintf("%s-%d", name, i+1)
			if name == "after" {
				at := slices.IndexFunc(s.Runs[i].Run.Settings,
					func(set result.Setting) bool { return set.Name == "sync_interval" })
				s.Runs[i].Run.Settings[at].Value = "1s"
			}
		}
		return s
	}
	return compared(t, Comparison{Notes: []string{"run x is left out: it is incomplete"},
		Objections: []string{"one reason\x1b[31m"}}, side("before", 600), side("after", 690), gates)
}

// compared compares two sides by the usual figures, and judges gates.
func compared(t *testing.T, v Comparison, a, b compare.Side, gates []string) Comparison {
	t.Helper()
	primary, err := compare.FindPrimary(compare.Primary)
	if err != nil {
		t.Fatal(err)
	}
	if v.Comparison, err = compare.New(a, b, primary...); err != nil {
		t.Fatal(err)
	}
	var parsed []compare.Gate
	for _, text := range gates {
		g, err := compare.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, g)
	}
	if v.Rulings, err = v.Rule(parsed); err != nil {
		t.Fatal(err)
	}
	return v
}

// boundedPairs is a comparison in pairs in which B never answers some messages and
// refuses others, and the instrument's own error is known.
func boundedPairs(t *testing.T, runs int, gates ...string) Comparison {
	t.Helper()
	twin := result.Latency{Count: 1000, Percentiles: []result.Percentile{
		{Percentile: 50, LatencyNs: 20e3}, {Percentile: 99, LatencyNs: 60e3},
	}, MaxNs: 400e3}
	side := func(name string, times int64) compare.Side {
		s := compare.Side{Name: name}
		for i := range runs {
			sh := fixture.Small
			sh.StallAt, sh.Seconds, sh.MedianU = 0, 8, 600*(1+0.01*float64((i*7)%5))
			r := sh.Load(t)
			r.Run.ID, r.Run.Seed = fmt.Sprintf("%s-%d", name, i+1), uint64(i+1)
			r.Run.Trial = &result.Trial{Set: "set", Round: i + 1, Rounds: runs}
			r.Run.Summary.Instrument = &result.Instrument{Publish: twin, EndToEnd: twin}
			for _, l := range r.Run.Summary.Latency {
				for at := range l.Percentiles {
					l.Percentiles[at].LatencyNs = l.Percentiles[at].LatencyNs*times/100 +
						int64(i)*1000
				}
			}
			s.Runs = append(s.Runs, r)
		}
		return s
	}
	a, b := side("before", 100), side("after", 102)
	for _, r := range b.Runs {
		for at := range r.Run.Summary.Latency[:2] {
			l := &r.Run.Summary.Latency[at]
			l.Missing = result.Missing{Unanswered: 1500, Refused: 400}
			for i := range l.Percentiles {
				switch p := &l.Percentiles[i]; {
				case p.Percentile == 99 && at == 0:
					p.LatencyNs, p.Bound = 2e9, result.AtLeast
				case p.Percentile >= 99:
					p.Bound = result.NotReached
				}
			}
		}
	}
	return compared(t, Comparison{Objections: compare.Objects(a, b).Sentences()}, a, b, gates)
}

// written is a comparison in each form; a table is 100 columns wide.
func written(t *testing.T, v Comparison) map[string][]byte {
	t.Helper()
	var table, markdown, raw bytes.Buffer
	if err := errors.Join(document.Terminal(&table, v.Document(), document.Layout{Width: 100}),
		document.Markdown(&markdown, v.Document()), JSON(&raw, v)); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"table": table.Bytes(), "md": markdown.Bytes(), "json": raw.Bytes()}
}

// Every format marks bounds as bounds, and says that the difference is too small beside plimsoll's
// own error.
func TestVersusSaysBounds(t *testing.T) {
	v := boundedPairs(t, 5, "publish.p99 > 1.1x", "e2e.p99 > 10ms")
	for form, out := range written(t, v) {
		fixture.Says(t, form, out, "publish.p99 of B is at least 1348 times as high", "≥ 2s",
			"e2e.p99 of B is not reached, and so higher", "fails: e2e.p99 is not reached",
			"differ in their shares of messages without a publish latency", "2,000 refused",
			"7,500 never answered",
			"the medians lie 13us apart, less than 3 times plimsoll's own error of 20us")
		fixture.SaysNot(t, form, out, "lower")
	}
}

func TestVersusGolden(t *testing.T) {
	gates := []string{"publish.p99 > 1.05x", "rate < 0.95x", "lost > 0"}
	for name, v := range map[string]Comparison{
		"versus": versus(t, 8, 5, gates...), "versus-single": versus(t, 30, 1,
			gates...), "versus-few": versus(t, 8, 3),
		"versus-bounds": boundedPairs(t, 5, gates...), "versus-bounds-single": boundedPairs(t, 1,
			gates[0],
			"e2e.p99 > 1.1x"),
	} {
		out := written(t, v)
		for form := range out {
			fixture.Golden(t, name+"."+form, out[form])
			fixture.SaysNot(t, name+"."+form, out[form], "\x1b", "NaN", "Inf")
		}
		if name == "versus" {
			var narrow bytes.Buffer
			if err := document.Terminal(&narrow, v.Document(),
				document.Layout{Width: 80}); err != nil {
				t.Fatal(err)
			}
			fixture.Golden(t, name+"-narrow.table", narrow.Bytes())
		}
		for line := range strings.SplitSeq(string(out["table"]), "\n") {
			if document.Columns(line) > 100 {
				t.Errorf("%s: a line of %d columns: %s", name, document.Columns(line), line)
			}
		}
	}
}

// What runs cannot show has no figure beyond a factor of ten.
func TestNoAbsurdDifferenceIsNamed(t *testing.T) {
	side := func(name string, at ...int64) compare.Side {
		s := compare.Side{Name: name}
		for i, ns := range at {
			s.Runs = append(s.Runs, &result.Saved{Run: result.Run{ID: fmt.Sprint(name, i),
				Summary: result.Summary{Latency: []result.Latency{{Series: result.Publish,
					Count: 1000, Percentiles: []result.Percentile{{Percentile: 99,
						LatencyNs: ns}}}}}}})
		}
		return s
	}
	primary, err := compare.FindPrimary("publish.p99")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.New(side("A", 1e5, 1e8, 1e6, 1e9), side("B", 2e5, 2e8, 2e6, 1e10), primary...)
	if err != nil {
		t.Fatal(err)
	}
	got := Comparison{Comparison: c}.answers()[0]
	if strings.Contains(got, "000%") || !strings.Contains(got,
		"the runs are too few, or scatter too much, to show any difference below 10 times") {
		t.Error(got)
	}
}

// A single run has a median, and no interval of it.
func TestASingleRunHasNoInterval(t *testing.T) {
	for runs, want := range map[int]bool{1: false, 5: true} {
		table := Medians(versus(t, 8, runs).A.Runs)[0].Table
		if len(table.Rows) == 0 {
			t.Fatal("there are no figures")
		}
		for _, r := range table.Rows {
			words := r.Values[1].Words
			if has := words != document.None; has != want || words == "" ||
				strings.Contains(words, "(0%)") {
				t.Errorf("%d runs, %s: the interval %q", runs, r.Name, words)
			}
		}
	}
}

// A comparison of such sets names its method, and no other.
func TestMethodOfSequentialSets(t *testing.T) {
	runs := fixture.UntilKnown(6, 0.01, 1000, 1500)
	var a, b compare.Side
	for i, s := range runs {
		side := []*compare.Side{&a, &b}[i%2]
		side.Runs = append(side.Runs, s)
	}
	figure, err := figure.Find("publish.p99")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.New(a, b, figure)
	if err != nil {
		t.Fatal(err)
	}
	got := Comparison{Comparison: c}.method()
	if !strings.Contains(got, "B / A that of the ratios of each round") ||
		!strings.Contains(got, "a confidence sequence") || strings.Contains(got, "Mann-Whitney") {
		t.Error(got)
	}
}
