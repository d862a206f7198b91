package command

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A terminal that ends sends SIGHUP, often more than once: the run ends with its account.
func TestHangupKeepsTheAccount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := self(t, dir, "run", "-t", "sim", "--rate", "1000/s", "--duration", "60s")
	start(t, cmd)
	waitForIntervals(t, dir)
	for range 3 {
		signalTo(t, cmd, syscall.SIGHUP)
		time.Sleep(20 * time.Millisecond)
	}
	checkEnded(t, cmd, dir, result.Interrupted)
}

// A run under nohup goes on after SIGHUP and ends at SIGTERM.
func TestNohupStaysIgnored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := self(t, dir, "run", "-t", "sim", "--rate", "1000/s", "--duration", "60s")
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c",
		`trap "" HUP; exec "$0" "$@"`}, run.Args...)...)
	cmd.Dir = dir
	start(t, cmd)
	waitForIntervals(t, dir)
	signalTo(t, cmd, syscall.SIGHUP)
	before := intervals(t, dir)
	for intervals(t, dir) < before+2 {
		if t.Context().Err() != nil || cmd.Process.Signal(syscall.Signal(0)) != nil {
			t.Fatal("SIGHUP ended a run that was started with it ignored")
		}
		time.Sleep(50 * time.Millisecond)
	}
	signalTo(t, cmd, syscall.SIGTERM)
	checkEnded(t, cmd, dir, result.Interrupted)
}

const shortLoad = "name: short\nload: {rate: 1k/s}\nwarmup: 0s\nduration: 1s\n"

// Commands that wait end at SIGHUP as they do at SIGTERM.
func TestHangupEndsWaiting(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string // what it prints when it waits
	}{
		{[]string{"serve", "runs"}, "page: "},
		{[]string{"run", "-t", "sim", "-w", "short.yaml", "--ui=stay"}, "the page stays"},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			dir := inDir(t, map[string]string{"short.yaml": shortLoad})
			if err := os.Mkdir(filepath.Join(dir, "runs"), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := self(t, dir, c.args...)
			lineWith(t, linesOf(t, cmd), c.says)
			signalTo(t, cmd, syscall.SIGHUP)
			endsWith(t, cmd, exitDone)
		})
	}
}

// A worker that waits for its coordinator ends at SIGHUP, too.
func TestHangupEndsAWorker(t *testing.T) {
	t.Parallel()
	coordinator, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer coordinator.Close()
	half := strings.Repeat("A", 43)
	cmd := self(t, t.TempDir(), "worker", "--join", coordinator.Addr().String())
	cmd.Env = append(os.Environ(), joinTokenEnv+"="+half+"."+half)
	start(t, cmd)
	conn, err := coordinator.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	signalTo(t, cmd, syscall.SIGHUP)
	endsWith(t, cmd, exitInterrupted)
}

// The reader of standard error is gone, as when an ssh connection without a terminal ends: the
// run goes on.
func TestRunOutlivesItsStandardError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := self(t, dir, "run", "-t", "sim", "--rate", "1000/s", "--duration", "2s")
	cmd.Stderr = writer
	start(t, cmd)
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	endsWith(t, cmd, exitDone)
	if s := savedRun(t, dir); s.Run.State != result.Complete {
		t.Errorf("state %q", s.Run.State)
	}
}

// No sentence ends a command because nobody reads it, from the first one on.
func TestNobodyReadsStandardError(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := self(t, t.TempDir(), "run", "--no-such-flag")
	cmd.Stderr = writer
	start(t, cmd)
	endsWith(t, cmd, exitUsage)
}

func intervals(t *testing.T, dir string) int {
	t.Helper()
	return len(savedRun(t, dir).Intervals)
}
