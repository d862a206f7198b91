package golden

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is generated anew: golden files, checksums")

// Update reports whether the tests write what they compare with.
func Update() bool { return *update }

// Compare compares a text with a file. With -update it writes the file first.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run the test with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got): if that is meant, run the test with -update\n%s", path,
			diff)
	}
}

// Inputs returns the files that match a pattern, by path. There is at least one.
func Inputs(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs %s: %v", pattern, err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = src
	}
	return all
}

// Each compares what a function makes of each input with the golden file beside it.
func Each(t *testing.T, pattern string, of func(name string, src []byte) string) {
	t.Helper()
	for file, src := range Inputs(t, pattern) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			Compare(t, strings.TrimSuffix(file, filepath.Ext(file))+".golden",
				of(filepath.Base(file), src))
		})
	}
}

// Seeds gives inputs to a fuzzer, in their order by path, because a seed's name is its number.
func Seeds(f *testing.F, pattern string) {
	f.Helper()
	all := Inputs(f, pattern)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		f.Add(all[file])
	}
}
