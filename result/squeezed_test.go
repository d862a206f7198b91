package result

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// What is read from a log is what the library reads, bucket for bucket, of runs of both schemas.
func TestSqueezedIsThatOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]int64{HistogramMinNs, coarseMinNs}).Draw(t, "least")
		h := hdr.New(least, HistogramMaxNs, HistogramDigits)
		for range rapid.IntRange(1, 60).Draw(t, "values") {
			ns := rapid.Int64Range(0, 1<<rapid.IntRange(0, 41).Draw(t, "bits")).Draw(t, "ns")
			n := int64(1) << rapid.IntRange(0, 55).Draw(t, "count bits")
			if err := h.RecordValues(ns, n); err != nil {
				t.Fatal(err)
			}
		}
		payload, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		want, err := hdr.DecodePacked(payload)
		if err != nil {
			t.Fatal(err)
		}
		got, err := squeeze(payload)
		if err != nil {
			t.Fatal(err)
		}
		all := func(b Buckets) (text string) {
			for value, n := range b.ForEachBucket {
				text += fmt.Sprintln(value, n)
			}
			return text
		}
		if all(got) != all(want) || got.TotalCount() != want.TotalCount() ||
			got.LowestTrackableValue() != want.LowestTrackableValue() {
			t.Fatalf("%s, want %s", all(got), all(want))
		}
		into := NewLike(got)
		if got.MergeInto(into) != 0 || !into.Equals(h) {
			t.Fatal("the merged histogram differs")
		}
	})
}

func FuzzSqueeze(f *testing.F) {
	payload, _ := NewHistogram().Encode(hdr.V2CompressedEncodingCookieBase)
	f.Add(payload)
	f.Fuzz(func(t *testing.T, b []byte) {
		if q, err := squeeze(b); err == nil {
			for value, n := range q.ForEachBucket {
				if n <= 0 || value < 0 || value > 2*HistogramMaxNs {
					t.Fatalf("%d of %d", n, value)
				}
			}
		}
	})
}

// hostile makes a run directory of a run of 10 s and adds lines to one of its files.
func hostile(t *testing.T, file, line string, lines int) *Saved {
	t.Helper()
	run := Run{SchemaVersion: SchemaVersion, ID: "hostile", State: Complete,
		Phases: []Phase{{Name: PhaseMeasure, EndNs: 10e9}}}
	w, err := Create(t.TempDir(), &run)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(&run); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.Dir(), file)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	more := strings.Repeat(line+"\n", lines)
	if err := os.WriteFile(path, append(before, more...), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Read(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A file with more lines than a run of its length has is read up to there. One sentence says so,
// and the rest of the run is there.
func TestMoreThanARunCanHave(t *testing.T) {
	var line bytes.Buffer
	h := NewHistogram()
	_ = h.RecordValue(7)
	h.SetTag(string(Publish))
	for _, l := range LoggedOf([]*hdr.Histogram{h}) {
		if err := newLogEncoder(0).line(&line, l); err != nil {
			t.Fatal(err)
		}
	}
	histogram := strings.TrimSpace(line.String())
	for _, c := range []struct {
		file, line string
		lines      int
		kept       func(*Saved) int
		most       int
	}{
		{intervalsFile, "{}", 5_000, func(s *Saved) int { return len(s.Intervals) }, 1_100},
		{resourcesFile, "{}", 5_000, func(s *Saved) int { return len(s.Resources) }, 1_100},
		{eventsFile, "{}", 200_000, func(s *Saved) int { return len(s.Events) }, maxEvents},
		{latencyFile, histogram, 60_000, func(s *Saved) int { return len(s.Latency) }, 44_000},
		{intervalsFile, `{"latency":[` + strings.Repeat("{},", 20_000) + "{}]}", 900,
			func(s *Saved) int { return len(s.Intervals) }, 100},
	} {
		s := hostile(t, c.file, c.line, c.lines)
		if n := c.kept(s); n == 0 || n > c.most {
			t.Errorf("%s: %d lines of %d are kept", c.file, n, c.lines)
		}
		if len(s.Damage) != 1 || !strings.HasPrefix(s.Damage[0],
			c.file+" holds more than a run of its length can have: it was read up to line ") {
			t.Errorf("%s: %q", c.file, s.Damage)
		}
		if few := hostile(t, c.file, c.line, 9); len(few.Damage) > 0 || c.kept(few) != 9 {
			t.Errorf("%s: %d of 9 lines, %q", c.file, c.kept(few), few.Damage)
		}
	}
}

// Around faults a run has ten intervals a second, and all of them are read.
func TestRunsWithFaultsAreReadWhole(t *testing.T) {
	run := Run{SchemaVersion: SchemaVersion, ID: "faults", State: Complete,
		Phases: []Phase{{Name: PhaseMeasure, EndNs: 240e9}}, Faults: []Fault{{Do: "kill"}}}
	w, err := Create(t.TempDir(), &run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(2_400) {
		at := i * int64(FaultInterval)
		err := errors.Join(w.Interval(Interval{StartNs: at, EndNs: at + int64(FaultInterval)}, nil),
			w.Resources(Resources{StartNs: at, EndNs: at + int64(FaultInterval)}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(&run); err != nil {
		t.Fatal(err)
	}
	s, err := Read(w.Dir())
	if err != nil || len(s.Intervals) != 2_400 || len(s.Resources) != 2_400 || len(s.Damage) > 0 {
		t.Errorf("%d intervals, %d resources, %q: %v", len(s.Intervals), len(s.Resources), s.Damage,
			err)
	}
}

func TestRunFileWithTooManyValues(t *testing.T) {
	dir := t.TempDir()
	text := `{"schema_version":1,"warnings":[` + strings.Repeat("{},", maxWholeValues) + "{}]}"
	if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "more values than plimsoll writes"
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
