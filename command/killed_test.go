package command

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Servers that end in the middle of a run, by no fault of the workload, make the command fail, and
// the run is not called complete.
func TestServersKilledInMidRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	t.Parallel()
	dir := inDir(t, map[string]string{
		"bed.yaml":    "name: bed\nsystem: nats\nsettings: {servers: processes}\n",
		"killed.yaml": "name: killed\nload: {rate: 500/s}\nwarmup: 0s\nduration: 6s\ndrain: 2s\n",
	})
	cmd := self(t, dir, "run", "-t", "bed.yaml", "--warm", "0s", "-w", "killed.yaml")
	var said strings.Builder
	cmd.Stdout = &said
	start(t, cmd)
	waitForIntervals(t, dir)
	time.Sleep(time.Second)
	nodes := savedRun(t, dir).Run.System.Nodes
	if len(nodes) != 3 {
		t.Fatalf("%d nodes", len(nodes))
	}
	for _, n := range nodes {
		if err := syscall.Kill(n.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	endsWith(t, cmd, exitFailed)
	saved := savedRun(t, dir)
	if n := len(saved.Run.Ended); n != len(nodes) {
		t.Errorf("%d servers ended: %+v", n, saved.Run.Ended)
	}
	text := strings.Join(strings.Fields(said.String()), " ")
	// They are named in the order in which their ends were noticed.
	over := regexp.MustCompile("The run is over: (n[123](, | and | )){3}ended meanwhile")
	if strings.Contains(text, "The run is complete") || !over.MatchString(text) {
		t.Errorf("%.2000s", text)
	}
}
