package document

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
)

// wave is a line of n points with a stall in it.
func wave(n int, base float64) (xs, ys Values) {
	for i := range n {
		y := base * (1 + 0.2*math.Sin(float64(i)/5))
		if i == n/2 {
			y = math.NaN()
		}
		if i == n*3/5 {
			y = base / 20
		}
		xs, ys = append(xs, float64(i)), append(ys, y)
	}
	return xs, ys
}

// samples are charts of every form.
func samples() map[string]*Chart {
	t60, due := wave(60, 0)
	_, acked := wave(60, 48_000)
	_, received := wave(60, 47_000)
	for i := range due {
		due[i] = 50_000
	}
	_, p50 := wave(60, 900_000)
	_, p99 := wave(60, 42e6)
	phases := []Span{{From: 0, To: 10, Words: "warm-up"},
		{From: 25, To: 33, Words: "kill a follower (node 2)", Tone: Bad},
		{From: 40, To: 40, Words: "pause of the generator, 1.2s", Tone: Unsure}}
	out := map[string]*Chart{
		"throughput": {ID: "throughput", Title: "Messages per second", Label: "Throughput.",
			X: Axis{Unit: Seconds}, Y: Axis{Unit: PerSecond}, Spans: phases,
			Series: []Series{
				{Name: "due", Color: Grey, Dash: 1, Faint: true, X: t60, Y: due},
				{Name: "acknowledged", X: t60, Y: acked},
				{Name: "received", Color: 1, X: t60, Y: received}}},
		"latency": {ID: "latency", Title: "Latency over time", Label: "Latency.",
			X: Axis{Unit: Seconds}, Y: Axis{Unit: Nanos, Scale: Log}, Spans: phases[:1],
			Series: []Series{{Name: "publish p50", Faint: true, X: t60, Y: p50},
				{Name: "publish p99", X: t60, Y: p99},
				{Name: "publish max", Dash: 2, X: t60, Y: p99}}},
	}
	out["tail"], out["heat"], out["peak"] = tailSample(), heatSample(), peakSample()
	out["growth"] = &Chart{ID: "growth", Title: "Growth of the backlog", Label: "Growth.",
		Small: true, X: Axis{Unit: PerSecond}, Y: Axis{Unit: Share, Scale: Signed},
		Spans: []Span{{Level: true, From: 0.01, Words: "1%", Tone: Unsure}},
		Series: []Series{{Name: "growth", Alone: true, X: Values{1e4, 2e4, 4e4},
			Y: Values{-0.001, 0.002, 0.7}, Low: Values{-0.004, -0.001, 0.6},
			High: Values{0.002, 0.006, 0.8}}}}
	out["nothing"] = &Chart{ID: "nothing", Title: "Backlog", Label: "Backlog.",
		Empty: "No interval was saved."}
	return out
}

func tailSample() *Chart {
	c := &Chart{ID: "tail", Title: "Latency by percentile", Label: "Latency by percentile.",
		X: Axis{Unit: Percentile, Scale: Tail}, Y: Axis{Unit: Nanos, Scale: Log}}
	for run := range 3 {
		s := Series{Name: fmt.Sprintf("run %d", run+1), Color: run}
		for i := range 97 {
			q := float64(i) / 24
			ns := 8e5 * math.Pow(2.1, q) * float64(run+1)
			s.X = append(s.X, 100*(1-math.Pow(10, -q)))
			s.Y = append(s.Y, ns)
		}
		c.Series = append(c.Series, s)
	}
	return c
}

func heatSample() *Chart {
	h := &Heat{}
	for i := range 61 {
		h.X = append(h.X, float64(i))
	}
	for j := range 41 {
		h.Y = append(h.Y, 1e3*math.Pow(10, float64(j)/10))
	}
	for i := range 60 {
		column := make([]int64, 40)
		for j := range column {
			a, b := float64(j)-12-3*math.Sin(float64(i)/9), float64(j)-27
			column[j] = int64(9e3*math.Exp(-a*a/3) + 60*math.Exp(-b*b/6))
		}
		h.Counts = append(h.Counts, column)
	}
	return &Chart{ID: "heat", Title: "Latency heat map", Label: "Heat map.", Heat: h,
		X: Axis{Unit: Seconds}, Y: Axis{Unit: Nanos, Scale: Log},
		Spans: []Span{{From: 30, To: 38, Words: "pause the leader", Tone: Bad}}}
}

