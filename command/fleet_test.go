package command

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

// fleetWorkload is a load of two topics, one for each worker.
var fleetWorkload = map[string]string{"w.yaml": "name: w\ntopics: 2\nproducers: 1\nload: {rate: 500/s}\n" +
	"warmup: 0s\nduration: 60s\n"}

// workersOf returns the pids of a command's local workers.
func workersOf(t *testing.T, cmd *exec.Cmd) (all []int) {
	t.Helper()
	for pid := range process.Descendants(cmd.Process.Pid) {
		line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if err == nil && bytes.Contains(line, []byte("\x00worker\x00")) {
			all = append(all, pid)
		}
	}
	return all
}

// A worker that is killed, or hangs, at any moment ends the run within seconds. The run is marked
// and readable, and no process is left.
func TestWorkerIsKilled(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{
		"killed": syscall.SIGKILL, "hanging": syscall.SIGSTOP,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := inDir(t, fleetWorkload)
			cmd := self(t, dir, "run", "-t", "sim", "-w", "w.yaml", "--workers", "local:2")
			start(t, cmd)
			waitForIntervals(t, dir)
			time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Second))))
			workers := workersOf(t, cmd)
			if len(workers) != 2 {
				t.Fatalf("%d workers", len(workers))
			}
			if err := syscall.Kill(workers[0], signal); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_ = cmd.Wait()
			if code, took := cmd.ProcessState.ExitCode(), time.Since(began); code != exitFailed ||
				took > time.Minute {
				t.Errorf("exit code %d after %s", code, took)
			}
			r := &savedRun(t, dir).Run
			if r.State != result.Failed || !strings.Contains(r.StateReason, "the worker is lost") {
				t.Errorf("%s: %s", r.State, r.StateReason)
			}
			if r.Ledger.Accounted || r.Counters.Acked == 0 {
				t.Errorf("accounted %t, %d acknowledged", r.Ledger.Accounted, r.Counters.Acked)
			}
			for _, pid := range workers {
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("worker %d is left", pid)
				}
			}
		})
	}
}

// The coordinator is killed. A worker that it did not start, as on another machine, ends its load
// and itself within ten seconds and says why. The run is marked and readable.
func TestCoordinatorIsKilled(t *testing.T) {
	t.Parallel()
	dir := inDir(t, fleetWorkload)
	cmd := self(t, dir, "run", "-t", "sim", "-w", "w.yaml", "--workers", "1")
	lines := linesOf(t, cmd)
	waiting := strings.Fields(lineWith(t, lines, "waiting for workers: copy "))
	join := strings.Fields(lineWith(t, lines, "  plimsoll worker --join "))
	go func() {
		for lines.Scan() { // so that the command never waits for the pipe
		}
	}()
	worker := self(t, dir, append(join[1:len(join)-1], waiting[4])...)
	var said bytes.Buffer
	worker.Stderr = &said
	start(t, worker)
	waitForIntervals(t, dir)
	time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Second))))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	began := time.Now()
	_ = worker.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the worker went on for %s", took)
	}
	if code := worker.ProcessState.ExitCode(); code != exitFailed ||
		!strings.Contains(said.String(), "the coordinator is gone, so the load has ended") {
		t.Errorf("exit code %d:\n%s", code, said.String())
	}
	if state := savedRun(t, dir).Run.State; state == result.Complete {
		t.Errorf("the run is %s", state)
	}
}
