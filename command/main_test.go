package command

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"math/rand/v2"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/systems/nats"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == nats.NodeCommand {
		os.Exit(Main("")) // a server that a benchmark starts
	}
	testscript.Main(m, map[string]func(){"plimsoll": func() { os.Exit(Main("")) }})
}

// The command line as users see it: output, files and exit codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			// With only the program's folder as PATH, the machine has no servers.
			path, err := exec.LookPath("plimsoll")
			e.Setenv("PROGRAM", filepath.Dir(path))
			return err
		},
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Geteuid() == 0 && runtime.GOOS == "linux", nil
		},
	})
}

// exits runs a command and checks its exit code, that stderr is short, and that it has no stack
// trace: exits 2 plimsoll run -w nowhere.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [arguments]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("%s exits with %s, want %s", strings.Join(args[1:], " "), code, args[0])
	}
	stderr := ts.ReadFile("stderr")
	if regexp.MustCompile(`goroutine \d+|panic:|\.go:\d+`).MatchString(stderr) {
		ts.Fatalf("stderr shows a stack:\n%s", stderr)
	}
}

// hearHangup makes the commands that tests start hear SIGHUP, also where the tests run under nohup: a
// signal that this process handles is not ignored by its children.
var hearHangup = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) })

// self returns this test binary, as the plimsoll command.
func self(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	hearHangup()
	path, err := exec.LookPath("plimsoll")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Dir = dir
	return cmd
}

// A run that was killed with -9 at any moment must be readable and marked.
func TestKilledRunsReadBack(t *testing.T) {
	t.Parallel()
	const kills = 12
	if testing.Short() {
		t.Skip("kills 12 processes, for about 8 s")
	}
	dir := t.TempDir()
	turns := make(chan struct{}, 4)
	var killed sync.WaitGroup
	for range kills {
		killed.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			killOne(t, dir, time.Duration(rand.Int64N(int64(2*time.Second))))
		})
	}
	killed.Wait()
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == result.LatestLink {
			continue
		}
		read++
		formats := []string{"table", "html"}
		if read == 1 {
			formats = append(formats, "md", "csv", "intervals", "json", "benchfmt")
		}
		checkKilled(t, filepath.Join(dir, "runs", e.Name()), formats)
	}
	if read < kills/2 {
		t.Errorf("only %d of %d runs left a directory", read, kills)
	}
}

func killOne(t *testing.T, dir string, after time.Duration) {
	cmd := self(t, dir, "run", "-t", "sim", "-w", "killed.yaml")
	workload := "name: killed\nload: {rate: 5k/s}\nwarmup: 500ms\nduration: 30s\n"
	if err := os.WriteFile(filepath.Join(dir, "killed.yaml"), []byte(workload), 0o644); err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	time.Sleep(after)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("it ended by itself: %v", err)
	}
	_ = cmd.Wait()
}

func checkKilled(t *testing.T, dir string, formats []string) {
	t.Helper()
	saved, err := result.Read(dir)
	if err != nil {
		t.Error(err)
		return
	}
	if saved.Run.State != result.Incomplete {
		t.Errorf("%s is %q", filepath.Base(dir), saved.Run.State)
	}
	for _, format := range formats {
		out, err := self(t, dir, "report", "-f", format, ".").CombinedOutput()
		if err != nil {
			t.Errorf("report %s of %s: %v\n%s", format, filepath.Base(dir), err, out)
		}
		if (format == "table" || format == "html") &&
			!strings.Contains(string(out), "did not finish") {
			t.Errorf("the %s of a killed run does not say so:\n%.300s", format, out)
		}
	}
}

// One interrupt stops cleanly and keeps the measurements; two stop at once.
func TestInterrupts(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals int
		want    result.State
	}{{"once", 1, result.Interrupted}, {"twice", 2, result.Incomplete}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			// The slow service keeps the drain going, so that a second
			// interrupt finds something to end.
			target := "system: sim\nsettings: {service_time: 3s}\n"
			if c.signals == 1 {
				target = "system: sim\n"
			}
			if err := os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(target),
				0o644); err != nil {
				t.Fatal(err)
			}
			cmd := self(t, dir, "run", "-t", "t.yaml", "--rate", "1000/s", "--duration", "60s")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForIntervals(t, dir)
			for range c.signals {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				time.Sleep(300 * time.Millisecond)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("exit code %d", code)
			}
			saved, err := result.Read(filepath.Join(dir, "runs", result.LatestLink))
			if err != nil {
				t.Fatal(err)
			}
			if saved.Run.State != c.want {
				t.Errorf("state %q, want %q", saved.Run.State, c.want)
			}
			if c.want == result.Interrupted {
				checkInterrupted(t, saved)
			}
		})
	}
}

func checkInterrupted(t *testing.T, s *result.Saved) {
	t.Helper()
	c := s.Run.Warmup
	c.Acked += s.Run.Counters.Acked
	if c.Acked == 0 || !s.Run.Ledger.Accounted || s.Run.Ledger.Subscriptions[0].Lost != 0 {
		t.Errorf("counters %+v, ledger %+v", c, s.Run.Ledger)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, result.ReportFile)); err != nil {
		t.Error(err)
	}
}

// waitForIntervals returns when a run below dir has saved two intervals.
func waitForIntervals(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(
		50 * time.Millisecond) {
		saved, err := result.Read(filepath.Join(dir, "runs", result.LatestLink))
		if err == nil && len(saved.Intervals) >= 2 {
			return
		}
	}
	t.Fatal("no intervals within 30 s")
}
