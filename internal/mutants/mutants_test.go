package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A module whose tests notice some changes and miss others.
var ages = map[string]string{
	"go.mod": "module example.com/ages\n\ngo 1.26\n",
	"people/people.go": `package people

import "time"

const adult = 18

// Asked counts the questions.
var Asked int

// Adult reports whether a person is of age.
func Adult(age int) bool {
	Asked++
	return age >= adult
}

// Sum adds up; an endless loop is noticed.
func Sum(all ...int) (sum int) {
	for i := 0; i < len(all); i++ {
		sum += all[i]
	}
	return sum
}

// Wait is not called by a test.
func Wait(patient bool) time.Duration {
	if !patient {
		return 3 * time.Second
	}
	return time.Minute
}

var retired = [...]string{2: "at 67"}
`,
	"people/people_test.go": `package people

import "testing"

func TestAdult(t *testing.T) {
	if !Adult(30) || Adult(3) {
		t.Error("an adult is a child, or the reverse")
	}
}

func TestSum(t *testing.T) {
	if got := Sum(1, 2, 3); got != 6 {
		t.Error(got)
	}
}
`,
}

// missed are the changes that the tests do not notice. Constants change where they are used.
var missed = []string{
	"people Adult: Asked++ => Asked--",
	"people Adult: Asked++ => dropped",
	"people Adult: adult => int(adult) / 2",
	"people Adult: age >= adult => age > adult",
	"people Wait: !patient => patient",
	"people Wait: 3 * time.Second => time.Duration(3 * time.Second) / 2",
	"people Wait: time.Minute => time.Duration(time.Minute) / 2",
}

// moduleOf writes a module, and returns its folder.
func moduleOf(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSurvivorsAreComparedWithTheList(t *testing.T) {
	t.Chdir(moduleOf(t, ages))
	killed := "people Sum: i++ => i--"
	gone := "people Old: a < b => a <= b"
	known := slices.Concat([]string{"# Known.", missed[0] + remark + "equivalent"}, missed[1:])
	for name, c := range map[string]struct {
		list   []string
		update bool
		after  []string
		says   []string // empty: nothing is wrong
	}{
		"no list":         {says: append([]string{"No test notices"}, missed...)},
		"all known":       {list: known, after: known},
		"a killed one":    {list: slices.Concat(known, []string{killed}), says: []string{"These are killed", killed}},
		"one that is not": {list: slices.Concat(known, []string{gone}), says: []string{"These are killed", gone}},
		"removed": {list: slices.Concat(known[:1], []string{gone, killed}, known[1:]),
			update: true, after: known},
		"begun": {list: known[:2], update: true, after: known},
	} {
		t.Run(name, func(t *testing.T) {
			list := filepath.Join(t.TempDir(), "survivors.txt")
			if len(c.list) > 0 {
				text := strings.Join(c.list, "\n") + "\n"
				if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			o := options{list: list, jobs: 2, seed: 1, longest: time.Minute, update: c.update}
			err := mutate(t.Context(), o, []string{"./people"}, &out)
			if (err != nil) != (len(c.says) > 0) {
				t.Errorf("%v\n%s", err, out.String())
			}
			lines := strings.Split(out.String(), "\n")
			for _, want := range c.says {
				if !slices.ContainsFunc(lines, func(line string) bool {
					return strings.HasPrefix(line, want)
				}) {
					t.Errorf("%q is not said:\n%s", want, out.String())
				}
			}
			if c.after != nil {
				raw, err := os.ReadFile(list)
				if got := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n"); err != nil ||
					!slices.Equal(got, c.after) {
					t.Errorf("the list is %q (%v), want %q", got, err, c.after)
				}
			}
		})
	}
	if files, err := os.ReadDir("people"); err != nil || len(files) != 2 {
		t.Errorf("the source tree was written: %v %v", files, err)
	}
}
