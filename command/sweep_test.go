package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

const sweptWorkload = "name: swept\nload: {rate: 1k/s}\nwarmup: 100ms\nduration: 1s\ndrain: 5s\n"

// sweepArgs are the arguments of a sweep of six cells.
var sweepArgs = []string{"sweep", "-w", "swept.yaml", "-t", "sim", "--vary", "partitions=1,10",
	"--vary", "message.size=100B,1KB,2KB"}

// planBelow returns the one sweep's folder below dir and its plan.
func planBelow(t *testing.T, dir string) (string, *sweep.Plan) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "runs", "*-sweep-swept*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders %v, %v", folders, err)
	}
	plan, err := sweep.Folders.Read(folders[0])
	if err != nil {
		t.Fatal(err)
	}
	return folders[0], plan
}

// completeRuns returns the begin times of the complete runs in a sweep's folder, by their
// workload.
func completeRuns(t *testing.T, folder string) map[string][]time.Time {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]time.Time{}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if s, err := result.Read(filepath.Join(folder, e.Name())); err == nil &&
			s.Run.State == result.Complete {
			out[s.Run.Asked.Workload] = append(out[s.Run.Asked.Workload], s.Run.StartedAt)
		}
	}
	return out
}

// A sweep that is repeatedly killed with -9 completes without measuring a finished cell twice.
func TestKilledSweepGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("measures six cells and kills three processes, for about 15 s")
	}
	t.Parallel()
	dir := inDir(t, map[string]string{"swept.yaml": sweptWorkload})
	before := map[string][]time.Time{}
	for kill := range 3 {
		args := sweepArgs
		if kill > 0 {
			args = append(slices.Clone(sweepArgs), "--resume")
		}
		killAmid(t, dir, args, kill+1)
		folder, _ := planBelow(t, dir)
		before = completeRuns(t, folder)
	}
	folder, _ := planBelow(t, dir)
	plimsoll(t, dir, "sweep", "--resume", folder)
	_, plan := planBelow(t, dir)
	if len(plan.Cells) != 6 || plan.Left() != 0 || plan.EndedAt.IsZero() {
		t.Errorf("%d cells, %d left, ended at %s", len(plan.Cells), plan.Left(), plan.EndedAt)
	}
	after := completeRuns(t, folder)
	for _, c := range plan.Cells {
		if n := len(after[c.Workload]); n != 1 {
			t.Errorf("cell %v was measured %d times", c.Values, n)
		}
		if was := before[c.Workload]; len(was) > 0 && !was[0].Equal(after[c.Workload][0]) {
			t.Errorf("cell %v was finished and measured again", c.Values)
		}
	}
	if len(before) == 0 || len(before) == 6 {
		t.Errorf("%d cells were finished when the last process was killed: it was not in the middle", len(before))
	}
	if _, err := os.Stat(filepath.Join(folder, result.ReportFile)); err != nil {
		t.Error(err)
	}
	// Another resume of a complete sweep measures nothing.
	if out, err := self(t, dir, "sweep", "--resume="+folder).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "6 of 6 cells measured") ||
		strings.Contains(string(out), "cell 1 of 6") {
		t.Errorf("%v\n%s", err, out)
	}
}

// killAmid starts a sweep and kills it while a cell is measured, after a number of complete cells.
func killAmid(t *testing.T, dir string, args []string, done int) {
	t.Helper()
	cmd := self(t, dir, args...)
	start(t, cmd)
	within(t, time.Minute, "a cell is finished", func() bool {
		folders, _ := filepath.Glob(filepath.Join(dir, "runs", "*-sweep-swept*"))
		if len(folders) != 1 {
			return false
		}
		plan, err := sweep.Folders.Read(folders[0])
		if err != nil {
			t.Fatalf("the plan is half-written: %v", err)
		}
		return len(plan.Cells)-plan.Left() >= done
	})
	time.Sleep(300 * time.Millisecond)
	signalTo(t, cmd, syscall.SIGKILL)
	_ = cmd.Wait()
}

// One interrupt keeps the measurements and prints how to continue.
func TestInterruptedSweep(t *testing.T) {
	t.Parallel()
	dir := inDir(t, map[string]string{
		"swept.yaml": strings.Replace(sweptWorkload, "1s", "60s", 1)})
	cmd := self(t, dir, append(slices.Clone(sweepArgs), "--fail-if", "publish.p99 > 20ms")...)
	var said strings.Builder
	cmd.Stderr = &said
	start(t, cmd)
	waitForIntervalsOf(t, filepath.Join(dir, "runs", "*-sweep-swept*", result.LatestLink))
	interruptedSays(t, cmd, &said, "--fail-if 'publish.p99 > 20ms' --resume runs/")
	_, again, _ := strings.Cut(said.String(), "to continue: ")
	again, _, _ = strings.Cut(again, "\n")
	folder, plan := planBelow(t, dir)
	if out, err := self(t, dir, "report", folder).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "interrupted") {
		t.Errorf("%v\n%s", err, out)
	}
	if raw, _ := json.Marshal(plan.Cells); plan.Left() != 6 ||
		plan.Cells[0].State != experiment.Pending || plan.Cells[0].Run == "" {
		t.Errorf("%s", raw)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", again+" --explain")
	shell.Dir = dir
	if out, err := shell.CombinedOutput(); err != nil || !strings.Contains(string(out), "pending") {
		t.Errorf("%s: %v\n%s", again, err, out)
	}
}

// A message lost in a further round of a cell fails a sweep, as one of the first round does.
func TestEveryRoundOfASweepMustBeSound(t *testing.T) {
	sound, lossy := &result.Saved{}, &result.Saved{}
	lossy.Run.Verdicts = []result.Verdict{{Name: verdict.Loss, Outcome: result.Broken}}
	runs := []*result.Saved{sound, nil}
	if measured, is := allRounds(runs, []*result.Saved{nil, sound}); !is || len(measured) != 2 {
		t.Errorf("%d runs, sound: %t", len(measured), is)
	}
	if measured, is := allRounds(runs, []*result.Saved{lossy}); is || len(measured) != 2 {
		t.Errorf("%d runs, one of them lossy, sound: %t", len(measured), is)
	}
}
