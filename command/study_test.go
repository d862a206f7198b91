package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/study"
)

// At scale smoke each published study takes less than three quarters of an hour by its own
// estimate, and no cell is refused because of its file. The smoke of every system at each of its
// levels takes less than 150 minutes, as does each level at scale brief, and each published study
// there with its further rounds.
func TestSmokesAreShort(t *testing.T) {
	for _, name := range study.Names() {
		in := studyInputs{Name: name, Scale: study.Smoke, Runs: t.TempDir()}
		s, p, e, err := in.wanted()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		limit := 45 * time.Minute
		if s.Ranks() {
			limit = 150 * time.Minute
		}
		if e.Length <= time.Minute || e.Length > limit || e.Clusters == 0 ||
			e.DiskBytes == 0 {
			t.Errorf("%s: %+v", name, e)
		}
		for _, c := range p.Cells {
			if c.Absent && c.Target != "" && !s.Ranks() && !strings.HasPrefix(c.Reason, "left out") &&
				!strings.Contains(c.Reason, "backlog") &&
				!strings.Contains(c.Reason, "this machine lacks") {
				t.Errorf("%s: %s at %s: %s", name, c.Table, c.At, c.Reason)
			}
		}
	}
}

func TestPublishedStudiesAtScaleBriefAreShort(t *testing.T) {
	for _, name := range study.Names() {
		in := studyInputs{Name: name, Scale: study.Brief, Runs: t.TempDir()}
		s, p, e, err := in.wanted()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Ranks() {
			continue
		}
		// A look after a further round costs all claims a part of their error, so a study without
		// the time for one takes none.
		room := 150*time.Minute - e.Length
		if e.Cells == 0 || time.Duration(s.AtMost) > room ||
			(s.AtMost == 0) != (room < 5*time.Minute) {
			t.Errorf("%s: %+v and at most %v", name, e, s.AtMost)
		}
		for _, c := range p.Cells {
			if c.Round < 1 || c.Round > 3 {
				t.Errorf("%s: %s at %s", name, c.Table, c.Name())
			}
		}
	}
}

func TestALevelAtScaleBriefIsShort(t *testing.T) {
	for _, level := range []string{"level 1", "level 2", "level 3", "level 4"} {
		in := studyInputs{Name: "equal-footing", Scale: study.Brief, Only: []string{level},
			Runs: t.TempDir()}
		_, p, e, err := in.wanted()
		if err != nil || e.Cells == 0 || e.Length > 150*time.Minute {
			t.Errorf("%s: %+v: %v", level, e, err)
		}
		for _, c := range p.Cells {
			if !strings.Contains(c.At, level) || c.Table != "peak" && c.Table != "common" {
				t.Errorf("%s has %s at %s", level, c.Table, c.At)
			}
		}
	}
}

