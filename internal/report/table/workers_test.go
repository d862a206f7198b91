package table

import (
	"bytes"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