func peakSample() *Chart {
	zero := 0.0
	return &Chart{ID: "peak", Title: "Latency over offered rate", Label: "The knee.",
		X: Axis{Unit: PerSecond, Title: "offered", From: &zero},
		Y: Axis{Unit: Nanos, Scale: Log, Title: "p99"},
		Spans: []Span{{From: 80_000, To: 80_000, Words: "sim: 80k/s", Color: new(0)},
			{Level: true, From: 10e6, Words: "objective: p99 < 10ms", Tone: Unsure}},
		Series: []Series{{Name: "sim", Dots: true,
			X: Values{8e3, 2e4, 4e4, 6e4, 7.2e4, 8e4}, Y: Values{1e6, 1.1e6, 1.3e6, 2e6, 4e6, 7e6}},
			{Name: "beyond the peak", Alone: true, X: Values{8.8e4, 9.6e4}, Y: Values{9e7, 4e8},
				Marks: []Mark{{At: 0, Cross: true, Tone: Bad, Tip: "trial 7: unstable"},
					{At: 1, Cross: true, Above: true, Tone: Bad, Words: "8"}}}}}
}

func TestChartsAreDrawnAsBefore(t *testing.T) {
	for name, c := range samples() {
		for kind, got := range map[string]string{"fluid": c.SVG(), "alone": standalone(c)} {
			if kind == "alone" {
				// The style is the same in all, and has golden files of its own.
				_, content, _ := strings.Cut(got, "</style>")
				got = content
			}
			goldenChart(t, "chart-"+name+"."+kind+".svg", got)
		}
	}
}

// standalone is a chart as a picture of its own.
func standalone(c *Chart) string {
	const width, top = 900, 16
	p := &pen{width: width}
	height := c.picture(p, 0, top, width, 0)
	return alone(width, top+height, c.Label, p.String())
}

// goldenChart compares a picture with its golden file, an element on each line.
func goldenChart(t *testing.T, name, got string) {
	t.Helper()
	golden.Compare(t, "testdata/"+name, strings.ReplaceAll(got, "><", ">\n<")+"\n")
}

// anyNumber is any number that a file may hold.
var anyNumber = rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 100),
	rapid.SampledFrom([]float64{0, -1, 1, 1e-320, math.MaxFloat64, math.NaN(), math.Inf(1),
		math.Inf(-1), 1e18, -1e18, 100, 99.9999999999}))

func values(t *rapid.T, label string) Values {
	return rapid.SliceOfN(anyNumber, 0, 9).Draw(t, label)
}

const hostile = "</svg><script>alert(1)</script> \"'&\x00\u2028\xff"

func anyChart(t *rapid.T) *Chart {
	scale := rapid.SampledFrom([]Scale{Linear, Log, Tail, Signed, "other"})
	unit := rapid.SampledFrom([]Unit{Count, PerSecond, Bytes, BytesRate, Nanos, Seconds, Cores,
		Share, Percentile, "other"})
	tone := rapid.SampledFrom([]Tone{"", Good, Bad, Unsure, "\"><script>"})
	axis := func(label string) Axis {
		a := Axis{Title: hostile, Unit: unit.Draw(t, label+" unit"),
			Scale: scale.Draw(t, label+" scale")}
		if rapid.Bool().Draw(t, label+" bounded") {
			from, to := anyNumber.Draw(t, "from"), anyNumber.Draw(t, "to")
			a.From, a.To = &from, &to
		}
		return a
	}
	c := &Chart{ID: "any", Title: hostile, Label: hostile, Small: rapid.Bool().Draw(t, "small"),
		X: axis("x"), Y: axis("y")}
	for range rapid.IntRange(0, 3).Draw(t, "series") {
		c.Series = append(c.Series, Series{Name: hostile, Color: rapid.Int().Draw(t, "color"),
			Dash: rapid.IntRange(-2, 9).Draw(t, "dash"),
			Dots: rapid.Bool().Draw(t, "dots"), Alone: rapid.Bool().Draw(t, "alone"),
			X: values(t, "xs"), Y: values(t, "ys"), Low: values(t, "low"), High: values(t, "high"),
			Marks: []Mark{{At: rapid.IntRange(-1, 9).Draw(t, "at"), Words: hostile, Tip: hostile,
				Tone: tone.Draw(t, "tone"), Above: true}}})
	}
	for range rapid.IntRange(0, 3).Draw(t, "spans") {
		c.Spans = append(c.Spans, Span{From: anyNumber.Draw(t, "from"), To: anyNumber.Draw(t, "to"),
			Words: hostile, Tone: tone.Draw(t, "tone"), Level: rapid.Bool().Draw(t, "level")})
	}
	if rapid.Bool().Draw(t, "heat") {
		c.Heat = &Heat{X: values(t, "heat x"), Y: values(t, "heat y"),
			Counts: rapid.SliceOfN(rapid.SliceOfN(rapid.Int64(), 0, 9), 0, 9).Draw(t, "counts")}
	}
	return c
}

