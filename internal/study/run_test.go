package study

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

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// onSim makes jobs for the simulated system.
func onSim(w *workload.Workload, t *target.Target, runs string) (*bench.Job, error) {
	s := sim.New(clock.Precise(), nil)
	settings, err := system.Resolve(s.Describe().Settings, t.Settings)
	if err != nil {
		return nil, err
	}
	job := &bench.Job{Workload: w, Target: t, System: s, Settings: settings, Runs: runs,
		Clock: clock.Precise()}
	return job, job.Check()
}

// silent is a watch that only counts cells.
type silent struct{ cells []string }

func (*silent) Phase(result.PhaseName, string)           {}
func (*silent) Interval(result.Interval)                 {}
func (*silent) Trial(*peak.Saved, peak.Step, *bench.Job) {}
func (*silent) TrialEnded(*peak.Saved)                   {}
func (s *silent) Cell(_, _ int, c *Cell,
	_ *bench.Job) {
	s.cells = append(s.cells, c.Table+" "+c.At)
}

const twoTables = `
name: two
title: Two tables with a cell in common
question: Which?
source: made up
targets: [{name: one, system: sim}, {name: other, system: sim, settings: {service_time: 5ms}}]
workloads: [{name: load}]
tables:
  - name: first
    measure: run
    workload: load
    figures: [e2e.p99]
    axes: [{name: system, values: [{name: one, target: one}, {name: other, target: other}]}]
  - name: second
    measure: run
    workload: load
    figures: [e2e.max]
    axes:
      - {name: partitions, values: [{name: 4, set: {partitions: 4}}, {name: 9, set: {partitions: 9}}]}
      - {name: system, values: [{name: one, target: one}]}
`

