package table

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The report of a rolling restart has the times of each machine.
func TestRollingRestartHasTheTimesOfEachMachine(t *testing.T) {
	const second = 1_000_000_000
	r := &result.Run{
		Phases: []result.Phase{{Name: result.PhaseMeasure, StartNs: 5 * second}},
		Faults: []result.Fault{{
			Do: "rolling-restart", Target: "n1", Nodes: []string{"n1"}, StartNs: 15 * second,
			InjectedNs: 17 * second, HealStartNs: 17 * second, HealedNs: 17 * second,
			InSyncNs: 24 * second,
			Effect: result.Effect{UnavailableNs: 3 * second, ResolutionNs: 1,
				AckedAgainNs: 20 * second},
		}},
	}
	got := strings.Join(FaultSentences(r), "\n")
	want := "rolling-restart n1 after 10s, stopped in 2s, in sync again 9s after the stop began: " +
		"no acknowledgement for 3s; the first again 3s after the heal, 3s after the injection; " +
		"recovered not seen before the next restart or the end of the load"
	if got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

// An outage that lasted at the end of the load is printed as a lower bound.
func TestAnOutageOfTheLoadsEndIsALowerBound(t *testing.T) {
	const second = 1_000_000_000
	r := &result.Run{Faults: []result.Fault{{Do: "kill", Target: "leader", StartNs: second,
		InjectedNs: second, HealStartNs: 2 * second, HealedNs: 2 * second,
		Effect: result.Effect{UnavailableNs: 3 * second, UnavailableBound: result.AtLeast,
			ResolutionNs: 1}}}}
	want := "no acknowledgement for at least 3s; the first again not before the end of the load; " +
		"recovered not seen while load was offered"
	if got := FaultSentences(r)[0]; !strings.Contains(got, want) {
		t.Errorf("%s\nlacks\n%s", got, want)
	}
	rows := Faults(r).Rows[0].Values
	if rows[1].Words != "at least 3s" || rows[2].Words != "not before the end of the load" {
		t.Errorf("%+v", rows)
	}
	r.Scaling = []result.ScaleStep{{LongestGapNs: 2 * second, LongestGapBound: result.AtLeast,
		MedianGapNs: second}}
	if got := Scaling(r).Rows[0].Values; got[3].Words != "1s" || got[4].Words != "≥ 2s" {
		t.Errorf("%+v", got)
	}
}

func TestGaugeTable(t *testing.T) {
	var r result.Run
	if len(Gauges(&r).Rows) > 0 {
		t.Error("a table without figures")
	}
	r.Observation.Gauges = []result.GaugeUse{
		{Name: "dead rows", First: 1, Last: 2, Greatest: 3},
		{Name: "tables", Unit: "bytes", First: 1 << 20, Last: 1 << 20, Greatest: 2 << 20},
		{Name: "oldest", Unit: "s", First: 1, Last: math.NaN(), Greatest: 2},
	}
	got := Gauges(&r)
	if len(got.Rows) != 3 {
		t.Fatalf("got %v", got)
	}
	for i, want := range [][]string{{"1", "2", "3"}, {"1MB", "1MB", "2MB"}, {"1 s", document.None,
		"2 s"}} {
		if !slices.Equal(got.Rows[i].Values, document.Cells(want...)) {
			t.Errorf("row %d: %v, want %q", i, got.Rows[i].Values, want)
		}
	}
}

func TestTrendTable(t *testing.T) {
	var r result.Run
	if len(Trends(&r).Rows) > 0 {
		t.Error("a table without trends")
	}
	r.Trends = &result.Trends{Blocks: 60, BlockNs: 120e9, Figures: []result.Trend{
		{Name: "memory of n1", Unit: result.UnitBytes, Level: 60 << 20, PerHour: 3 << 20,
			PerHourLow: 2 << 20, PerHourHigh: 4 << 20, Course: result.Grows, SecondHalf: true},
		{Name: "live rows", Level: 10, PerHour: 720_000, PerHourLow: 7e5, PerHourHigh: 73e4,
			Course: result.WithMessages, PerSent: 1},
	}}
	got := Trends(&r)
	for i, want := range [][]string{
		{"grows (second half)", "60MB", "3MB", "2MB", "4MB", document.None},
		{"grows with the messages sent", "10", "720,000", "700,000", "730,000", "1"},
	} {
		if !slices.Equal(got.Rows[i].Values, document.Cells(want...)) {
			t.Errorf("row %d: %v, want %q", i, got.Rows[i].Values, want)
		}
	}
	r.Trends.Why = "faults were injected"
	if len(Trends(&r).Rows) > 0 {
		t.Error("a table of trends that were not judged")
	}
}

// The workers of a fleet on several machines, with what chrony says of each.
func TestWorkersTable(t *testing.T) {
	said := result.Chrony{Synchronised: true, Stratum: 3, BehindNs: 6523, BoundNs: 7_920_248}
	ahead := result.Chrony{Synchronised: true, Stratum: 2, BehindNs: -81_000, BoundNs: 412_000}
	r := &result.Run{Environment: result.Environment{Chrony: &said}, Workers: []result.Worker{
		{Name: "w0", Host: "a", Scheduled: 1000, Received: 990, OwnLagP99Ns: 93_000, OwnLagCount: 9,
			CPUSeconds: 1.25, PeakRSSBytes: 80 << 20, ClockOffsetNs: -2_500_000,
			ClockBoundNs: 61_000, Chrony: &ahead},
		{Name: "w1", Host: "b", Scheduled: 1000, Received: 1010, ClockBoundNs: 70_000,
			Chrony: &result.Chrony{Stratum: 8}},
		{Name: "w2", Host: "c", ClockBoundNs: 70_000},
		{Name: "w3", Host: "d", SameClock: true},
	}}
	var b bytes.Buffer
	workers := Workers(r)
	doc := document.Document{Blocks: []document.Block{{Table: &workers}}}
	if err := document.Markdown(&b, doc); err != nil {
		t.Fatal(err)
	}
	fixture.Golden(t, "workers.md", b.Bytes())
	r.Environment.Chrony = nil
	for i := range r.Workers {
		r.Workers[i].Chrony = nil
	}
	if n, want := len(Workers(r).Head), 7; n != want {
		t.Errorf("without chrony the table has %d columns, want %d", n, want)
	}
}
