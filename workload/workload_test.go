package workload

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// TestGolden compares the text of every error, as in a terminal, and of every printed workload
// with golden files.
func TestGolden(t *testing.T) {
	golden.Each(t, "testdata/*.yaml", func(name string, src []byte) string {
		w, err := Parse(name, src)
		if err != nil {
			return err.Error() + "\n"
		}
		return w.YAML()
	})
}

func TestAnEmptyMappingIsTheDefault(t *testing.T) {
	got, err := Parse("w.yaml", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	got.Description = want.Description
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := want.Validate(); err != nil {
		t.Error(err)
	}
	found, source, err := Find("default")
	if err != nil || !strings.Contains(source, "name: default") {
		t.Fatal(err, source)
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error("the library's default differs from Default:", diff)
	}
}

// TestTheLibraryKeepsItsPromises checks that every built-in workload is valid, short, described,
// and named like its file.
func TestTheLibraryKeepsItsPromises(t *testing.T) {
	entries := Library()
	if len(entries) < 8 {
		t.Fatalf("only %d workloads", len(entries))
	}
	for i, entry := range entries {
		w, source, err := Find(entry.Name)
		if err != nil {
			t.Fatal(err)
		}
		if w.Name != entry.Name || source == "" || w.Description != entry.Description ||
			Names()[i] != entry.Name {
			t.Errorf("%+v is %q", entry, w.Name)
		}
		if entry.Description == "" || strings.Contains(entry.Description, "\n") ||
			len(entry.Description) > 100 {
			t.Errorf("%s: description %q is not one short line", entry.Name, entry.Description)
		}
		if w.Duration < 15*time.Second || w.Duration > 30*time.Second {
			t.Errorf("%s lasts %s", entry.Name, w.Duration)
		}
		if !strings.HasPrefix(source, "# ") {
			t.Errorf("%s does not say what it is for", entry.Name)
		}
		readsBack(t, w)
	}
}

type reporter interface {
	Helper()
	Error(...any)
}

func readsBack(t reporter, w *Workload) {
	t.Helper()
	got, err := Parse("printed.yaml", []byte(w.YAML()))
	if err != nil {
		t.Error(err, "\n", w.YAML())
		return
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Error(diff, "\n", w.YAML())
	}
}

func TestFindResolvesNamesAndPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.yaml", "name: mine\n")
	write("bare", "name: bare\n")
	write("ramp", "name: not-the-library\n")
	write("bad.yml", "name: [1]\n")
	for given, want := range map[string]string{
		"mine.yaml": "mine", "./mine.yaml": "mine", filepath.Join(dir,
			"mine.yaml"): "mine", "bare": "bare", "ramp": "ramp", "./ramp": "not-the-library",
	} {
		w, source, err := Find(given)
		if err != nil || w.Name != want || !strings.Contains(source, "name: "+want) {
			t.Errorf("Find(%q) = %+v, %v", given, w, err)
		}
	}
	for given, want := range map[string]string{
		"rmap":      `unknown workload "rmap": did you mean "ramp"?`,
		"zzz":       `unknown workload "zzz": the workloads are 1kb-100-partitions, backlog, default, fan-out-5, head-of-line, keyed-zipf, large-messages, low-rate-latency, mixed, mqperf, poisson-bursty, ramp, small-messages, unlike-topics, verify`,
		"mien.yaml": `workload file mien.yaml does not exist: did you mean mine.yaml?`,
		"./":        `workload file ./ is a folder: name a file in it`,
		"a/../ramp": `workload file a/../ramp does not exist: did you mean ramp?`,
		"bad.yml": "bad.yml:1:7: name must be a single value, not a list\n    1 | name: [1]\n  " +
			"    |       ^",
	} {
		if _, _, err := Find(given); err == nil || err.Error() != want {
			t.Errorf("Find(%q)\ngot  %v\nwant %v", given, err, want)
		}
	}
}

