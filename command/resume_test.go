package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/result"
)

// What continues a command has all of its words but the folder that it continued.
func TestContinuationKeepsTheCommand(t *testing.T) {
	for _, one := range []struct{ given, folder, want string }{
		{"plimsoll sweep -t nats --vary partitions=1,4 --hosts 3 --workers 2 --warm 1m", "runs/a",
			"plimsoll sweep -t nats --vary partitions=1,4 --hosts 3 --workers 2 --warm 1m " +
				"--resume runs/a"},
		{"plimsoll sweep --resume runs/a --lab lab.yaml", "runs/a",
			"plimsoll sweep --lab lab.yaml --resume runs/a"},
		{"plimsoll sweep --resume=runs/a --max-cost 3", "runs/a",
			"plimsoll sweep --max-cost 3 --resume runs/a"},
		{"plimsoll peak --resume -t nats", "", "plimsoll peak -t nats --resume"},
		{"/usr/bin/plimsoll verify -t nats --resume", "", "plimsoll verify -t nats --resume"},
		{"plimsoll sweep --fail-if lost>0", "b", "plimsoll sweep --fail-if 'lost>0' --resume b"},
	} {
		if got := continuation(strings.Fields(one.given), one.folder); got != one.want {
			t.Errorf("%s:\n%s, want\n%s", one.given, got, one.want)
		}
	}
}

// A folder keeps no limit of cost, warm-up or machines, so they are not dropped without a word.
func TestASweepGoesOnWithWhatItWasBegunWith(t *testing.T) {
	began := strings.Fields("plimsoll sweep -t sqs --max-cost 2 --warm=0s")
	for now, want := range map[string]string{"sweep --resume a": "--max-cost",
		"sweep --resume a --max-cost=3": "--warm", "sweep --resume a --max-cost 3 --warm 0s": ""} {
		if got := forgotten(began, strings.Fields(now)); got != want {
			t.Errorf("%s: %q, want %q", now, got, want)
		}
	}
}

// What continues a command takes nothing of an older one: a job that the newest one did not come to
// begins anew.
func TestOnlyTheNewestCommandIsContinued(t *testing.T) {
	runs := t.TempDir()
	folder := func(name, began, set string) {
		head := fmt.Sprintf(`{"schema_version": 2, "kind": "verify", "id": %q, `+
			`"state": "complete", "started_at": "2026-11-%sT00:00:00Z", "asked": {"set": %q}}`,
			name, began, set)
		dir := filepath.Join(runs, name)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(
			filepath.Join(dir, experiment.File), []byte(head), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	folder("old-a", "01", "old")
	folder("old-b", "02", "old")
	folder("new-a", "03", "new")
	of := []map[string]string{{"": "new-a", "old": "old-a", "new": "new-a"},
		{"": "old-b", "old": "old-b"}}
	find := func(i int, set string) (string, error) {
		if of[i][set] == "" {
			return "", nil
		}
		return filepath.Join(runs, of[i][set]), nil
	}
	jobs := []*bench.Job{{}, {}}
	dirs, err := (&resumeFlag{given: true}).folders(jobs, find)
	if err != nil || filepath.Base(dirs[0]) != "new-a" || dirs[1] != "" ||
		jobs[1].Asked.Set != "new" {
		t.Errorf("%q, %+v, %v", dirs, jobs[1].Asked, err)
	}
	of[0], of[1] = nil, nil
	if _, err = (&resumeFlag{given: true}).folders(jobs, find); err == nil {
		t.Error("nothing is continued, and nothing is said")
	}
}

// Only verify without -w offers its own workload.
func TestVerifyTakesTheWorkloadThatIsNamed(t *testing.T) {
	for _, one := range []struct{ given, want string }{
		{"verify -t sim", "verify"}, {"verify -t sim -w default", "default"},
		{"run -t sim", "default"},
	} {
		all := parsed(t, strings.Fields(one.given)...)
		got := all.Run.Workload
		if strings.HasPrefix(one.given, "verify") {
			got = all.Verify.Workload
		}
		if got != one.want {
			t.Errorf("%s: workload %s, want %s", one.given, got, one.want)
		}
	}
}

// An interrupted verification says how to continue.
func TestVerifyInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := self(t, dir, "verify", "-t", "sim", "--quiet", "1s")
	var said strings.Builder
	cmd.Stderr = &said
	start(t, cmd)
	// A round that has measured nothing is discarded.
	waitForIntervalsOf(t, filepath.Join(dir, "runs", "*-verify-*", result.LatestLink))
	interruptedSays(t, cmd, &said, "to continue: plimsoll verify -t sim --quiet 1s --resume\n")
}
