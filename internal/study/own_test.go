package study

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const ownable = `
name: ownable
title: Cells of two targets
question: Which?
source: made up
targets:
  - {name: one, system: sim, settings: {capacity: 4000/s}}
  - {name: other, system: sim, unavailable: nobody has it}
workloads: [{name: load}]
tables:
  - name: cells
    measure: run
    workload: load
    figures: [e2e.p99]
    axes:
      - name: system
        values:
          - {name: plain, target: one}
          - {name: clients, target: one, set: {settings.service_time: 2ms}}
          - {name: servers, target: one, set: {settings.capacity: 9000/s}}
          - {name: kill, target: one, set: {duration: 5s, faults: "[{do: kill, at: 1s, for: 1s}]"}}
          - {name: other, target: other}
          - {name: other clients, target: other, set: {settings.service_time: 2ms}}
`

// own is a cluster of the user's, in a file, whose servers have the capacity.
func own(name, file, capacity string) Own {
	return Own{Target: name, File: file, Servers: map[string]string{"capacity": capacity},
		YAML: "system: sim\nendpoints: [\"" + name + ":1\"]\nsettings: {service_time: 7ms}\n" +
			"credentials: {password_env: ITS_PASSWORD}\n"}
}

// ownPlan is the plan of the study with clusters of the user's.
func ownPlan(t *testing.T, all ...Own) (*Study, *Plan) {
	t.Helper()
	s := parsed(t, ownable)
	if err := s.Replace(all); err != nil {
		t.Fatal(err)
	}
	return s, planOf(t, s, Smoke)
}

// unchecked makes jobs of the simulated system, also for targets with endpoints.
func unchecked(w *workload.Workload, t *target.Target, runs string) (*bench.Job, error) {
	s := sim.New(clock.Precise(), nil)
	settings, err := system.Resolve(s.Describe().Settings, t.Settings)
	return &bench.Job{Workload: w, Target: t, System: s, Settings: settings, Runs: runs,
		Clock: clock.Precise()}, err
}

// The clients of a cell have the cell's settings, over those of the file. A cell that needs servers
// which are configured otherwise, or which break, is named, and all others are measured.
func TestOwnClustersReplaceTargets(t *testing.T) {
	s, p := ownPlan(t, own("one", "one.yaml", "4000/s"), own("other", "other.yaml", "1/s"))
	if e, err := Prepare(s, p, unchecked, t.TempDir()); err != nil || e.Cells != 4 ||
		e.Absent != 2 || e.Clusters != 0 || e.DiskBytes != 0 || e.Needs["one"].MemoryBytes == 0 {
		t.Errorf("%+v, %v", e, err)
	}
	for i, want := range []struct{ in, why string }{
		{in: "service_time: \"7ms\""},
		{in: "service_time: \"2ms\""},
		{why: "needs servers with capacity: 9000/s, and plimsoll configures only servers that it " +
			"starts: if yours have it, write settings: {capacity: 9000/s} into one.yaml"},
		{why: "needs servers that get a fault (kill), and plimsoll breaks only servers that it " +
			"starts: leave -t one out"},
		{in: "service_time: \"7ms\""},
		{in: "service_time: \"2ms\""},
	} {
		c := &p.Cells[i]
		if c.Absent != (want.why != "") || c.Reason != want.why ||
			!strings.Contains(c.Target, want.in) || strings.Contains(c.Target, "capacity") ||
			!strings.Contains(c.Target, ":1") || strings.Contains(c.Target, "testbed") {
			t.Errorf("%s: %v, %q\n%s", c.At, c.Absent, c.Reason, c.Target)
		}
	}
	if a, b := p.Cells[0].grouped(), p.Cells[1].grouped(); a != b || a == p.Cells[4].grouped() {
		t.Errorf("the cells of a cluster are apart:\n%s\n%s", a, b)
	}
	if s, p = ownPlan(t, own("one", "one.yaml", "9000/s")); p.Cells[2].Absent ||
		!p.Cells[0].Absent || !p.Cells[4].Absent || p.Cells[4].Reason != "nobody has it" {
		t.Errorf("%+v", p.Cells)
	}
	if s.Replace(nil) != nil || len(s.own) > 0 {
		t.Error("the study keeps its clusters")
	}
}

// The cells of one cluster are together, also where only some have settings of clients.
func TestCredentialsDoNotPartTheCellsOfACluster(t *testing.T) {
	o := own("one", "one.yaml", "4000/s")
	o.YAML = strings.Replace(o.YAML, "settings: {service_time: 7ms}\n", "", 1)
	_, p := ownPlan(t, o)
	if a, b := p.Cells[0].grouped(), p.Cells[1].grouped(); a != b {
		t.Errorf("the cells of a cluster are apart:\n%s\n%s", a, b)
	}
}

// A cell that the user's file or its system rules out leaves the others.
func TestRefusedCellsOfOwnClustersAreNamed(t *testing.T) {
	s, p := ownPlan(t, own("one", "one.yaml", "4000/s"))
	e, err := Prepare(s, p, func(w *workload.Workload, of *target.Target,
		runs string) (*bench.Job, error) {
		for i := range of.Settings {
			if of.Settings[i].Value == "2ms" {
				of.Settings[i].Value = "soon"
			}
		}
		return unchecked(w, of, runs)
	}, t.TempDir())
	if err != nil || e.Cells != 1 || !strings.Contains(p.Cells[1].Reason, "service_time") {
		t.Errorf("%+v, %v: %s", e, err, p.Cells[1].Reason)
	}
}

func TestWrongReplacementsAreRefused(t *testing.T) {
	kafka := own("one", "k.yaml", "1/s")
	kafka.YAML = "system: kafka\nendpoints: [\"k:1\"]\n"
	for want, all := range map[string][]Own{
		`unknown target "on": the targets are one, other`: {own("on", "f.yaml", "1/s")},
		"target one is replaced twice, by f.yaml and by g.yaml": {own("one", "f.yaml", "1/s"),
			own("one", "g.yaml", "1/s")},
		"target one of the study is of sim, and k.yaml is of kafka: name a cluster of sim": {kafka},
	} {
		if err := parsed(t, ownable).Replace(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A study goes on only on the clusters with which it began.
func TestAStudyGoesOnWithItsTargets(t *testing.T) {
	runs := t.TempDir()
	_, p := ownPlan(t, own("one", "one.yaml", "4000/s"))
	f, err := Create(runs, p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	moved := own("one", "elsewhere/one.yaml", "4000/s")
	_, same := ownPlan(t, moved)
	if s, _, err := Read(f.Dir()); err != nil || len(s.Own) != 1 {
		t.Error(err)
	}
	if err := GoOn(f, same); err != nil {
		t.Error(err)
	}
	if got := (&Plan{}).onTargets(); got != "without -t: leave it out" {
		t.Error(got)
	}
	elsewhere := own("one", "one.yaml", "4000/s")
	elsewhere.YAML = strings.Replace(elsewhere.YAML, "one:1", "two:1", 1)
	for _, other := range [][]Own{nil, {elsewhere}, {own("one", "one.yaml", "9000/s")}} {
		_, wanted := ownPlan(t, other...)
		dir, err := FindFolder(runs, wanted)
		if err != nil || dir != f.Dir() {
			t.Error(dir, err)
		}
		if err := GoOn(f, wanted); err == nil || !strings.Contains(err.Error(),
			"was begun on other targets: continue it with -t one=one.yaml, and the same") {
			t.Errorf("%v: %v", other, err)
		}
	}
}
