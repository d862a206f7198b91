package command

import (
	"io"
	"strings"
	"testing"
)

// Every list of names belongs to an existing flag or argument.
func TestKnownValuesBelongToTheCommandLine(t *testing.T) {
	parser, err := newParser(io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(false) {
		path := strings.TrimSpace(leaf.Path())
		for _, argument := range leaf.Positional {
			there[path+" "+argument.Name] = true
		}
		for _, flag := range leaf.Flags {
			there["--"+flag.Name], there[path+" --"+flag.Name] = true, true
		}
	}
	for name, values := range knownValues() {
		if !there[name] {
			t.Errorf("completion knows values of %q, which is not on the command line", name)
		}
		if len(values) == 0 {
			t.Errorf("completion knows no value of %q", name)
		}
	}
}
