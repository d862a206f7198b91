package command

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/export"
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
