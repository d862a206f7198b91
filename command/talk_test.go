package command

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/live"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Control characters of a file's name do not reach the terminal with an error.
func TestErrorsDoNotCommandTheTerminal(t *testing.T) {
	var out, said bytes.Buffer
	args := []string{"report", "no\x1b]0;title\x07\u009b31m\rsuch"}
	if code := run(args, &out, &said); code == exitDone {
		t.Errorf("exit code %d", code)
	}
	if text := said.String(); strings.ContainsAny(text, "\x1b\x07\u009b\r") ||
		!strings.Contains(text, "title") || !strings.HasSuffix(text, "\n") {
		t.Errorf("%q", text)
	}
}

// What is said while a panel is painted stands above it: a sentence below would be erased with it.
func TestSentencesStandAboveThePanel(t *testing.T) {
	var screen bytes.Buffer
	said := talk{&screen, new(atomic.Pointer[live.View])}
	live := live.New(&screen, true, func() int { return 80 })
	said.panel.Store(live)
	live.Phase(result.PhaseConnect, "")
	painted := screen.Len()
	fmt.Fprintln(said, "stopping\x1b[2J")
	const erased = "\x1b[1A\r\x1b[J"
	if after, above := strings.CutPrefix(screen.String()[painted:], erased+"stopping"); !above ||
		strings.Contains(after, "\x1b[2J") {
		t.Errorf("%q", screen.String()[painted:])
	}
}
