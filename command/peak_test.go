package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Of a workload's objectives those of latencies decide which rates are stable, each once.
func TestASearchKeepsItsWorkloadsObjectives(t *testing.T) {
	given, err := verdict.ParseObjective("p99<20ms")
	if err != nil {
		t.Fatal(err)
	}
	w := &workload.Workload{Objectives: []string{"publish.p99 < 20ms", "lost < 1",
		"e2e.p50 < 5ms"}}
	var got []string
	for _, o := range withLatencies([]verdict.Objective{given}, w) {
		got = append(got, o.String())
	}
	if want := []string{"publish.p99<20ms", "e2e.p50<5ms"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// An interrupt keeps what a search has found, and its report.
func TestPeakInterrupted(t *testing.T) {
	t.Parallel()
	dir := inDir(t, map[string]string{
		"w.yaml": "name: short\nload: {rate: 1k/s}\nwarmup: 100ms\n"})
	cmd := self(t, dir, "peak", "-t", "sim", "-w", "w.yaml", "--trial", "1s")
	var said strings.Builder
	cmd.Stderr = &said
	start(t, cmd)
	latest := filepath.Join(dir, "runs", result.LatestLink)
	within(t, 30*time.Second, "a search", func() bool { return peak.Folders.Is(latest) })
	// In the middle of the second trial.
	time.Sleep(300 * time.Millisecond)
	if running, err := peak.Folders.Read(latest); err != nil || running.State != result.Running ||
		len(running.Trials) == 0 {
		t.Errorf("%v: %+v", err, running)
	}
	interruptedSays(t, cmd, &said,
		"to continue: plimsoll peak -t sim -w w.yaml --trial 1s --resume\n")
	s, err := peak.Folders.Read(latest)
	if err != nil {
		t.Fatal(err)
	}
	if s.State != result.Interrupted || s.End != peak.Stopped || !s.Trials[0].Judged {
		t.Errorf("%s, %s, %+v", s.State, s.End, s.Trials)
	}
	if _, err := os.Stat(filepath.Join(latest, result.ReportFile)); err != nil {
		t.Error(err)
	}
}
