package systemtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/system/maven"
)

// PinnedJars are a maven.Artifacts or a maven.Archive.
type PinnedJars interface {
	Fetch(ctx context.Context, progress func(sentence string)) (dir string, err error)
	// Pins fetches the files anew and returns the lines of their checksums.
	Pins(ctx context.Context) (lines string, err error)
	// Pinned returns the lines in the list that this program has.
	Pinned() (lines string)
}

// Pinned compares the list of pinned checksums in a file with what Maven brings: it has lines for
// each of the servers and no others, and Fetch, which refuses other files, succeeds. With -update
// it fetches everything anew and writes the file.
func Pinned(t *testing.T, file string, all ...PinnedJars) {
	t.Helper()
	var want strings.Builder
	for _, jars := range all {
		lines := jars.Pinned()
		if golden.Update() {
			var err error
			if lines, err = jars.Pins(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if lines == "" {
			t.Errorf("%s lacks the checksums of some servers: run this test with -update", file)
		}
		want.WriteString(lines)
	}
	if golden.Update() {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return // the next compilation embeds the file
	}
	got, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("%s has other lines than those of the servers: run this test with -update", file)
	}
	if err := maven.Available(); err != nil {
		t.Logf("what Maven brings is not compared: %v", err)
		return
	}
	for _, jars := range all {
		if _, err := jars.Fetch(t.Context(), func(s string) { t.Log(s) }); err != nil {
			t.Error(err)
		}
	}
}
