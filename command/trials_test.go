package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// One interrupt ends a set of trials, keeps the runs so far and says how to continue.
func TestInterruptedTrialsKeepWhatWasDone(t *testing.T) {
	t.Parallel()
	dir := inDir(t,
		map[string]string{"w.yaml": "name: w\nload: {rate: 200/s}\nwarmup: 0s\nduration: 4s\n"})
	cmd := self(t, dir, "run", "-t", "sim", "-w", "w.yaml", "--trials", "50")
	var said strings.Builder
	cmd.Stderr = &said
	start(t, cmd)
	runs := func() []string {
		paths, _ := filepath.Glob(filepath.Join(dir, "runs", "2*", result.RunFile))
		return paths
	}
	within(t, time.Minute, "two runs", func() bool { return len(runs()) >= 2 })
	interruptedSays(t, cmd, &said,
		"to continue: plimsoll run -t sim -w w.yaml --trials 50 --resume\n")
	states := map[result.State]int{}
	for _, path := range runs() { // a run that had not measured anything is gone
		saved, err := result.Read(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		states[saved.Run.State]++
		if saved.Run.Trial == nil || saved.Run.Trial.Rounds != 50 {
			t.Errorf("trial %+v", saved.Run.Trial)
		}
	}
	if states[result.Complete] < 1 || len(states) > 2 {
		t.Errorf("states %v", states)
	}
	if _, err := os.Stat(
		filepath.Join(dir, "runs", result.LatestLink, result.ReportFile)); err != nil {
		t.Error(err)
	}
}

// In each round both targets are offered the same random load, which differs between rounds; the
// runs record the seed.
func TestTrialsHaveASeedForEachRound(t *testing.T) {
	t.Parallel()
	dir := inDir(t, map[string]string{
		"w.yaml": "name: w\nseed: 40\nload: {rate: 200/s, arrivals: poisson}\nwarmup: " +
			"0s\nduration: 1s\n",
		"a.yaml": "name: a\nsystem: sim\n", "b.yaml": "name: b\nsystem: sim\n",
	})
	run := self(t, dir, "run", "-t", "a.yaml", "-t", "b.yaml", "-w", "w.yaml", "--trials", "3")
	out, err := run.CombinedOutput()
	paths, _ := filepath.Glob(filepath.Join(dir, "runs", "2*", result.RunFile))
	if len(paths) != 6 {
		t.Fatalf("%d runs, %v:\n%s", len(paths), err, out)
	}
	offered := map[uint64][]int64{}
	for _, path := range paths {
		saved, err := result.Read(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		if want := 40 + uint64(saved.Run.Trial.Round-1); saved.Run.Seed != want {
			t.Errorf("round %d: seed %d, want %d", saved.Run.Trial.Round, saved.Run.Seed, want)
		}
		offered[saved.Run.Seed] = append(offered[saved.Run.Seed], saved.Run.Counters.Scheduled)
	}
	counts := map[int64]bool{}
	for seed, of := range offered {
		if len(of) != 2 || of[0] != of[1] {
			t.Errorf("seed %d: %d messages were due", seed, of)
		}
		counts[of[0]] = true
	}
	if len(counts) < 2 {
		t.Errorf("every round offered %v messages: the same trace", offered)
	}

	// A link and its target are the same run, and a run given twice counts once.
	target, err := filepath.EvalSymlinks(filepath.Join(dir, "runs", result.LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	latest := "runs/" + result.LatestLink
	both, err := self(t, dir, "report", "-f", "csv", latest, target, target).Output()
	one, errOne := self(t, dir, "report", "-f", "csv", target).Output()
	if err != nil || errOne != nil || string(both) != string(one) {
		t.Errorf("%v, %v: a link beside its target\n%s\nand the target\n%s", err, errOne, both, one)
	}
	said, err := self(t, dir, "compare", "--anyway", latest, target, target).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "A is a (3 runs), B is b (3 runs)") {
		t.Errorf("a run given three times is not the set that it is of: %v\n%s", err, said)
	}
}

// The gate of docs/GATE.md, unchanged: it passes an equal candidate and stops a slower one.
func TestDocumentedGate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures twelve runs, for about 15 s")
	}
	script, err := filepath.Abs("../docs/gate.sh")
	if err != nil {
		t.Fatal(err)
	}
	program := self(t, "").Path
	for _, c := range []struct {
		candidate string
		code      int
		want      string
	}{{"100ms", 0, "passes: publish.p50"}, {"400ms", 1, "fails: publish.p50"}} {
		dir := inDir(t, map[string]string{
			"workload.yaml": "name: gate\nload: {rate: 100/s}\nwarmup: 0s\nduration: 500ms\n",
			"baseline.yaml": "name: baseline\nsystem: sim\nsettings: {service_time: 100ms}\n",
			"candidate.yaml": "name: candidate\nsystem: sim\nsettings: {service_time: " +
				c.candidate + "}\n",
		})
		cmd := exec.CommandContext(context.Background(), "sh", script)
		// Even on a machine too busy for measuring, the figures are far apart.
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TRIALS=3", "ANYWAY=1",
			"PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("candidate of %s: exit code %d, want %d:\n%s", c.candidate, code, c.code, out)
		}
		said, err := os.ReadFile(filepath.Join(dir, "gate.md"))
		if err != nil || !strings.Contains(string(said), c.want) ||
			!strings.Contains(string(said), "lost is 0") {
			t.Errorf("candidate of %s: %v:\n%s", c.candidate, err, said)
		}
	}
}
