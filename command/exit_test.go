package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// The help and CONTRIBUTING.md list every exit code, and the help every format of a report.
func TestListsAreComplete(t *testing.T) {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	help := func(args ...string) string {
		var out strings.Builder
		if code := run(append(args, "--help"), &out, io.Discard); code != exitDone {
			t.Fatalf("%v --help: exit code %d", args, code)
		}
		return words(out.String())
	}
	if !strings.Contains(help(), "Exit codes: "+exitList()) {
		t.Errorf("the help lacks the exit codes: %s", help())
	}
	formats := strings.Join(export.Formats(), ", ")
	for _, text := range []string{help(), help("report")} {
		if !strings.Contains(text, formats) {
			t.Errorf("the help lacks formats of reports: %s", text)
		}
	}
	contributing, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(words(string(contributing)), "Exit codes: "+exitList()) {
		t.Errorf("CONTRIBUTING.md lacks: Exit codes: %s", exitList())
	}
}

// What an interrupted command could not undo is told, and other errors of it are not.
func TestWhatIsLeftBehindIsTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	left := &bench.Leftover{Err: errors.New("delete the run's topics: no answer")}
	for want, failed := range map[string]error{
		"plimsoll: delete the run's topics: no answer\n": fmt.Errorf("measure: %w", left),
		"": context.Canceled,
	} {
		var said strings.Builder
		code := exitCode(exitOf(ctx, failed, true), &said)
		if code != exitInterrupted || said.String() != want {
			t.Errorf("%v: exit code %d: %q", failed, code, said.String())
		}
	}
}

// Of several targets an interrupted command tells those that had failed before, and all that was
// left behind.
func TestWhatFailedBeforeAnInterruptIsTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out failures
	out.add(ctx, failure{target: "a", err: errors.New("no java")})
	cancel()
	topics := &bench.Leftover{Err: errors.New("delete the run's topics: no answer")}
	out.add(ctx, failure{target: "b", err: errors.Join(context.Canceled, topics)})
	out.add(ctx, failure{target: "c", err: context.Canceled})
	servers := &bench.Leftover{Err: errors.New("stop the testbed: it hangs")}
	failed := errors.Join(out.end(3, nil), fmt.Errorf("end: %w", servers), context.Canceled)
	var said strings.Builder
	code := exitCode(exitOf(ctx, failed, true), &said)
	const want = "plimsoll: target a: no java\n" +
		"plimsoll: target b: delete the run's topics: no answer\n" +
		"plimsoll: stop the testbed: it hangs\n"
	if code != exitInterrupted || said.String() != want {
		t.Errorf("exit code %d: %q, want %q", code, said.String(), want)
	}
	var jobs []*bench.Job
	for _, name := range []string{"a", "b", "c", "d"} {
		jobs = append(jobs, &bench.Job{Target: &target.Target{Name: name}})
	}
	runs := []*result.Saved{{Run: result.Run{Name: "d"}}}
	if left := unmeasured(jobs, runs, out[:1]); !slices.Equal(left, []string{"b", "c"}) {
		t.Errorf("not measured: %q", left)
	}
}
