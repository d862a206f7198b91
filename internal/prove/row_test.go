package prove

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestRowsAreJudgedByWhatTheRunClaims(t *testing.T) {
	number := Row{Figure: "publish p99", Unit: Nanoseconds, PlantedValue: 200e3, Below: 1e3, Above: 50e3}
	for name, test := range map[string]struct {
		row     Row
		limited string
		want    Outcome
	}{
		"within":                               {number.measured(240e3, ""), "", Holds},
		"within, and limited":                  {number.measured(240e3, ""), "limited", Holds},
		"too high":                             {number.measured(260e3, ""), "", Misses},
		"too low, where lateness is no excuse": {number.measured(190e3, ""), "", Misses},
		"too high, and limited":                {number.measured(260e3, ""), "limited", Unknown},
		"a wrong account, though limited": {
			Row{Unit: Messages, PlantedValue: 5, exact: true}.measured(4, ""), "limited", Misses,
		},
		"allowed so much that it proves nothing": {
			Row{Unit: Nanoseconds, PlantedValue: 200e3, Above: 30e6}.measured(25e6, ""), "", Unknown,
		},
		"allowed much of a larger latency": {
			Row{Unit: Nanoseconds, PlantedValue: 1e9, Above: 30e6}.measured(1.02e9, ""), "", Holds,
		},
		"a rate that is allowed anything": {
			Row{Unit: PerSecond, PlantedValue: 1_000, Below: 400, Above: 400}.measured(650, ""), "", Unknown,
		},
		"beyond that too": {
			Row{Unit: Nanoseconds, PlantedValue: 200e3, Above: 30e6}.measured(40e6, ""), "", Misses,
		},
		"a wrong verdict": {Row{Printed: "holds"}, "", Misses},
	} {
		if got := test.row.judged(test.limited).Verdict; got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestReportAddsUpAndPrints(t *testing.T) {
	row := func(figure string, printed float64, limited string) Row {
		r := Row{Figure: figure, Planted: "200us", Unit: Nanoseconds, PlantedValue: 200e3, Below: 1e3, Above: 50e3}
		return r.measured(printed, nanoseconds(printed)).judged(limited)
	}
	report := NewReport([]Tried{
		{Name: "constant", Planted: "200 us", Verdict: Holds, Rows: []Row{row("p50", 201e3, ""), row("p99", 240e3, "")}},
		{Name: "busy", Planted: "200 us", Verdict: Unknown, Rows: []Row{row("p50", 201e3, "slow"), row("p99", 900e3, "slow")}},
		{Name: "wrong", Planted: "200 us", Verdict: Misses, Rows: []Row{row("p50", 201e3, ""), row("p99", 150e3, "")}},
	}, result.Build{Version: "v1"})
	p := report.Proof
	if p.Held != 1 || p.Unknown != 1 || p.Missed != 1 || report.Sound() || strings.Join(p.MissedTruths, " ") != "wrong" {
		t.Errorf("%+v", p)
	}
	// The figure of which nothing is claimed is off by more.
	if p.Worst == nil || p.Worst.Truth != "wrong" || p.Worst.Error != -50e3 || p.Worst.Allowed != 1e3 {
		t.Errorf("worst: %+v", p.Worst)
	}
	for _, every := range []bool{false, true} {
		var out bytes.Buffer
		if err := report.Print(&out, every); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for _, wanted := range []string{
			"+40us", "-50us", "-1us", "busy unknown: 200 us; slow", "wrong misses: 200 us", "1 of 3 truths hold, 1 unknown, 1 missed",
		} {
			if !strings.Contains(text, wanted) {
				t.Errorf("%q is not in\n%s", wanted, text)
			}
		}
		if lines := strings.Count(text, "\n"); every && lines != 1+6+3 || !every && lines != 1+3+3 {
			t.Errorf("every figure %v: %d lines\n%s", every, lines, text)
		}
	}
}
