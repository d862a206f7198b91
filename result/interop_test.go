package result

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
)

const interop = "testdata/interop"

// writeInterop writes a run whose histograms hold every kind of value: the
// smallest, the largest, a wide spread, many of one.
func writeInterop(t *testing.T) string {
	t.Helper()
	run := Run{SchemaVersion: SchemaVersion, ID: "interop", State: Complete,
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w, err := Create(t.TempDir(), &run)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range int64(5) {
		var histograms []*hdr.Histogram
		for _, s := range []Series{Publish, EndToEnd, WarmupPrefix + Send} {
			h := NewHistogram()
			for range 2000 {
				_ = h.RecordValue(int64(random.ExpFloat64() * 3e6))
			}
			_ = h.RecordValues(0, 3)
			_ = h.RecordValues(HistogramMaxNs, 2)
			_ = h.RecordValues(50_000+i, 100_000)
			h.SetTag(string(s))
			h.SetStartTimeMs(run.StartedAt.UnixMilli() + i*1000)
			h.SetEndTimeMs(run.StartedAt.UnixMilli() + i*1000 + 1000)
			histograms = append(histograms, h)
		}
		if err := w.Interval(Interval{StartNs: i * 1e9, EndNs: (i + 1) * 1e9},
			LoggedOf(histograms)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(&run); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

// The log that plimsoll writes must be the one that HdrHistogram's own Java
// library read when the golden percentiles were made.
func TestLogIsTheOneThatJavaRead(t *testing.T) {
	got, err := os.ReadFile(filepath.Join(writeInterop(t), latencyFile))
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(interop, latencyFile)
	if golden.Update() {
		if err := os.WriteFile(kept, got, 0o644); err != nil {
			t.Fatal(err)
		}
		askJava(t)
	}
	want, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("latency.hlog differs from the one that Java read: run `make interop` and look " +
			"at the difference")
	}
}

// askJava has the Java library print the percentiles of the golden log.
func askJava(t *testing.T) {
	t.Helper()
	copyJar := exec.Command("mvn", "-q", "-f", "pom.xml", "dependency:copy-dependencies",
		"-DoutputDirectory="+t.TempDir())
	jars := strings.TrimPrefix(copyJar.Args[len(copyJar.Args)-1], "-DoutputDirectory=")
	copyJar.Dir = interop
	if out, err := copyJar.CombinedOutput(); err != nil {
		t.Fatalf("fetch HdrHistogram with mvn: %v\n%s", err, out)
	}
	read := exec.Command("java", "-cp", filepath.Join(jars, "*"), "Percentiles.java", latencyFile)
	read.Dir = interop
	out, err := read.Output()
	if err != nil {
		t.Fatalf("run the Java reader: %v", err)
	}
	if err := os.WriteFile(filepath.Join(interop, "java-percentiles.txt"), out, 0o644); err != nil {
		t.Fatal(err)
	}
}

// What the Java library reads from the log must be what plimsoll reports.
func TestPercentilesAreThoseOfJava(t *testing.T) {
	sameAsJava(t, writeInterop(t), interop)
}

// The same holds for a log of schema 1, whose histograms have buckets of 512 ns: its percentiles
// stay as they were when the run was made.
func TestPercentilesOfSchema1AreThoseOfJava(t *testing.T) {
	dir, earlier := writeInterop(t), filepath.Join(interop, "schema1")
	log, err := os.ReadFile(filepath.Join(earlier, latencyFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, latencyFile), log, 0o644); err != nil {
		t.Fatal(err)
	}
	sameAsJava(t, dir, earlier)
}

// sameAsJava compares the percentiles of a run with what Java read from its log.
func sameAsJava(t *testing.T, dir, golden string) {
	t.Helper()
	saved, err := Read(dir)
	if err != nil || len(saved.Damage) > 0 {
		t.Fatal(err, saved.Damage)
	}
	f, err := os.Open(filepath.Join(golden, "java-percentiles.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for in := bufio.NewScanner(f); in.Scan(); lines++ {
		var tag string
		var percentile float64
		var count, want int64
		if _, err := fmt.Sscan(in.Text(), &tag, &count, &percentile, &want); err != nil {
			t.Fatalf("%q: %v", in.Text(), err)
		}
		h := totalOf(saved, tag)
		if h.TotalCount() != count {
			t.Errorf("%s has %d samples, %d in Java", tag, h.TotalCount(), count)
		}
		if got := h.ValueAtPercentile(percentile); got != want {
			t.Errorf("%s p%v is %d, %d in Java", tag, percentile, got, want)
		}
	}
	if lines < 20 {
		t.Errorf("only %d percentiles to compare", lines)
	}
}

// totalOf merges the histograms of a tag.
func totalOf(s *Saved, tag string) *hdr.Histogram {
	name, warmup := strings.CutPrefix(tag, WarmupPrefix)
	of := Saved{}
	for _, l := range s.Latency {
		if string(l.Series) == name && l.Warmup == warmup {
			l.Warmup = false
			of.Latency = append(of.Latency, l)
		}
	}
	return of.Total(Series(name))
}
