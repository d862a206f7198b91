package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

// allGone waits until all of the processes have ended.
func allGone(t *testing.T, pids []int) {
	t.Helper()
	if len(pids) < 3 {
		t.Fatalf("the servers are %v", pids)
	}
	for _, pid := range pids {
		for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid,
			0) == nil; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("process %d was left behind", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
		}
	}
}

// Killed with -9 in the middle of a run, plimsoll leaves no server behind, and the next
// command removes the data.
func TestKilledRunLeavesNoServers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skipf("%s: only Linux ends the servers of a killed plimsoll", t.Name())
	}
	dir := inDir(t, map[string]string{
		"t.yaml": "name: t\nsystem: nats\nsettings: {servers: processes}\n",
	})
	cmd := self(t, dir, "run", "-t", "t.yaml", "--warm", "0s", "--rate", "200/s", "--duration",
		"60s")
	start(t, cmd)
	waitForIntervals(t, dir)
	var pids []int
	for _, n := range savedRun(t, dir).Run.System.Nodes {
		if err := syscall.Kill(n.PID, 0); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
		pids = append(pids, n.PID)
	}
	signalTo(t, cmd, syscall.SIGKILL)
	allGone(t, pids)
	_ = cmd.Wait()
	plimsoll(t, dir, "testbed", "status")
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", ".testbed", "p*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// plimsoll runs a command that must succeed and returns its output.
func plimsoll(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := self(t, dir, args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, complaint.String())
	}
	return string(out)
}

// A testbed that is interrupted before it is up leaves nothing. Kafka's servers start slowly
// enough to be interrupted during their start.
func TestTestbedInterruptedAtStart(t *testing.T) {
	systemtest.NeedJava(t)
	dir := t.TempDir()
	cmd := self(t, dir, "testbed", "up", "kafka")
	lines := linesOf(t, cmd)
	lineWith(t, lines, "starting ")
	time.Sleep(time.Second) // in the middle of it
	signalTo(t, cmd, syscall.SIGINT)
	for lines.Scan() { // so that the command never waits for the pipe
	}
	endsWith(t, cmd, exitInterrupted)
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", ".testbed", "*", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A testbed that is interrupted while its servers are warmed up, or that loses one of them, leaves
// nothing but one sentence.
func TestTestbedEndsWhileItIsWarmedUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("%s looks for servers in /proc", t.Name())
	}
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T, up *exec.Cmd, owner int)
		code int
		last string
	}{
		"an interrupt": {func(t *testing.T, up *exec.Cmd, _ int) {
			signalTo(t, up, syscall.SIGINT)
		}, exitInterrupted, "stopped before the cluster was up; all of its data is removed"},
		"a server that ends": {func(t *testing.T, _ *exec.Cmd, owner int) {
			servers := childrenOf(t, owner)
			if len(servers) != 3 {
				t.Fatalf("the servers are %v", servers)
			}
			if err := syscall.Kill(servers[0], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}, exitFailed, "plimsoll: start bed: warm the servers up: node n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := inDir(t, map[string]string{
				"bed.yaml": "name: bed\nsystem: nats\nsettings: {servers: processes}\n"})
			cmd := self(t, dir, "testbed", "up", "bed.yaml", "--warm", "1m")
			var said []string
			for lines := linesOf(t, cmd); lines.Scan(); {
				said = append(said, lines.Text())
				if !strings.HasPrefix(lines.Text(), "warming bed up") {
					continue
				}
				time.Sleep(time.Second) // under load
				all, _, err := testbed.List(t.Context(), filepath.Join(dir, "runs"))
				if err != nil || len(all) != 1 || all[0].Phase != testbed.PhaseStarting {
					t.Fatalf("%+v, %v", all, err)
				}
				c.do(t, cmd, all[0].PID)
			}
			endsWith(t, cmd, c.code)
			if !strings.HasPrefix(said[len(said)-1], c.last) {
				t.Errorf("%q", said)
			}
			left, _ := filepath.Glob(filepath.Join(dir, "runs", ".testbed", "*", "*"))
			more, _ := filepath.Glob(filepath.Join(dir, "runs", "*"))
			if len(left) > 0 || len(more) > 1 { // the folder of testbeds
				t.Errorf("left behind: %v, %v", left, more)
			}
		})
	}
}

// childrenOf returns the child processes of a process.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range strings.Fields(string(raw)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, child)
		}
	}
	return all
}
