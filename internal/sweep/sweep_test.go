package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestParseAxes(t *testing.T) {
	got, err := ParseAxes([]string{"partitions=1, 10,100",
		"load.closed={in_flight: 1, batch: 1..10},{in_flight: 4}", `name="a,b",c`})
	want := []Axis{
		{"partitions", []string{"1", "10", "100"}},
		{"load.closed", []string{"{in_flight: 1, batch: 1..10}", "{in_flight: 4}"}},
		{"name", []string{`"a,b"`, "c"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	_, err = ParseAxes([]string{"partitions", "=1", "a=", "b=1,,2", "c=1,1", "d=1", "d=2"})
	want2 := strings.Join([]string{
		"--vary =1: is not a key and its values: write it like partitions=1,10,100",
		"--vary a=: is not a key and its values: write it like partitions=1,10,100",
		"--vary b=1,,2: holds an empty value: remove the comma",
		"--vary c=1,1: 1 is given twice: keep one",
		"--vary d=2: d is varied already: give all its values in one place",
		"--vary partitions: is not a key and its values: write it like partitions=1,10,100",
	}, "\n")
	if err == nil || err.Error() != want2 {
		t.Errorf("got\n%v\nwant\n%s", err, want2)
	}
}

func FuzzParseAxes(f *testing.F) {
	f.Add("partitions=1,10,100")
	f.Add("load.steps=[{rate: 1k/s, for: 1s}],[{rate: \"2,k/s\", for: 1s}]")
	f.Add("a=}{,',\"")
	f.Fuzz(func(t *testing.T, text string) {
		axes, err := ParseAxes([]string{text})
		if err != nil {
			return
		}
		if len(axes) != 1 || len(axes[0].Values) == 0 || slices.Contains(axes[0].Values, "") {
			t.Fatalf("%q: %+v", text, axes)
		}
		// Valid and invalid keys and values never panic.
		_, _ = simBase("{}").Cells(axes)
	})
}

// simBase is a workload on the simulated system.
func simBase(src string, more ...Target) Base {
	return Base{File: "w.yaml", Source: src,
		Override: func(*workload.Workload) error { return nil },
		Targets:  append([]Target{{"sim", target.Of("sim")}}, more...)}
}

func TestAxesOfQuantitiesAscend(t *testing.T) {
	for values, want := range map[string]bool{"1,10,100": true, "100B,1KB,1MB": true, "1k/s,2k/s": true,
		"0ms,5ms,1s": true, "5%,50%": true, "0.1,0.5": true, "1": true, "100,10": false, "a,b": false,
		"1KB,100B": false, "1,auto": false, "1,5ms": false, "1..10,20": false} {
		axes, err := ParseAxes([]string{"key=" + values})
		if err != nil || axes[0].Ascends() != want {
			t.Errorf("%s: %v, want %v", values, !want, want)
		}
	}
}

func TestCellsAreEveryCombination(t *testing.T) {
	axes := []Axis{{"partitions", []string{"1", "10"}}, {"message.size", []string{"1KB", "64KB"}},
		{"settings.service_time", []string{"1ms", "2ms"}}}
	base := simBase("name: x\nproducers: 8 # many\n",
		Target{"other.yaml",
			&target.Target{Name: "other", System: "sim", Testbed: target.Testbed{Nodes: 3},
				Settings: []target.Setting{{Name: "service_time", Value: "5ms"},
					{Name: "seed", Value: "2"}}}})
	base.Override = func(w *workload.Workload) error { w.Durability = 4; return w.Validate() }
	cells, err := base.Cells(axes)
	if err != nil || len(cells) != 16 {
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	all := base.Axes(axes)
	if all[0].Key != TargetKey || Label(all,
		cells[11].Values) != "target=other.yaml, partitions=1, message.size=64KB, "+
		"settings.service_time=2ms" {
		t.Errorf("%+v, %v", all[0], cells[11].Values)
	}
	w, to, err := cells[11].Inputs(all)
	if err != nil {
		t.Fatal(err)
	}
	// Defaults that the file leaves out follow from the cell's own values.
	if w.Partitions != 1 || w.Message.Size != 64<<10 || w.Producers != 8 || w.Durability != 4 ||
		w.MaxInFlight != 512 || w.Name != "x" {
		t.Errorf("%+v", w)
	}
	if to.Name != "other" || len(to.Settings) != 2 || to.Settings[1].Value != "2ms" ||
		to.Settings[1].At.File != "--vary settings.service_time=2ms" {
		t.Errorf("%+v", to)
	}
	if again, _ := base.Cells(axes); !cmp.Equal(again, cells) {
		t.Error("the same flags give other cells")
	}
}

func TestBadCellsAreSaidAtOnce(t *testing.T) {
	for _, c := range []struct {
		src  string
		axes []Axis
		want string
	}{
		{"{}", []Axis{{"partition", []string{"1", "2"}},
			{"message.size", []string{"1KB", "8B", "x"}}},
			"--vary message.size=8B: message.size must be at least 32B, not 8B: the stamp that " +
				"carries due time and sequence takes 32 bytes\n" +
				"--vary message.size=x: message.size: \"x\" is not a size: write a size like " +
				"1024, 64KB or 1.5MB\n" +
				"--vary partition=1: unknown key \"partition\": did you mean \"partitions\"?"},
		{"load: {ramp: {from: 1k/s, to: 2k/s}}", []Axis{{"load.rate", []string{"5k/s"}}},
			"--vary load.rate=5k/s: load.ramp cannot be combined with load.rate: keep one of rate, " +
				"steps and ramp"},
		{"{}", []Axis{{"name", []string{"a", "b"}}},
			"--vary name: name cannot be varied: it changes nothing that is measured, remove it"},
		{"keys: zipf", []Axis{{"keys.count", []string{"5"}}},
			"--vary keys.count=5: keys.count goes through keys, which is a single value: give " +
				"all of keys at once"},
		{"{}", []Axis{{"message.size", []string{"1KB", "1024B"}}},
			"--vary: message.size=1KB and message.size=1024B are the same: keep one"},
		{"{}", []Axis{{"topics", []string{"1", "1M"}}, {"partitions", []string{"1", "1M"}}},
			"--vary topics=1M, partitions=1M: partitions is too large: topics x producers x " +
				"partitions is 2,000,000,000,000, keep it to 2,000,000,000 or less"},
	} {
		cells, err := simBase(c.src).Cells(c.axes)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v: %d cells\ngot  %v\nwant %s", c.axes, len(cells), err, c.want)
		}
	}
	var many []string
	for i := range 40 {
		many = append(many, strings.Repeat("1", i%5+1)+strings.Repeat("0", i/5)+"B")
	}
	if _, err := simBase("{}").Cells([]Axis{{"message.size", many}, {"batch", many}}); err == nil ||
		!strings.Contains(err.Error(), "more than 1,000 combinations of values") {
		t.Error("1,600 cells are accepted")
	}
}

// planned returns a sweep of three cells in a folder.
func planned(t *testing.T) *Folder {
	t.Helper()
	axes := []Axis{{"partitions", []string{"1", "2", "3"}}}
	base := simBase("{}")
	cells, err := base.Cells(axes)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(filepath.Join(t.TempDir(), "runs"), &Plan{
		Record: experiment.Record{
			Name: "A b", StartedAt: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)},
		Axes: axes, Cells: cells})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// measured writes a run directory of a cell, in a state.
func measured(t *testing.T, f *Folder, i int, state result.State) *result.Saved {
	t.Helper()
	run := result.Run{SchemaVersion: result.SchemaVersion, ID: "run", State: state,
		StateReason: "because",
		Asked: result.Asked{Workload: f.Saved.Cells[i].Workload,
			Target: f.Saved.Cells[i].Target}}
	w, err := result.Create(f.Dir(), &run)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(&run); err != nil {
		t.Fatal(err)
	}
	s, err := result.Read(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// measureBy runs a sweep whose cells are measured by a function.
func measureBy(
	ctx context.Context, f *Folder, do func(i int) (*result.Saved, error),
) error {
	return Run(ctx, f, experiment.Options{}, Strategy{Measure: func(i, _ int,
	) *experiment.Measurement {
		return &experiment.Measurement{
			Job: &bench.Job{Clock: clock.Precise()},
			Do: func(context.Context, *bench.Job) experiment.Outcome {
				run, err := do(i)
				if run == nil {
					return experiment.Outcome{Err: err}
				}
				return experiment.Outcome{Dir: run.Dir, Run: run, State: run.Run.State,
					StateReason: run.Run.StateReason, Err: err}
			},
		}
	}})
}

func states(p *Plan) string {
	var out []string
	for _, c := range p.Cells {
		out = append(out, string(c.State))
	}
	return strings.Join(out, " ")
}

func TestAFailedCellDoesNotLoseTheOthers(t *testing.T) {
	f := planned(t)
	if filepath.Base(f.Dir()) != "2026-11-21T100000-sweep-a-b" {
		t.Error(f.Dir())
	}
	err := measureBy(t.Context(), f, func(i int) (*result.Saved, error) {
		if on, err := Folders.Read(f.Dir()); err != nil || on.Cells[i].State != experiment.Running {
			t.Errorf("while cell %d is measured the plan says %s, %v", i, states(on), err)
		}
		switch i {
		case 0:
			return nil, errors.New("no such server")
		case 1:
			return measured(t, f, i, result.Failed), nil
		}
		return measured(t, f, i, result.Complete), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	on, err := Folders.Read(f.Dir())
	if err != nil || states(on) != "failed failed done" || on.Cells[0].Reason != "no such server" ||
		on.Cells[1].Reason != "because" || on.State != result.Complete {
		t.Errorf("%v: %+v", err, on)
	}
	if on.Left() != 2 || on.Cells[2].Run == "" {
		t.Errorf("%+v", on.Cells)
	}
}

// Further rounds follow when all cells are measured, until there are none; a sweep that is resumed
// has them still.
func TestFurtherRoundsOfCells(t *testing.T) {
	f := planned(t)
	var made [][2]int
	calls := 0
	var s Strategy
	s.Measure = func(cell, round int) *experiment.Measurement {
		made = append(made, [2]int{cell, round})
		c := f.Saved.Cells[cell].Cell
		for _, more := range f.Saved.Further {
			if more.Of == cell && more.Round == round {
				c = more.Cell
			}
		}
		return &experiment.Measurement{Job: &bench.Job{Clock: clock.Precise()},
			Do: func(context.Context, *bench.Job) experiment.Outcome {
				run := result.Run{SchemaVersion: result.SchemaVersion, ID: "run",
					State: result.Complete,
					Asked: result.Asked{Workload: c.Workload, Target: c.Target}}
				w, err := result.Create(f.Dir(), &run)
				if err != nil {
					t.Fatal(err)
				}
				return experiment.Outcome{Dir: w.Dir(), State: run.State, Err: w.Close(&run)}
			}}
	}
	s.Next = func() ([]Further, error) {
		if calls++; calls > 2 {
			return nil, nil
		}
		var out []Further
		for of := range 3 - calls {
			out = append(out, Further{Of: of, Round: calls + 1, Cell: experiment.Cell{
				Workload: fmt.Sprintf("name: round %d of %d", calls+1, of), Target: "t"}})
		}
		return out, nil
	}
	if err := Run(t.Context(), f, experiment.Options{}, s); err != nil {
		t.Fatal(err)
	}
	if want := [][2]int{{0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {0, 3}}; !slices.Equal(made, want) {
		t.Errorf("measured %v, want %v", made, want)
	}
	on, err := Folders.Read(f.Dir())
	if err != nil || len(on.Further) != 3 || on.Left() != 0 || on.Further[2].Run == "" {
		t.Fatalf("%v: %+v", err, on)
	}
	f.Saved.Further[1].State = experiment.Running
	if err := Reconcile(f); err != nil || f.Saved.Left() != 0 {
		t.Errorf("%v: %d left", err, f.Saved.Left())
	}
}

func TestAnInterruptedSweepGoesOn(t *testing.T) {
	f := planned(t)
	ctx, cancel := context.WithCancel(t.Context())
	var order []int
	err := measureBy(ctx, f, func(i int) (*result.Saved, error) {
		order = append(order, i)
		if i == 1 {
			cancel()
			return measured(t, f, i, result.Interrupted), nil
		}
		return measured(t, f, i, result.Complete), nil
	})
	if err != nil || states(f.Saved) != "done pending pending" ||
		f.Saved.State != result.Interrupted {
		t.Fatalf("%v: %s", err, states(f.Saved))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := Find(filepath.Dir(f.Dir()), f.Saved)
	if err != nil || found != f.Dir() {
		t.Fatal(found, err)
	}
	again, err := Folders.Open(found)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := Reconcile(again); err != nil {
		t.Fatal(err)
	}
	err = measureBy(t.Context(), again, func(i int) (*result.Saved, error) {
		order = append(order, i)
		return measured(t, again, i, result.Complete), nil
	})
	if err != nil || !slices.Equal(order, []int{0, 1, 1, 2}) ||
		states(again.Saved) != "done done done" {
		t.Errorf("%v: %v, %s", err, order, states(again.Saved))
	}
}

// A process that is killed right after a run is complete has not recorded it: the run itself shows
// it.
func TestTheRunsTellWhatIsDone(t *testing.T) {
	f := planned(t)
	measured(t, f, 1, result.Complete)
	measured(t, f, 0, result.Running) // its process is gone, so it is incomplete
	f.Saved.Cells[0].State, f.Saved.Cells[1].State, f.Saved.Cells[2].State =
		experiment.Running, experiment.Running, experiment.Done
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	if err := Reconcile(f); err != nil {
		t.Fatal(err)
	}
	if states(f.Saved) != "pending done pending" || f.Saved.Cells[1].Run != "run" {
		t.Errorf("%s: %+v", states(f.Saved), f.Saved.Cells[1])
	}
}

func TestAFolderBelongsToOneProcess(t *testing.T) {
	f := planned(t)
	if _, err := Folders.Open(f.Dir()); err == nil ||
		!strings.Contains(err.Error(), "under way in another process") {
		t.Errorf("a held folder: %v", err)
	}
	other := *f.Saved
	other.Cells = other.Cells[:2]
	if err := MustBe(f, &other); err == nil {
		t.Error("another plan is taken for this one")
	}
	if _, err := Find(filepath.Dir(f.Dir()), &other); err == nil {
		t.Error("a folder was found for another plan")
	}
	again, err := Create(filepath.Dir(f.Dir()), f.Saved)
	if err != nil || filepath.Base(again.Dir()) != "2026-11-21T100000-sweep-a-b-2" ||
		again.Saved.ID != filepath.Base(again.Dir()) {
		t.Errorf("%v: %+v", err, again)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.Dir()), ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_ = again.Close()
}

func TestDamagedPlansAreRefused(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"": "it ends too early", "{}": "schema version 0",
		`{"schema_version": 9}`: "schema version 9",
		`{"schema_version": 1, "axes": [], "cells": [{"values": ["1"]}]}`:     "1 values for 0 keys",
		`{"schema_version": 1, "cells": [{"values": [], "run": "../other"}]}`: "outside the folder",
		`{"schema_version": 1, "further": [{"of": 3, "round": 2}]}`:           "is of no cell",
		`{"schema_version": 1, "cells": [{"values": []}],
			"further": [{"of": 0, "round": 2, "run": "../other"}]}`: "outside the folder",
	} {
		if err := os.WriteFile(filepath.Join(dir, "sweep.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Folders.Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Folders.Open(t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "is not a sweep's folder") {
		t.Error(err)
	}
}
