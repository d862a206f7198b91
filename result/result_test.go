package result

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

func sampleRun() Run {
	return Run{
		SchemaVersion: SchemaVersion, ID: "2026-01-02T030405-sample", State: Running,
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), PID: 1,
		Load: Load{Subscriptions: 1, MessageBytes: 100,
			WindowSeconds: 10}, Phases: []Phase{{Name: PhaseMeasure, StartNs: 0}},
	}
}

// written makes a run with two intervals and leaves its writer open.
func written(t testing.TB, root string) (*Writer, *Run) {
	t.Helper()
	run := sampleRun()
	w, err := Create(root, &run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(2) {
		h := NewHistogram()
		_ = h.RecordValues(1_000_000*(i+1), 1000)
		h.SetTag(string(Publish))
		h.SetStartTimeMs(run.StartedAt.UnixMilli() + i*1000)
		h.SetEndTimeMs(run.StartedAt.UnixMilli() + (i+1)*1000)
		line := Interval{StartNs: i * 1e9, EndNs: (i + 1) * 1e9, Phase: PhaseMeasure,
			Scheduled: 1000, Acked: 1000, Received: 900, Backlog: 100}
		if err := w.Interval(line, LoggedOf([]*hdr.Histogram{h, NewHistogram()})); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Event(Event{AtNs: 5, Kind: "note", Sentence: "hello"}); err != nil {
		t.Fatal(err)
	}
	return w, &run
}

func TestRunReadsBackAsWritten(t *testing.T) {
	root := t.TempDir()
	w, run := written(t, root)
	run.State = Complete
	run.Warnings = []Warning{{Code: "a", Sentence: "b"}}
	if err := w.Close(run); err != nil {
		t.Fatal(err)
	}
	s, err := Read(filepath.Join(root, LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*run, s.Run); diff != "" {
		t.Error(diff)
	}
	if len(s.Intervals) != 2 || len(s.Latency) != 2 || len(s.Events) != 1 || len(s.Damage) != 0 {
		t.Errorf("%d intervals, %d histograms, %d events, damage %v", len(s.Intervals),
			len(s.Latency), len(s.Events), s.Damage)
	}
	if total := s.Total(Publish); total.TotalCount() != 2000 {
		t.Errorf("total has %d", total.TotalCount())
	}
	if l := s.Latency[1]; l.StartNs != 1e9 || l.EndNs != 2e9 {
		t.Errorf("second histogram from %d to %d", l.StartNs, l.EndNs)
	}
}

func TestRunIsRunningWhileItsWriterLives(t *testing.T) {
	w, _ := written(t, t.TempDir())
	s, err := Read(w.Dir())
	if err != nil || s.Run.State != Running {
		t.Errorf("state %q, error %v", s.Run.State, err)
	}
	// A killed process gives its locks up without a word.
	if err := w.release(); err != nil {
		t.Fatal(err)
	}
	s, err = Read(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if s.Run.State != Incomplete || s.Run.StateReason == "" {
		t.Errorf("state %q (%q)", s.Run.State, s.Run.StateReason)
	}
	sum := s.Run.Summary
	if sum.WindowNs != 2e9 || sum.AchievedRate != 1000 || sum.ReceivedRate != 900 ||
		sum.BytesPerS != 100_000 {
		t.Errorf("summary made anew: %+v", sum)
	}
	if p99, ok := sum.Series(Publish).At(99); !ok || p99 < 1_999_000 || p99 > 2_001_000 {
		t.Errorf("publish p99 %d", p99)
	}
	if s.Run.Phases[0].EndNs != 2e9 {
		t.Errorf("phase ends at %d", s.Run.Phases[0].EndNs)
	}
}

// A run must be readable when any of its files is cut at any place.
func TestTornFilesReadBack(t *testing.T) {
	w, run := written(t, t.TempDir())
	if err := w.Close(run); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{intervalsFile, latencyFile, eventsFile} {
		path := filepath.Join(w.Dir(), name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for cut := 0; cut <= len(whole); cut += 1 + len(whole)/300 {
			if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := Read(w.Dir())
			if err != nil {
				t.Fatalf("%s cut at %d: %v", name, cut, err)
			}
			torn := cut > 0 && whole[cut-1] != '\n'
			if torn != (len(s.Damage) > 0) {
				t.Errorf("%s cut at %d: damage %v", name, cut, s.Damage)
			}
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTakenNameGetsANumber(t *testing.T) {
	root := t.TempDir()
	for _, want := range []string{"", "-2", "-3"} {
		run := sampleRun()
		w, err := Create(root, &run)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(w.Dir()) != sampleRun().ID+want || run.ID != sampleRun().ID+want {
			t.Errorf("directory %s, ID %s", w.Dir(), run.ID)
		}
		_ = w.release()
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	root := t.TempDir()
	w, _ := written(t, root)
	w.Discard()
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 0 {
		t.Errorf("left: %v %v", entries, err)
	}
}

func TestDiscardGivesTheLatestLinkBack(t *testing.T) {
	root := t.TempDir()
	good, run := written(t, root)
	if err := good.Close(run); err != nil {
		t.Fatal(err)
	}
	failed, _ := written(t, root)
	failed.Discard()
	if to, err := os.Readlink(filepath.Join(root, LatestLink)); err != nil ||
		to != filepath.Base(good.Dir()) {
		t.Errorf("latest points to %q, %v", to, err)
	}
}

// A run replaces only plimsoll's own link, whatever else is called latest.
func TestLatestOfSomebodyElse(t *testing.T) {
	latest := func(root string) string { return filepath.Join(root, LatestLink) }
	for name, put := range map[string]func(root string) error{
		"a file":   func(root string) error { return os.WriteFile(latest(root), nil, 0o600) },
		"a folder": func(root string) error { return os.Mkdir(latest(root), 0o700) },
		"a link to a folder without runs": func(root string) error {
			return errors.Join(os.Mkdir(filepath.Join(root, "v1.2"), 0o700),
				os.Symlink("v1.2", latest(root)))
		},
		"a link elsewhere": func(root string) error { return os.Symlink(os.TempDir(), latest(root)) },
	} {
		root := t.TempDir()
		if err := put(root); err != nil {
			t.Fatal(err)
		}
		look := func() string {
			info, err := os.Lstat(latest(root))
			if err != nil {
				t.Fatal(name, err)
			}
			to, _ := os.Readlink(latest(root))
			return info.Mode().String() + to
		}
		was := look()
		w, run := written(t, root)
		if err := w.Close(run); err != nil {
			t.Error(err)
		}
		failed, _ := written(t, root)
		failed.Discard()
		if is := look(); is != was {
			t.Errorf("%s was replaced: %s, not %s", name, is, was)
		}
	}
}

func TestWhatIsNoRunIsOneSentence(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	newer := filepath.Join(dir, "newer")
	broken := filepath.Join(dir, "broken")
	for path, content := range map[string]string{newer: `{"schema_version": 99}`,
		broken: `{"schema_`} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, RunFile), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "is a folder of runs", file: "is not a run directory",
		filepath.Dir(dir): "is not a run directory", filepath.Join(dir, "none"): "does not exist",
		newer: "use a newer plimsoll", broken: "it ends too early",
	} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", filepath.Base(path), err, want)
		}
	}
}

func TestPercentilesNeedSamples(t *testing.T) {
	for _, c := range []struct {
		percentile float64
		n          int64
		want       bool
	}{{99, 999, false}, {99, 1000, true}, {99.9, 9999, false}, {99.9, 10_000, true},
		{99.99, 100_000, true}} {
		if Supported(c.percentile, c.n) != c.want {
			t.Errorf("p%v of %d samples: want %v", c.percentile, c.n, c.want)
		}
	}
}

func TestReplaceFileKeepsTheOldOnFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "file")
	if err := ReplaceFile(path, []byte("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// FuzzRead feeds the reader's files with anything.
func FuzzRead(f *testing.F) {
	w, run := written(f, f.TempDir())
	if err := w.Close(run); err != nil {
		f.Fatal(err)
	}
	var seed [5][]byte
	names := []string{RunFile, intervalsFile, latencyFile, eventsFile, resourcesFile}
	for i, name := range names {
		raw, err := os.ReadFile(filepath.Join(w.Dir(), name))
		if err != nil {
			f.Fatal(err)
		}
		seed[i] = raw
	}
	f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	f.Add([]byte(`{"schema_version":1,"state":"running"}`), []byte("{}\n{\"latency\":[{}]}\n"),
		[]byte("Tag=a,0,1,2,HISTFAAAA\n"), []byte{},
		[]byte(`{"end_ns":1,"phase":"measure","host":{"cpu_seconds":1},`+
			`"disks":[{"name":"a"}],"processes":[{"syncs":1}]}`+"\n"))
	f.Fuzz(func(t *testing.T, a, b, c, d, e []byte) {
		dir := t.TempDir()
		for i, raw := range [][]byte{a, b, c, d, e} {
			if err := os.WriteFile(filepath.Join(dir, names[i]), raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Read(dir)
		if err != nil {
			return
		}
		for _, series := range AllSeries {
			s.Total(series)
		}
	})
}
