package chart

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// everyChart has charts of every kind, with every kind of mark.
func everyChart(t *testing.T) []*document.Chart {
	run := fixture.Faulted(t)
	run.Events = append(run.Events, result.Event{AtNs: 6e9, Kind: "pause", Sentence: "a pause"})
	costly := fixture.KafkaThree.Load(t)
	costly.Run.Observation.Limits.SequentialWriteBytes = 1 << 20
	all := slices.Concat(Run(run, latency.NewWithin(run)), Run(costly, latency.Within{}),
		Comparison([]*result.Saved{run, costly, fixture.NatsInside.Load(t), fixture.Small.Load(t),
			fixture.Small.Load(t), fixture.Small.Load(t)}))
	usage, _, _ := Usage(costly)
	search := fixture.Searched("sim")
	for i := range search.Trials {
		p := &search.Trials[i]
		p.Judged, p.Repeated, p.Verdict.Stable = i != 3, i == 1, i != 4
		if i == 5 {
			p.Judged, p.Verdict.Stable = false, false
		}
	}
	none := fixture.Searched("lost")
	none.Trials = slices.DeleteFunc(none.Trials,
		func(p peak.Trial) bool { return p.Verdict.Stable })
	all = slices.Concat(all, usage, Peak(search),
		Knees([]*peak.Saved{none, fixture.Searched("b"), fixture.Searched("c")}))
	plan, runs := fixture.Swept(t, 7, 6)
	rows, _ := Sweep(plan, runs)
	for _, row := range rows {
		all = append(all, row.Charts...)
	}
	return all
}

// No series of a chart has a colour that is near the tone of a mark: a reader could take one for
// the other, in light and in dark.
func TestColoursOfSeriesAreNotThoseOfMarks(t *testing.T) {
	light, dark := palettes(t)
	classes := regexp.MustCompile(`class="((?:line|dot|band|moment|level)[^"]*)"`)
	tones := map[string]bool{}
	for _, c := range everyChart(t) {
		series, marks := map[string]bool{}, map[string]bool{}
		for _, found := range classes.FindAllStringSubmatch(c.SVG(), -1) {
			for _, word := range strings.Fields(found[1]) {
				switch {
				case slices.Contains([]string{"good", "bad", "unsure"}, word):
					marks[word], tones[word] = true, true
				case word == "grey" || regexp.MustCompile(`^c\d$`).MatchString(word):
					series[word] = true
				}
			}
		}
		for of := range series {
			for mark := range marks {
				for theme, p := range map[string]palette{"light": light, "dark": dark} {
					const least = 20
					if off := distance(p[of], p[mark]); off < least {
						t.Errorf("%s: %s and %s are %.0f apart in %s, at least %d", c.ID, of, mark,
							off, theme, least)
					}
				}
			}
		}
	}
	if len(tones) < 3 {
		t.Errorf("the charts have marks of %v only", tones)
	}
}

// Each outcome of a trial has a colour of its own.
func TestOutcomesHaveColoursOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for _, o := range outcomes {
		look := fmt.Sprint(o.color)
		if o.tone != "" {
			look = string(o.tone)
		}
		if other, is := seen[look]; is {
			t.Errorf("%s looks like %s", o.word, other)
		}
		seen[look] = o.word
	}
}

// A marked cell of a sweep keeps the colour of its line.
func TestMarkedCellsKeepTheColourOfTheirLine(t *testing.T) {
	plan, runs := fixture.Swept(t, 3, 2)
	rows, _ := Sweep(plan, runs)
	hollow := 0
	for _, s := range rows[0].Charts[0].Series {
		for _, m := range s.Marks {
			if m.Tone != "" {
				t.Errorf("%+v has a colour of its own", m)
			}
			if m.Hollow {
				hollow++
			}
		}
	}
	marked := 0
	for i, c := range plan.Cells {
		if word, _ := fact.CellMark(c, runs[i]); word != "" && runs[i] != nil {
			marked++
		}
	}
	if hollow != marked || marked == 0 {
		t.Errorf("%d of %d marked cells are hollow: %v", hollow, marked,
			sweep.Label(plan.Axes, plan.Cells[0].Values))
	}
}

// palette has a colour for each class.
type palette map[string][3]float64

// palettes reads the colours of both themes from the style.
func palettes(t *testing.T) (light, dark palette) {
	t.Helper()
	css := document.ChartCSS()
	classes := regexp.MustCompile(`\.(\w+) \{[^}]*--c: var\(--(\w+)\)`)
	colours := func(css string) palette {
		of, out := map[string][3]float64{}, palette{}
		for _, v := range regexp.MustCompile(`--(\w+): #(\w{6});`).FindAllStringSubmatch(css, -1) {
			n, err := strconv.ParseUint(v[2], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			of[v[1]] = lab(uint8(n>>16), uint8(n>>8), uint8(n))
		}
		for _, c := range classes.FindAllStringSubmatch(document.ChartCSS(), -1) {
			out[c[1]] = of[c[2]]
		}
		return out
	}
	before, after, found := strings.Cut(css, "@media screen and (prefers-color-scheme: dark)")
	light, dark = colours(before), colours(after)
	if !found || len(light) < 9 || light["c0"] == dark["c0"] {
		t.Fatalf("the style has the colours %v and %v", light, dark)
	}
	return light, dark
}

// lab is a colour in CIELAB, in which equal distances look about equally large.
func lab(r, g, b uint8) [3]float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	lr, lg, lb := linear(r), linear(g), linear(b)
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*lr + 0.3576*lg + 0.1805*lb) / 0.95047)
	y := f(0.2126*lr + 0.7152*lg + 0.0722*lb)
	z := f((0.0193*lr + 0.1192*lg + 0.9505*lb) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}