// A built-in study that an earlier plimsoll began is continued by the study of its folder.
func TestAStudyOfAnEarlierPlimsollGoesOn(t *testing.T) {
	runs := t.TempDir()
	begun := studyInputs{Name: "confluent-2020", Scale: study.Brief, Only: []string{"figure-2"},
		Runs: runs}
	s, p, _, err := begun.wanted()
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := study.Parse("earlier", []byte(s.YAML+"\n# of an earlier plimsoll\n"))
	if err == nil {
		p, _, err = begun.plan(earlier)
	}
	if err != nil {
		t.Fatal(err)
	}
	folder, err := study.Create(runs, p)
	if err == nil {
		err = folder.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	again := runStudy{studyInputs: begun, Resume: resumeFlag{given: true}, AtMost: "2h"}
	got, resumed, err := again.folder(console{out: io.Discard, err: &said})
	if err != nil {
		t.Fatal(err)
	}
	defer resumed.Close()
	other := again
	other.Name, other.Only = "ufcg-2020", nil
	other.Resume.dir = filepath.Join(runs, "other")
	if err := os.CopyFS(other.Resume.dir, os.DirFS(folder.Dir())); err != nil {
		t.Fatal(err)
	}
	if _, taken, err := other.folder(console{out: io.Discard, err: io.Discard}); err == nil ||
		!strings.Contains(err.Error(), "is of confluent-2020") {
		t.Errorf("another study goes on: %v", err)
	} else if taken != nil {
		taken.Close()
	}
	if resumed.Dir() != folder.Dir() || got.YAML != earlier.YAML ||
		resumed.Saved.Study != earlier.YAML || resumed.Saved.Left() != p.Left() ||
		time.Duration(resumed.Saved.AtMostNs) != 2*time.Hour ||
		!strings.Contains(said.String(), "as begun") {
		t.Errorf("%s, not %s; %d cells left, not %d; said %s", resumed.Dir(), folder.Dir(),
			resumed.Saved.Left(), p.Left(), said.String())
	}
}

const ownStudy = `
name: own
title: Four cells
question: Which?
source: made up
targets: [{name: sim, system: sim}]
workloads: [{name: load, set: {load.rate: 1k/s}, smoke: {warmup: 100ms, duration: 1s, drain: 2s}}]
tables:
  - name: latency
    measure: run
    workload: load
    figures: [e2e.p99]
    axes:
      - {name: partitions, values: [{name: 1, set: {partitions: 1}}, {name: 2, set: {partitions: 2}}, {name: 3, set: {partitions: 3}}, {name: 4, set: {partitions: 4}}]}
      - {name: system, values: [{name: sim, target: sim}]}
`

// studyBelow returns the only study's folder below dir, and its plan.
func studyBelow(t *testing.T, dir string) (string, *study.Plan) {
	t.Helper()
	folders, _ := filepath.Glob(filepath.Join(dir, "runs", "*-study-own-smoke"))
	if len(folders) != 1 {
		return "", &study.Plan{}
	}
	plan, _, err := study.Read(folders[0])
	if err != nil {
		t.Fatalf("the plan is half-written: %v", err)
	}
	return folders[0], plan
}

// A study that is interrupted, then killed with -9, continues where it stopped.
func TestStoppedStudyGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("measures four cells in three processes, for about 10 s")
	}
	t.Parallel()
	dir := inDir(t, map[string]string{"own.yaml": ownStudy})
	before := map[string]string{}
	for n, stop := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		args := []string{"study", "run", "own.yaml", "--fleet-listen", "127.0.0.1:0"}
		if n > 0 {
			args = append(args, "--resume")
		}
		cmd := self(t, dir, args...)
		var said strings.Builder
		cmd.Stderr = &said
		start(t, cmd)
		within(t, time.Minute, "a cell is measured", func() bool {
			_, p := studyBelow(t, dir)
			return len(p.Cells)-p.Left() > n && p.Left() > 0
		})
		if stop == syscall.SIGINT {
			interruptedSays(t, cmd, &said, "to continue: plimsoll study run own.yaml "+
				"--fleet-listen 127.0.0.1:0 --resume runs/")
		} else {
			signalTo(t, cmd, stop)
			_ = cmd.Wait()
		}
		_, p := studyBelow(t, dir)
		for _, c := range p.Cells {
			if c.State == experiment.Done {
				before[c.At] = c.Run
			}
		}
	}
	if len(before) < 2 || len(before) == 4 {
		t.Errorf("%d cells were done when the last process was killed: it was not in the middle",
			len(before))
	}
	out := plimsoll(t, dir, "study", "run", "own.yaml", "--resume")
	if !strings.Contains(out, "4 of 4 cells measured") {
		t.Fatal(out)
	}
	_, p := studyBelow(t, dir)
	for _, c := range p.Cells {
		if was := before[c.At]; c.State != experiment.Done || was != "" && was != c.Run {
			t.Errorf("%s is %s and was %s, and now %s", c.At, c.State, was, c.Run)
		}
	}
}
