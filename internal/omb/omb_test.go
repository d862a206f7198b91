package omb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// TestWorkloads compares the translation of every shape of workload: the notes and the workload,
// or every error as a terminal shows it; and the same with the flags for rate and duration, if
// that differs.
func TestWorkloads(t *testing.T) {
	golden.Each(t, "testdata/workloads/*.yaml", func(name string, src []byte) string {
		if !IsWorkload(src) {
			t.Errorf("%s is not recognised", name)
		}
		alone := translated(name, src, Given{})
		if beside := translated(name, src,
			Given{Rate: true, Duration: true}); strings.Contains(alone, "give --") {
			alone += "\nWith --rate and --duration:\n" + beside
		}
		return alone
	})
}

// A translated workload reads back as it is printed, or no worker would take it.
func TestWorkloadsReadBack(t *testing.T) {
	for file, src := range golden.Inputs(t, "testdata/workloads/*.yaml") {
		w, _, err := ParseWorkload(filepath.Base(file), src, Given{Rate: true, Duration: true})
		if err != nil {
			continue
		}
		again, err := workload.Parse("again.yaml", []byte(w.YAML()))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if diff := cmp.Diff(w, again); diff != "" {
			t.Errorf("%s:\n%s", file, diff)
		}
	}
}

func translated(name string, src []byte, given Given) string {
	w, notes, err := ParseWorkload(name, src, given)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, note := range notes {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	return b.String() + w.YAML()
}

func TestWorkloadsOfPlimsollAreNotTaken(t *testing.T) {
	for _, name := range workload.Names() {
		_, src, err := workload.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if IsWorkload([]byte(src)) {
			t.Errorf("%s is taken for one of OMB's", name)
		}
	}
	for file, src := range golden.Inputs(t, "../../workload/testdata/*.yaml") {
		if IsWorkload(src) {
			t.Errorf("%s is taken for one of OMB's", file)
		}
	}
}

func TestProperties(t *testing.T) {
	text := "a=1\n b : 2\nc   3\n# no\n! no\n\nd\\=e=f\\\n   " +
		"g\nh=\\u0041\\t|\\u12\na=last\nempty=\nkey\ni=\\\\\nj=k\\"
	want := []Property{{"a", "last"}, {"b", "2"}, {"c", "3"}, {"d=e", "fg"}, {"h", "A\t|\\u12"},
		{"empty", ""}, {"key", ""}, {"i", `\`}, {"j", "k"}}
	if diff := cmp.Diff(want, ParseProperties(text)); diff != "" {
		t.Error(diff)
	}
}

func FuzzWorkload(f *testing.F) {
	for _, src := range golden.Inputs(f, "testdata/workloads/*.yaml") {
		f.Add(src, false)
		f.Add(src, true)
	}
	f.Fuzz(func(t *testing.T, src []byte, given bool) {
		w, _, err := ParseWorkload("fuzz.yaml", src, Given{Rate: given, Duration: given})
		if (w == nil) == (err == nil) {
			t.Fatal("neither a workload nor an error, or both")
		}
		if err != nil {
			if _, ok := err.(strict.Violations); !ok || err.Error() == "" {
				t.Fatalf("error %T %v", err, err)
			}
			return
		}
		if err := w.Validate(); err != nil {
			t.Fatalf("what was parsed is not valid: %v", err)
		}
	})
}