// Whatever a file holds, a chart is well-formed markup of its own elements, and all its
// coordinates are numbers.
func TestAnyChartIsSafeMarkup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyChart(t)
		c.Table()
		for _, markup := range []string{c.SVG(), standalone(c)} {
			checkMarkup(t, markup)
		}
	})
}

var transforms = strings.NewReplacer("translate", "", "scale", "")

// checkMarkup fails if markup is not well-formed, or one of its elements is wrong.
func checkMarkup(t *rapid.T, markup string) {
	for d := xml.NewDecoder(strings.NewReader(markup)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, markup)
		}
		if e, ok := token.(xml.StartElement); ok {
			checkElement(t, e, markup)
		}
	}
}

func checkElement(t *rapid.T, e xml.StartElement, markup string) {
	if strings.Contains(e.Name.Local, "script") {
		t.Fatalf("an element %s:\n%s", e.Name.Local, markup)
	}
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "x", "y", "x1", "x2", "y1", "y2", "d", "width", "height", "viewBox", "transform", "r":
			if strings.ContainsAny(transforms.Replace(a.Value), "NIe+") {
				t.Fatalf("%s=%q:\n%s", a.Name.Local, a.Value, markup)
			}
		case "class":
			if strings.ContainsAny(a.Value, "<>\"") {
				t.Fatalf("%s=%q:\n%s", a.Name.Local, a.Value, markup)
			}
		}
	}
}

func TestMarksDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.Float64Range(1e-3, 1e12).Draw(t, "least")
		s := scale{unit: rapid.SampledFrom([]Unit{Count, PerSecond, Bytes, Nanos, Seconds}).Draw(t,
			"unit"), form: rapid.SampledFrom([]Scale{Linear, Log}).Draw(t, "form"), least: least,
			most: least * rapid.Float64Range(1.2, 1e5).Draw(t, "ratio")}
		for _, upright := range []bool{true, false} {
			ticks := s.ticks(236, upright)
			if !apart(ticks, 236, upright) {
				t.Fatalf("marks overlap: %v", ticks)
			}
		}
	})
}

func TestAnHourKeepsItsStall(t *testing.T) {
	xs, ys := wave(3600, 100)
	c := &Chart{X: Axis{Unit: Seconds}, Series: []Series{{X: xs, Y: ys}}}
	d := newDrawing(c, pen{width: stretched, height: plotHeight}, fluidTiers)
	points := d.vertices(&c.Series[0])
	least := 1.0
	for _, v := range points {
		if !v.missing {
			least = min(least, v.y)
		}
	}
	if len(points) > 2*LineGroups || math.Abs(least-d.y.at(5)) > 1e-9 {
		t.Errorf("%d points, the least at %v; at most %d, and the least at %v", len(points), least,
			2*LineGroups, d.y.at(5))
	}
	if rows := len(c.Table().Rows); rows > tableRows {
		t.Errorf("the table has %d rows, at most %d", rows, tableRows)
	}
}

func TestAxesPrintTheirUnits(t *testing.T) {
	words := func(s scale) string {
		var out []string
		for _, m := range s.ticks(600, false) {
			out = append(out, m.words)
		}
		return strings.Join(out, " ")
	}
	for _, test := range []struct {
		scale scale
		want  string
	}{
		{scale{PerSecond, Linear, 0, 54_000, nil}, "0/s 10k/s 20k/s 30k/s 40k/s 50k/s"},
		{scale{Bytes, Linear, 0, 5 << 20, nil}, "0B 1MB 2MB 3MB 4MB 5MB"},
		{scale{Nanos, Log, 8e5, 9e7, nil}, "1ms 2ms 5ms 10ms 20ms 50ms"},
		{scale{Seconds, Linear, 0, 3600, nil}, "0s 5m 10m 15m 20m 25m 30m 35m 40m 45m 50m 55m 1h"},
		{scale{Percentile, Tail, 0, 99.99, nil}, "0% 90% 99% 99.9% 99.99%"},
		{scale{Share, Signed, -0.1, 1, nil}, "-10% 0% 10% 100%"},
		{scale{Count, Linear, 0, 2, nil}, "0 1 2"},
	} {
		if got := words(test.scale); got != test.want {
			t.Errorf("%v: %s, want %s", test.scale, got, test.want)
		}
	}
}
