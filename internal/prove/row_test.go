package prove

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestRowsAreJudgedByTheRunsClaim(t *testing.T) {
	latency := func(planted, above float64) Row {
		return Row{Unit: Nanoseconds, PlantedValue: planted, Above: above,
			most: mostOwnError(99, planted)}
	}
	number := latency(200e3, 50e3)
	number.Figure, number.Below = "publish p99", 1e3
	exact := Row{Unit: Messages, PlantedValue: 5, exact: true}
	loose := Row{Unit: PerSecond, PlantedValue: 1_000, Below: 400, Above: 400,
		most: 50}
	for name, test := range map[string]struct {
		row     Row
		limited string
		want    Outcome
	}{
		"within":                       {number.measured(240e3, ""), "", Holds},
		"within, and limited":          {number.measured(240e3, ""), "limited", Holds},
		"too high":                     {number.measured(260e3, ""), "", Misses},
		"too low":                      {number.measured(190e3, ""), "", Misses},
		"too high, and limited":        {number.measured(260e3, ""), "limited", Unknown},
		"a wrong account, and limited": {exact.measured(4, ""), "limited", Misses},
		"an allowed error that is too large to prove anything": {
			latency(200e3, 30e6).measured(25e6, ""), "", Unknown,
		},
		"the same allowed error of a larger latency": {
			latency(1e9, 30e6).measured(1.02e9, ""), "", Holds,
		},
		"200 us printed as 2.5 ms":          {latency(200e3, 3e6).measured(2.5e6, ""), "", Unknown},
		"a rate with a large allowed error": {loose.measured(650, ""), "", Unknown},
		"beyond a large allowed error":      {latency(200e3, 30e6).measured(40e6, ""), "", Misses},
		"beyond the allowed error, but not beyond the twin's": {
			Row{Unit: Nanoseconds, PlantedValue: 200e3, Above: 50e3, explained: 5e6}.measured(
				1e6, ""), "", Unknown,
		},
		"a wrong verdict": {Row{Printed: "holds"}, "", Misses},
	} {
		if got := test.row.judged(test.limited).Verdict; got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// A bracket holds the truth only if it is narrow: a wide one proves nothing.
func TestBracketsAreJudgedByTheirWidth(t *testing.T) {
	for name, test := range map[string]struct {
		low, high float64
		want      Outcome
	}{
		"narrow":                {980, 1_030, Holds},
		"nine times":            {400, 3_600, Unknown},
		"wide below":            {700, 1_010, Unknown},
		"wide above":            {990, 1_400, Unknown},
		"beside, within 5%":     {1_010, 1_060, Holds},
		"too high":              {1_100, 1_150, Misses},
		"too low":               {800, 840, Misses},
		"no end above the peak": {990, 0, Misses},
	} {
		row := bracketRow(peak.Bracket{StableRate: test.low, UnstableRate: test.high}, 1_000, 0.05,
			"").judged("")
		if row.Verdict != test.want {
			t.Errorf("%s: %s, want %s", name, row.Verdict, test.want)
		}
	}
}

func TestReportAddsUpAndPrints(t *testing.T) {
	row := func(figure string, printed float64, limited string) Row {
		r := Row{
			Figure: figure, Planted: "200us", Unit: Nanoseconds, PlantedValue: 200e3,
			Below: 1e3, Above: 50e3,
		}
		return r.measured(printed, nanoseconds(printed)).judged(limited)
	}
	tried := func(name string, verdict Outcome, limited string, p99 float64) Tried {
		return Tried{Name: name, Planted: "200 us", Verdict: verdict, Rows: []Row{
			row("p50", 201e3, limited), row("p99", p99, limited),
		}}
	}
	report := NewReport([]Tried{
		tried("constant", Holds, "", 240e3), tried("busy", Unknown, "slow", 900e3),
		tried("wrong", Misses, "", 150e3),
	}, result.Build{Version: "v1"})
	p := report.Proof
	if p.Held != 1 || p.Unknown != 1 || p.Missed != 1 || report.Sound() ||
		strings.Join(p.MissedTruths, " ") != "wrong" {
		t.Errorf("%+v", p)
	}
	// The figure of the limited run has a larger error, and does not count.
	if p.Worst == nil || p.Worst.Truth != "wrong" || p.Worst.Error != -50e3 ||
		p.Worst.Allowed != 1e3 {
		t.Errorf("worst: %+v", p.Worst)
	}
	for _, every := range []bool{false, true} {
		var out strings.Builder
		if err := document.Terminal(&out, report.Document(every),
			document.Layout{Width: 120}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for _, wanted := range []string{
			"+40us", "-50us", "-1us", "busy        unknown: 200 us; slow",
			"wrong       misses: 200 us",
			"1 of 3 truths hold, 1 unknown, 1 missed",
		} {
			if !strings.Contains(text, wanted) {
				t.Errorf("%q is not in\n%s", wanted, text)
			}
		}
		want := 1 + 3 + 5
		if every {
			want = 1 + 6 + 5
		}
		if lines := strings.Count(text, "\n"); lines != want {
			t.Errorf("every figure %v: %d lines\n%s", every, lines, text)
		}
	}
}