func TestOverridesAreValidated(t *testing.T) {
	w := Default()
	copied := *w
	w.SetRate(50_000)
	if err := w.SetDuration(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil || w.OfferedMessages() != 500_000 {
		t.Error(err, w.OfferedMessages())
	}
	if diff := cmp.Diff(Default(), &copied); diff != "" {
		t.Error("the copy changed:", diff)
	}
	w.Durability, w.Seed, w.Warmup = 5, 0, -1
	w.SetRate(math.NaN())
	want := strings.Join([]string{
		"load.rate must be above 0 and at most 100M/s, not NaN/s",
		"warmup must be 0s or more and at most 24h, not -1ns",
		"durability must be 1 (replicated to a majority and synced to disk on each of those), 2 " +
			"(replicated to a majority, in memory), " +
			"3 (synced to disk on one replica) or 4 (received by one replica), not 5",
	}, "\n")
	if err := w.Validate(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%v", err, want)
	}
	stepped, _, err := Find("poisson-bursty")
	if err != nil {
		t.Fatal(err)
	}
	if err := stepped.SetDuration(time.Second); err == nil || stepped.Duration != 24*time.Second {
		t.Error("the duration of steps was changed", err)
	}
	stepped.Duration = time.Second
	if err := stepped.Validate(); err == nil ||
		err.Error() != "duration is 1s and the load lasts 24s: leave the duration out, or make "+
			"them equal" {
		t.Error(err)
	}
	if err := new(Workload).Validate(); err == nil || len(err.(strict.Violations)) < 10 {
		t.Error("an empty workload is valid", err)
	}
}

func TestInFlightIsLoweredForLargeMessages(t *testing.T) {
	for src, want := range map[string]int{
		"{}":                                          16_384,
		"{message: {size: 64KB}, producers: 4}":       1024,
		"{message: {size: 64MB}, producers: 8}":       1,
		"{message: {size: 64KB}, max_in_flight: 100}": 100,
	} {
		w, err := Parse("w", []byte(src))
		if err != nil || w.MaxInFlight != want {
			t.Errorf("%s: %+v, %v, want %d", src, w, err, want)
		}
	}
}

func draw(t *rapid.T) *Workload {
	w := Default()
	text := rapid.StringOf(rapid.RuneFrom([]rune("aZ09 :#'\"{}[],&*!|>%@`-?\\\n\tßé漢~"))).Filter(
		func(s string) bool { return len(s) <= maxDescription })
	w.Name = rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,20}`).Draw(t, "name")
	w.Description = text.Draw(t, "description")
	w.Topics = rapid.IntRange(1, 10).Draw(t, "topics")
	w.Partitions = rapid.IntRange(1, 10_000).Draw(t, "partitions")
	w.Producers = rapid.IntRange(1, 10).Draw(t, "producers")
	w.Consumers = rapid.IntRange(1, 10).Draw(t, "consumers")
	w.Subscriptions = rapid.IntRange(1, 10).Draw(t, "subscriptions")
	w.Message.Size = rapid.Int64Range(StampBytes, 1<<20).Draw(t, "size")
	w.Message.Incompressible = rapid.Float64Range(0,
		1).Filter(func(f float64) bool { return f == 0 || f > 1e-9 }).Draw(t, "incompressible")
	w.Keys.Kind = rapid.SampledFrom([]KeyKind{KeysNone, KeysRoundRobin, KeysRandom, KeysZipf}).Draw(
		t, "keys")
	w.Spread = rapid.SampledFrom([]Spread{SpreadClient, SpreadRoundRobin}).Draw(t, "spread")
	if w.Keys.Kind != KeysNone {
		w.Keys.Count, w.Spread = rapid.IntRange(1, MaxKeys).Draw(t, "count"), ""
	}
	if w.Keys.Kind == KeysZipf {
		w.Keys.Exponent = rapid.Float64Range(1.0001, MaxExponent).Draw(t, "exponent")
	}
	w.Warmup = time.Duration(rapid.Int64Range(0, int64(MaxWarmup)).Draw(t, "warmup"))
	if w.Settle = rapid.Bool().Draw(t, "settle"); w.Settle {
		w.Warmup = max(MinSettle, w.Warmup.Truncate(time.Second))
	}
	w.Drain = time.Duration(rapid.Int64Range(1, int64(MaxDrain)).Draw(t, "drain"))
	w.Isolate.CPUs = rapid.SampledFrom([]CPUs{CPUsShared, CPUsSplit}).Draw(t, "cpus")
	w.Delivery = rapid.SampledFrom([]Delivery{AtMostOnce, AtLeastOnce}).Draw(t, "delivery")
	w.Durability = Level(rapid.IntRange(1, 4).Draw(t, "durability"))
	w.Seed = rapid.Uint64().Draw(t, "seed")
	if rapid.Bool().Draw(t, "closed") {
		least := rapid.IntRange(1, 4).Draw(t, "least")
		c := &Closed{InFlight: rapid.IntRange(1, 3).Draw(t, "sends"),
			Batch: Batch{least, rapid.IntRange(least, 6).Draw(t, "most")}}
		w.Load, w.MaxInFlight = Load{Closed: c}, c.messages()
		w.Duration = time.Duration(rapid.Int64Range(1e9, 1e12).Draw(t, "duration"))
		return w
	}
	w.MaxInFlight = rapid.IntRange(1, 20).Draw(t, "in flight")
	w.Load.Arrivals = rapid.SampledFrom([]Arrivals{ArrivalsConstant, ArrivalsPoisson}).Draw(t,
		"arrivals")
	w.Load.Burst = rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "burst")
	rate := rapid.Float64Range(1, MaxRate)
	w.Load.Segments, w.Duration = nil, 0
	for range rapid.IntRange(1, 5).Draw(t, "segments") {
		s := Segment{From: rate.Draw(t, "from"),
			For: time.Duration(rapid.Int64Range(1e9, 1e12).Draw(t, "for"))}
		if s.To = s.From; rapid.Bool().Draw(t, "slope") {
			s.To = rate.Draw(t, "to")
		}
		w.Load.Segments = append(w.Load.Segments, s)
		w.Duration += s.For
	}
	return w
}

func TestWhatIsPrintedIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		readsBack(t, w)
	})
}

func FuzzParse(f *testing.F) {
	golden.Seeds(f, "*/*.yaml")
	f.Fuzz(func(t *testing.T, src []byte) {
		w, err := Parse("fuzz", src)
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
		readsBack(t, w)
	})
}

// A warm-up is a length, or ends by itself.
func TestWarmupsAreRead(t *testing.T) {
	for text, want := range map[string]Workload{
		"30s":       {Warmup: 30 * time.Second},
		"0":         {},
		"auto":      {Warmup: DefaultSettle, Settle: true},
		"auto 45s":  {Warmup: 45 * time.Second, Settle: true},
		`"auto 3m"`: {Warmup: 3 * time.Minute, Settle: true},
	} {
		w, err := Parse("w.yaml", []byte("warmup: "+text))
		if err != nil || w.Warmup != want.Warmup || w.Settle != want.Settle {
			t.Errorf("%s: %+v, %v", text, w, err)
		}
	}
	for text, want := range map[string]string{
		"auto 5s": "it takes at least 30s", "auto 30.5s": "ends at a whole second",
		"auto 48h":  "at most 24h",
		"automatic": "write auto, or auto 30s", "auto soon": "write auto, or auto 30s",
		"30": ", or auto", "ever": ", or auto", "-3s": ", or auto",
	} {
		if _, err := Parse("w.yaml", []byte("warmup: "+text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
