package command

import (
	"path/filepath"
	"strings"
	"testing"

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
