package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

// untilKnown are rounds of targets with these publish p99s in us. Each round scatters by so much.
func untilKnown(rounds int, scatter float64, us ...float64) (runs []*result.Saved) {
	for round := 1; round <= rounds; round++ {
		for i, v := range us {
			off := scatter * float64((round+i)%3-1)
			start := time.Unix(int64(round*len(us)+i)*600, 0)
			s := &result.Saved{Run: result.Run{ID: fmt.Sprintf("%d-%d", round, i),
				Name: fmt.Sprintf("t%d", i+1), State: result.Complete, StartedAt: start,
				EndedAt: start.Add(time.Minute),
				Trial: &result.Trial{Set: "set", Round: round, Target: i + 1, Targets: len(us),
					Until: 0.1, Primary: "publish.p99"}}}
			s.Run.Summary.Latency = []result.Latency{{Series: result.Publish, Count: 1e4,
				Percentiles: []result.Percentile{{Percentile: 99,
					LatencyNs: int64(1000 * v * (1 + off))}}}}
			runs = append(runs, s)
		}
	}
	return runs
}

func textOf(t *testing.T, blocks []block) string {
	t.Helper()
	var out bytes.Buffer
	err := document.Terminal(&out, document.Document{Blocks: blocks}, document.Layout{Width: 160})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHowWellASetIsKnown(t *testing.T) {
	limited := untilKnown(7, 0.01, 1000, 1010)
	for _, s := range limited {
		s.Run.Summary.Generator.Limited = s.Run.Trial.Target == 2 && s.Run.Trial.Round < 3
	}
	none := untilKnown(5, 0.01, 1000)
	for _, s := range none {
		s.Run.Summary.Generator.Limited = true
	}
	many := make([]float64, 6)
	for i := range many {
		many[i] = 1000 * float64(int(1)<<i)
	}
	for name, c := range map[string]struct {
		runs []*result.Saved
		want []string
		not  string
	}{
		"precise": {untilKnown(6, 0.01, 1000, 1010), []string{
			"known after 6 rounds: the interval of 95% of each primary figure reaches " +
				"at most 10% above it", "6 of 6", "equal within 10%"}, "not known"},
		"decided": {untilKnown(8, 0.3, 1000, 100_000), []string{
			"known after 8 rounds: in each primary figure every pair of targets differs", "differ",
		}, "not known after"},
		"neither": {untilKnown(6, 0.2, 1000, 1100), []string{"not known after 6 rounds: about ",
			"hours (--resume, with a longer --at-most)", "not decided"}, ""},
		"one round": {untilKnown(1, 0, 1000), []string{
			"not known after 1 round: the rounds cannot tell how many more it takes",
			"no interval"}, "Pairs"},
		"few ranked": {limited,
			[]string{"t2: 2 of 7 rounds give no publish.p99: limited by plimsoll itself"}, "t1:"},
		"none ranked": {none, []string{
			"nothing is known after 5 rounds: no run gives a value of a primary figure",
			"t1 has no publish.p99: limited by plimsoll itself"}, "Pairs"},
		"many pairs": {untilKnown(9, 0.01, many...), []string{"Each pair is decided."}, "t2 / t1"},
	} {
		got := textOf(t, knownBlocks(knownOf(c.runs)))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q in\n%s", name, c.not, got)
		}
		var out bytes.Buffer
		var read []struct{ Known *knownJSON }
		if err := JSON(&out, c.runs); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := json.Unmarshal(out.Bytes(), &read); err != nil ||
			read[len(read)-1].Known == nil || read[len(read)-1].Known.Sentence == "" {
			t.Errorf("%s: %v, %+v", name, err, read)
		}
	}
	if got := knownBlocks(knownOf(append(none, &result.Saved{}))); got != nil {
		t.Errorf("runs of no set: %+v", got)
	}
}

// A comparison of such sets names its method, and no other.
func TestMethodOfSequentialSets(t *testing.T) {
	runs := untilKnown(6, 0.01, 1000, 1500)
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
	got := Versus{Comparison: c}.method()
	if !strings.Contains(got, "B / A that of the ratios of each round") ||
		!strings.Contains(got, "a confidence sequence") || strings.Contains(got, "Mann-Whitney") {
		t.Error(got)
	}
}

func TestTimesAreRough(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 seconds", 1: "1 second", 59e9: "59 seconds", 60e9: "1 minute",
		5940e9: "99 minutes", 6000e9: "2 hours", 80 * 3600e9: "4 days",
	} {
		if got := roughly(ns); got != want {
			t.Errorf("%v: %s, want %s", time.Duration(ns), got, want)
		}
	}
}

// The searches of peaks that are known say how well, and the last one has it as JSON.
func TestHowWellPeaksAreKnown(t *testing.T) {
	figure := figure.Figure{Name: figure.Peak, Unit: figure.PerSecond}
	judged := compare.Judge(0.1, 5, 1e9, []compare.Rounds{{Target: "a", Figure: figure,
		Values: map[int]float64{1: 1000, 2: 1010, 3: 990, 4: 1000, 5: 1005}}})
	var table, machine bytes.Buffer
	r := SearchesUntil([]*peak.Saved{searched("a"), searched("a")}, judged)
	if err := r.Write(&table, "table", document.Layout{Width: 120}); err != nil ||
		!strings.Contains(table.String(), "known after 5 rounds") ||
		!strings.Contains(table.String(), "1.001k/s") {
		t.Errorf("%v\n%s", err, table.String())
	}
	var read []struct{ Known *knownJSON }
	if err := r.Write(&machine, "json", document.Layout{}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(machine.Bytes(), &read); err != nil || len(read) != 2 ||
		read[0].Known != nil || read[1].Known == nil || !read[1].Known.Precise {
		t.Errorf("%v: %s", err, machine.String())
	}
}
