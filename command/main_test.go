package command

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
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

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/systems/nats"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == nats.NodeCommand {
		os.Exit(Main("")) // a server that a benchmark starts
	}
	testscript.Main(m, map[string]func(){"plimsoll": func() { os.Exit(Main("")) }})
}

// The command line as users see it: output, files and exit codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: golden.Update(), RequireExplicitExec: true,
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

// inDir writes files into a new directory.
func inDir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	writeIn(t, dir, files)
	return dir
}

func writeIn(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// self returns this test binary, as the plimsoll command.
func self(t testing.TB, dir string, args ...string) *exec.Cmd {
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

func start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
}

// linesOf starts a command and returns the lines that it writes to standard error.
func linesOf(t testing.TB, cmd *exec.Cmd) *bufio.Scanner {
	t.Helper()
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	return bufio.NewScanner(talk)
}

// lineWith returns the next line that begins so.
func lineWith(t testing.TB, lines *bufio.Scanner, begins string) string {
	t.Helper()
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), begins) {
			return lines.Text()
		}
	}
	t.Fatalf("no line begins with %q", begins)
	return ""
}

func signalTo(t *testing.T, cmd *exec.Cmd, s os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// interruptedSays interrupts a command whose standard error is said, which ends with a sentence in it.
func interruptedSays(t *testing.T, cmd *exec.Cmd, said *strings.Builder, sentence string) {
	t.Helper()
	signalTo(t, cmd, os.Interrupt)
	endsWith(t, cmd, exitInterrupted)
	if !strings.Contains(said.String(), sentence) {
		t.Errorf("it does not say %q:\n%s", sentence, said)
	}
}

// parsed returns the commands with the flags and arguments of a command line.
func parsed(t *testing.T, args ...string) commands {
	t.Helper()
	parser, err := newParser(io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	line, err := parser.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return line.Model.Target.Interface().(commands)
}

// endsWith waits for the end of a command, and checks its exit code.
func endsWith(t *testing.T, cmd *exec.Cmd, code int) {
	t.Helper()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%v: exit code %d, want %d\n%v", cmd.Args, got, code, cmd.Stderr)
	}
}

// within waits until something is done.
func within(t *testing.T, most time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", most, what)
		}
	}
}

// savedRun returns the newest run below a directory.
func savedRun(t testing.TB, dir string) *result.Saved {
	t.Helper()
	saved, err := result.Read(filepath.Join(dir, "runs", result.LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// A run that was killed with -9 at any moment must be readable and marked.
func TestKilledRunsReadBack(t *testing.T) {
	t.Parallel()
	const kills = 12
	if testing.Short() {
		t.Skip("kills 12 processes, for about 8 s")
	}
	dir := inDir(t, map[string]string{
		"killed.yaml": "name: killed\nload: {rate: 5k/s}\nwarmup: 500ms\nduration: 30s\n"})
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
		name, target string
		signals      int
		want         result.State
	}{
		{"once", "system: sim\n", 1, result.Interrupted},
		// The slow service keeps the drain going, so that a second interrupt finds something to end.
		{"twice", "system: sim\nsettings: {service_time: 3s}\n", 2, result.Incomplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := inDir(t, map[string]string{"t.yaml": c.target})
			cmd := self(t, dir, "run", "-t", "t.yaml", "--rate", "1000/s", "--duration", "60s")
			start(t, cmd)
			waitForIntervals(t, dir)
			for range c.signals {
				signalTo(t, cmd, os.Interrupt)
				time.Sleep(300 * time.Millisecond)
			}
			checkEnded(t, cmd, dir, c.want)
		})
	}
}

// checkEnded checks that an interrupted command has saved its run: in good order, unless it was
// interrupted twice.
func checkEnded(t *testing.T, cmd *exec.Cmd, dir string, want result.State) {
	t.Helper()
	endsWith(t, cmd, exitInterrupted)
	s := savedRun(t, dir)
	if s.Run.State != want {
		t.Errorf("state %q, want %q", s.Run.State, want)
	}
	if want != result.Interrupted {
		return
	}
	c := s.Run.Warmup
	c.Acked += s.Run.Counters.Acked
	if c.Acked == 0 || !s.Run.Ledger.Accounted || s.Run.Ledger.Subscriptions[0].Lost != 0 {
		t.Errorf("counters %+v, ledger %+v", c, s.Run.Ledger)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, result.ReportFile)); err != nil {
		t.Error(err)
	}
}

// waitForIntervals returns when the newest run below dir has saved two intervals.
func waitForIntervals(t *testing.T, dir string) {
	t.Helper()
	waitForIntervalsOf(t, filepath.Join(dir, "runs", result.LatestLink))
}

// waitForIntervalsOf returns when the one run that a pattern matches has saved two intervals.
func waitForIntervalsOf(t *testing.T, pattern string) {
	t.Helper()
	within(t, 30*time.Second, "two intervals", func() bool {
		latest, _ := filepath.Glob(pattern)
		if len(latest) != 1 {
			return false
		}
		saved, err := result.Read(latest[0])
		return err == nil && len(saved.Intervals) >= 2
	})
}
