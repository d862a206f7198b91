package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Each class of messages has rows of its own, beside those of all messages, and so has each series
// that only some runs have.
func TestSeriesOfSomeRunsHaveRows(t *testing.T) {
	s := fixture.NatsInside.Load(t)
	l := result.Latency{Count: 7, MinNs: 5, MaxNs: 9,
		Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 6}}}
	s.Run.Classes = []result.Class{{Name: "order", Publish: l}}
	some := []result.Series{result.Request, result.Copies, result.Redelivered, result.CatchUp}
	for _, series := range some {
		l.Series = series
		s.Run.Summary.Latency = append(s.Run.Summary.Latency, l)
	}
	var out bytes.Buffer
	if err := CSV(&out, []*result.Saved{s}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	got := map[string][2]string{}
	for _, row := range rows[1:] {
		got[row[column["series"]]] = [2]string{row[column["count"]], row[column["p50_ns"]]}
	}
	if got["publish_of_order"] != [2]string{"7", "6"} ||
		got["end_to_end_of_order"] != [2]string{"0", ""} || got["publish"][0] == "" {
		t.Errorf("%v", got)
	}
	for _, series := range some {
		if got[string(series)] != [2]string{"7", "6"} {
			t.Errorf("the row of %s has %v", series, got[string(series)])
		}
	}
}

func TestTheCostOfServersInsidePlimsollIsMarked(t *testing.T) {
	s := fixture.NatsInside.Load(t)
	if m := newMessageCost(&s.Run); m["server_cpu_ns_per_msg"] != nil ||
		m[costInside] != true {
		t.Error("the servers' CPU is known apart")
	}
}

func textOf(t *testing.T, blocks []document.Block) string {
	t.Helper()
	var out bytes.Buffer
	err := document.Terminal(&out, document.Document{Blocks: blocks}, document.Layout{Width: 160})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHowWellASetIsKnown(t *testing.T) {
	limited := fixture.UntilKnown(7, 0.01, 1000, 1010)
	for _, s := range limited {
		s.Run.Summary.Generator.Limited = s.Run.Trial.Target == 2 && s.Run.Trial.Round < 3
	}
	none := fixture.UntilKnown(5, 0.01, 1000)
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
		"precise": {fixture.UntilKnown(6, 0.01, 1000, 1010), []string{
			"known after 6 rounds: the interval of 95% of each primary figure reaches " +
				"at most 10% above it", "6 of 6", "equal within 10%"}, "not known"},
		"decided": {fixture.UntilKnown(8, 0.3, 1000, 100_000), []string{
			"known after 8 rounds: in each primary figure every pair of targets differs", "differ",
		}, "not known after"},
		"neither": {fixture.UntilKnown(6, 0.2, 1000, 1100),
			[]string{"not known after 6 rounds: about ",
				"hours (--resume, with a longer --at-most)", "not decided"}, ""},
		"one round": {fixture.UntilKnown(1, 0, 1000), []string{
			"not known after 1 round: the rounds cannot tell how many more it takes",
			"no interval"}, "Pairs"},
		"few ranked": {limited,
			[]string{"t2: 2 of 7 rounds give no publish.p99: limited by plimsoll itself"}, "t1:"},
		"none ranked": {none, []string{
			"nothing is known after 5 rounds: no run gives a value of a primary figure",
			"t1 has no publish.p99: limited by plimsoll itself"}, "Pairs"},
		"many pairs": {fixture.UntilKnown(9, 0.01, many...), []string{"Each pair is decided."},
			"t2 / t1"},
	} {
		got := textOf(t, known.Blocks(known.Of(c.runs)))
		fixture.Says(t, name, got, c.want...)
		if c.not != "" {
			fixture.SaysNot(t, name, got, c.not)
		}
		var out bytes.Buffer
		var read []struct{ Known *known.JSON }
		if err := JSON(&out, c.runs); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := json.Unmarshal(out.Bytes(), &read); err != nil ||
			read[len(read)-1].Known == nil || read[len(read)-1].Known.Sentence == "" {
			t.Errorf("%s: %v, %+v", name, err, read)
		}
	}
	if got := known.Blocks(known.Of(append(none, &result.Saved{}))); got != nil {
		t.Errorf("runs of no set: %+v", got)
	}
}