// begun returns a study of four cells, three of them different, in a folder.
func begun(t *testing.T) (*Study, *Folder) {
	t.Helper()
	s := parsed(t, twoTables)
	p := planOf(t, s, Smoke)
	scale, _ := s.Scale(Smoke)
	e, err := Prepare(s, p, onSim, t.TempDir())
	if err != nil || e.Cells != 4 || e.Same != 1 || e.Absent != 0 || e.Clusters != 0 ||
		e.Length < time.Duration(3*(scale.Warmup+scale.Window)) {
		t.Fatalf("%+v, %v", e, err)
	}
	f, err := Create(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return s, f
}

// measured writes a run directory of a job, in a state.
func measured(t *testing.T, job *bench.Job, state result.State) *result.Saved {
	t.Helper()
	run := result.Run{SchemaVersion: result.SchemaVersion, ID: "run", State: state,
		StateReason: "because", Asked: job.Asked}
	w, err := result.Create(job.Runs, &run)
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

// doing measures jobs with a function.
func doing(
	do func(job *bench.Job) (*result.Saved, error),
) func(context.Context, *bench.Job) experiment.Outcome {
	return func(_ context.Context, job *bench.Job) experiment.Outcome {
		run, err := do(job)
		if run == nil {
			return experiment.Outcome{Err: err}
		}
		return experiment.Outcome{Dir: run.Dir, Run: run, State: run.Run.State,
			StateReason: run.Run.StateReason, Err: err}
	}
}

func states(p *Plan) string {
	var out []string
	for _, c := range p.Cells {
		out = append(out, string(c.State))
	}
	return strings.Join(out, " ")
}

func TestAFailedCellDoesNotLoseTheOthers(t *testing.T) {
	s, f := begun(t)
	watch := &silent{}
	err := Run(t.Context(), Options{Folder: f, Study: s, Job: onSim, Watch: watch,
		Do: doing(func(job *bench.Job) (*result.Saved, error) {
			switch {
			case job.Workload.Partitions == 9:
				return nil, errors.New("no such server")
			case job.Target.Name == "other":
				return measured(t, job, result.Failed), nil
			}
			return measured(t, job, result.Complete), nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	on, study, err := Read(f.Dir())
	if err != nil || study.Name != "two" || states(on) != "done failed done failed" {
		t.Fatalf("%v: %s", err, states(on))
	}
	if on.Cells[1].Reason != "because" || on.Cells[3].Reason != "no such server" ||
		on.Left() != 2 || on.State != result.Complete {
		t.Errorf("%+v", on)
	}
	// A cell in two tables is measured once.
	if on.Cells[0].Run != on.Cells[2].Run || on.Cells[0].Run == "" ||
		!slices.Equal(watch.cells, []string{"first one", "second 9, one", "first other"}) {
		t.Errorf("%v, %+v", watch.cells, on.Cells)
	}
	if got := Measurements(f.Dir(), on); got[0].Run == nil || got[3].Run != nil {
		t.Errorf("%+v", got)
	}
}

// A run that plimsoll limited is made once more, and the second counts if it is complete. A run that
// broke a promise stays as it is.
func TestASpoiledRunIsMadeTwice(t *testing.T) {
	for name, second := range map[string]result.State{"complete": result.Complete,
		"failed": result.Failed, "lost": ""} {
		s, f := begun(t)
		watch, made := &silent{}, map[string][]string{}
		err := Run(t.Context(), Options{Folder: f, Study: s, Job: onSim, Watch: watch,
			Do: doing(func(job *bench.Job) (*result.Saved, error) {
				key := fmt.Sprint(job.Target.Name, job.Workload.Partitions)
				state := result.Complete
				if len(made[key]) > 0 {
					state = second
				}
				run := measured(t, job, state)
				made[key] = append(made[key], run.Run.ID)
				run.Run.Summary.Generator.Limited = job.Target.Name == "other"
				if name == "lost" {
					run.Run.Verdicts = []result.Verdict{{Name: verdict.Loss, Outcome: result.Broken}}
				}
				return run, nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		spoiled, times, counts := made["other4"], 2, 0
		switch second {
		case result.Complete:
			counts = 1
		case "":
			times = 1
		}
		if len(made) != 3 || len(spoiled) != times || len(made["one4"]) != 1 ||
			states(f.Saved) != "done done done done" || f.Saved.Cells[1].Run != spoiled[counts] {
			t.Errorf("%s: %v, %s, %s counts", name, made, states(f.Saved), f.Saved.Cells[1].Run)
		}
	}
}

func TestAnInterruptedStudyGoesOn(t *testing.T) {
	s, f := begun(t)
	wanted := *f.Saved
	wanted.Cells = slices.Clone(f.Saved.Cells)
	ctx, cancel := context.WithCancel(t.Context())
	first := &silent{}
	err := Run(ctx, Options{Folder: f, Study: s, Job: onSim, Watch: first,
		Do: doing(func(job *bench.Job) (*result.Saved, error) {
			if len(first.cells) == 2 {
				cancel()
				return measured(t, job, result.Interrupted), nil
			}
			return measured(t, job, result.Complete), nil
		})})
	if err != nil || states(f.Saved) != "done pending done pending" ||
		f.Saved.State != result.Interrupted {
		t.Fatalf("%v: %s", err, states(f.Saved))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	dir, err := FindFolder(strings.TrimSuffix(f.Dir(), "/"+f.Saved.ID), &wanted)
	if err != nil || dir != f.Dir() {
		t.Fatal(dir, err)
	}
	again, err := Folders.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	other, changed := wanted, wanted
	other.Scale, changed.Study = Small, changed.Study+"\n# another\n"
	for plan, want := range map[*Plan]string{&other: "of two at scale smoke: give the same name",
		&changed: "has changed since the study was begun"} {
		if err := GoOn(again, plan); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	if err := GoOn(again, &wanted); err != nil || again.Saved.Left() != 2 {
		t.Fatal(err, states(again.Saved))
	}
	second := &silent{}
	err = Run(t.Context(), Options{Folder: again, Study: s, Job: onSim, Watch: second,
		Do: doing(func(job *bench.Job) (*result.Saved, error) {
			return measured(t, job, result.Complete), nil
		})})
	if err != nil || again.Saved.Left() != 0 ||
		!slices.Equal(second.cells, []string{"second 9, one", "first other"}) {
		t.Errorf("%v: %s, %v", err, states(again.Saved), second.cells)
	}
}

// A study on the same targets is found before a newer one on others, also if its file has changed.
func TestAStudyOnTheSameTargetsIsFound(t *testing.T) {
	_, f := begun(t)
	changed := *f.Saved
	changed.Study += "\n# another\n"
	elsewhere := changed
	elsewhere.Own = []Own{{Target: "other", YAML: "system: sim\n"}}
	newer, err := Create(filepath.Dir(f.Dir()), &elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	if dir, err := FindFolder(filepath.Dir(f.Dir()), &changed); err != nil || dir != f.Dir() {
		t.Error(dir, err)
	}
}

// What was measured stays, on a machine that could not measure it again.
func TestMeasuredCellsStay(t *testing.T) {
	s, f := begun(t)
	if err := Run(t.Context(), Options{Folder: f, Study: s, Job: onSim, Watch: &silent{},
		Do: doing(func(job *bench.Job) (*result.Saved, error) {
			return measured(t, job, result.Complete), nil
		})}); err != nil {
		t.Fatal(err)
	}
	f.Saved.Cells[1].Twice = true
	full := func(*workload.Workload, *target.Target, string) (*bench.Job, error) {
		return nil, errors.New("the disk is full")
	}
	wanted := planOf(t, s, Smoke)
	if e, err := Prepare(s, wanted, full, t.TempDir()); err != nil || e.Absent != 4 {
		t.Fatalf("%+v, %v", e, err)
	}
	if err := GoOn(f, wanted); err != nil {
		t.Fatal(err)
	}
	e, err := Prepare(s, f.Saved, full, f.Dir())
	if err != nil || e.Absent != 0 || states(f.Saved) != "done done done done" ||
		!f.Saved.Cells[1].Twice || f.Saved.Cells[0].Twice {
		t.Errorf("%+v, %v: %+v", e, err, f.Saved.Cells)
	}
}

// A part that is asked for later is added to the folder, beside what the folder has.
func TestPartsOfAStudyShareAFolder(t *testing.T) {
	s, f := begun(t)
	f.Saved.Cells = planOf(t, s, Smoke, "9").Cells
	run := func() {
		t.Helper()
		if err := Run(t.Context(), Options{Folder: f, Study: s, Job: onSim, Watch: &silent{},
			Do: doing(func(job *bench.Job) (*result.Saved, error) {
				return measured(t, job, result.Complete), nil
			})}); err != nil {
			t.Fatal(err)
		}
	}
	run()
	err := GoOn(f, planOf(t, s, Smoke, "first", "other"))
	if err != nil || states(f.Saved) != "pending done" {
		t.Fatal(err, states(f.Saved))
	}
	run()
	if states(f.Saved) != "done done" || f.Saved.Cells[1].At != "9, one" {
		t.Error(states(f.Saved), f.Saved.Cells)
	}
}

func TestDamagedPlansAreRefused(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"": "it ends too early", "{}": "schema version 0",
		`{"schema_version": 9}`:                                 "schema version 9",
		`{"schema_version": 1, "cells": [{"run": "../other"}]}`: "outside the folder",
		`{"schema_version": 1, "study_yaml": "tabel: x"}`:       `did you mean "tables"`,
	} {
		if err := os.WriteFile(dir+"/study.json", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
