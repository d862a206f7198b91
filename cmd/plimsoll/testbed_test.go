package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
)

func needKafka(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a Kafka cluster, for about 30 s")
	}
	if runtime.GOOS != "linux" {
		t.Skipf("%s: only Linux ends the servers of a killed plimsoll", t.Name())
	}
	if err := maven.Available(); err != nil {
		t.Skipf("%s needs Java and Maven: %v", t.Name(), err)
	}
}

// allGone waits until none of the processes is there any more.
func allGone(t *testing.T, pids []int) {
	t.Helper()
	if len(pids) != 3 {
		t.Fatalf("the servers are %v", pids)
	}
	for _, pid := range pids {
		for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("process %d was left behind", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
		}
	}
}

// Killed with -9 in the middle of a run, plimsoll leaves no Java behind, and
// the next command removes the data.
func TestKilledRunLeavesNoServers(t *testing.T) {
	needKafka(t)
	dir := t.TempDir()
	cmd := self(t, dir, "run", "-t", "kafka", "--rate", "200/s", "--duration", "60s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Whatever happens here, it must not stay.
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	awaitNodes(t, dir)
	var pids []int
	for _, n := range nodesOf(t, dir) {
		if err := syscall.Kill(n.PID, 0); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
		pids = append(pids, n.PID)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	allGone(t, pids)
	_ = cmd.Wait()
	plimsoll(t, dir, "testbed", "status")
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", ".testbed", "p*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// awaitNodes waits until the run offers load.
func awaitNodes(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		saved, err := result.Read(filepath.Join(dir, "runs", result.LatestLink))
		if err == nil && len(saved.Intervals) > 0 {
			return
		}
	}
	t.Fatal("the run does not measure within two minutes")
}

// plimsoll runs a command to its good end and returns what it printed.
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

// A testbed of real servers: up, encrypted, measured, its owner killed.
func TestKafkaTestbed(t *testing.T) {
	needKafka(t)
	dir := t.TempDir()
	// Interrupted before it is up, it leaves nothing.
	cmd := self(t, dir, "testbed", "up", "kafka")
	interruptAtStart(t, cmd)
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", ".testbed", "*", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	for name, content := range map[string]string{
		"secure.yaml": "name: secure\nsystem: kafka\nsettings: {security: sasl_ssl, linger: 2ms}\n",
		"short.yaml":  "name: short\nload: {rate: 200/s}\nwarmup: 1s\nduration: 2s\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plimsoll(t, dir, "testbed", "up", "secure.yaml")
	var all []testbed.State
	if err := json.Unmarshal([]byte(plimsoll(t, dir, "testbed", "status", "--json")), &all); err != nil || len(all) != 1 {
		t.Fatalf("%v: %v", all, err)
	}
	var pids []int
	for _, n := range all[0].Nodes {
		if !n.Alive || n.RSSBytes < 50<<20 {
			t.Errorf("%+v", n)
		}
		pids = append(pids, n.PID)
	}
	out := plimsoll(t, dir, "run", "-t", "runs/.testbed/secure/target.yaml", "-w", "short.yaml", "--json")
	if !strings.Contains(out, `"lost": 0`) {
		t.Errorf("the run: %.2000s", out)
	}
	if err := syscall.Kill(all[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	allGone(t, pids)
	plimsoll(t, dir, "testbed", "down")
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", ".testbed", "*", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// interruptAtStart interrupts a testbed up as soon as it starts servers.
func interruptAtStart(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "starting ") {
			time.Sleep(2 * time.Second) // in the middle of it
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
