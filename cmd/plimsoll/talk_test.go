package main

import (
	"bytes"
	"strings"
	"testing"
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
