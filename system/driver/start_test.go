package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// The error of a failed start quotes the server, and only the logs are left. A start that would
// fail again is not retried.
func TestFailedStarts(t *testing.T) {
	const long = 20 * time.Second
	for _, c := range []struct {
		name     string
		scripts  []string
		within   time.Duration
		attempts int
		is       error
		want     string
	}{
		{"ends", []string{runs, ends}, long, 1, nil,
			"server n2 ended while it was started (exit status 3): [ERR] the disk is on fire"},
		{"ends well", []string{"exit 0"}, long, 1, nil,
			"server n1 ended while it was started (exit code 0): "},
		{"address taken", []string{runs, taken}, long, startAttempts, ErrAddressTaken,
			"server n2: another process took an address: bind: Address already in use"},
		{"taken, in its own words", []string{"echo no room at the inn; exit 1"}, long,
			startAttempts, ErrAddressTaken, "no room at the inn"},
		{"never ready", []string{runs, deaf}, 300 * time.Millisecond, 1, context.DeadlineExceeded,
			"the servers did not become a cluster (n2: stat "},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers, p, attempts := toys, provision(t), 0
			servers.StartWithin = c.within
			var pids []int
			build := func(ctx context.Context, cluster *Cluster) (system.Provisioned, error) {
				attempts++
				built, err := building(c.scripts...)(ctx, cluster)
				for _, n := range cluster.Members() {
					pids = append(pids, n.PID())
				}
				return built, err
			}
			got, err := servers.Provision(t.Context(), p, build)
			if got != nil || err == nil || c.is != nil && !errors.Is(err, c.is) {
				t.Fatalf("got %v, %v", got, err)
			}
			text := err.Error()
			if !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
				t.Error(text)
			}
			if c.is == context.DeadlineExceeded && !strings.Contains(text, "(n2: I am busy)") {
				t.Errorf("%q does not quote the log", text)
			}
			if attempts != c.attempts || len(pids) != attempts*len(c.scripts) {
				t.Errorf("%d attempts, %d processes", attempts, len(pids))
			}
			if slices.ContainsFunc(pids, runsNow) {
				t.Error("a server runs still")
			}
			if left, _ := filepath.Glob(filepath.Join(p.DataDir, "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			logs, _ := filepath.Glob(filepath.Join(p.LogDir, "*.log"))
			if len(logs) != len(c.scripts) {
				t.Errorf("logs: %v", logs)
			}
		})
	}
}

// A server that failed in a race with another starts again, alone, until it has failed too often.
func TestRaceIsTriedAgain(t *testing.T) {
	const raced = "echo >> starts; echo a listener was half started; exit 1"
	starts := func(n *Node) int {
		raw, err := os.ReadFile(n.Path("starts"))
		if err != nil {
			t.Error(err)
		}
		return len(raw)
	}
	c := start(t, provision(t), building(runs,
		"[ -e starts ] && [ $(wc -l < starts) = 3 ] && { "+runs+"; }; "+raced))
	if all := c.Members(); starts(all[1]) != 3 || all[0].raced != 0 {
		t.Errorf("%d starts that failed, %d of the other server", starts(all[1]), all[0].raced)
	}

	_, err := toys.Start(t.Context(), provision(t),
		func(ctx context.Context, c *Cluster) (system.Provisioned, error) {
			built, err := building(raced)(ctx, c)
			if got := starts(c.Members()[0]); got != raceRestarts+1 {
				t.Errorf("%d starts", got)
			}
			return built, err
		})
	const want = "server n1 failed in a race with another server, 21 times in turn: " +
		"a listener was half started"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// An address that another process took is free in the next attempt.
func TestSecondAttempt(t *testing.T) {
	scripts := []string{taken, runs}
	start(t, provision(t), func(ctx context.Context, c *Cluster) (system.Provisioned, error) {
		now := scripts[0]
		scripts = scripts[1:]
		return building(now)(ctx, c)
	})
	if len(scripts) != 0 {
		t.Errorf("not tried: %q", scripts)
	}
}
