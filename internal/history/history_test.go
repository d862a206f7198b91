package history

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

var began = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

// night is a run on the nth night.
func night(n int, target string, p99 time.Duration) *result.Run {
	return &result.Run{
		SchemaVersion: result.SchemaVersion, ID: fmt.Sprintf("%s-%d", target, n), Name: target,
		State: result.Complete, StartedAt: began.AddDate(0, 0, n),
		Plimsoll:   result.Build{Version: "0." + strconv.Itoa(n/4), Commit: "0123456789abcdef"},
		System:     result.System{Name: "sys", Servers: []string{"sys 1, \x1b[31mred"}},
		Load:       result.Load{Workload: "nightly", Model: result.OpenLoop},
		Durability: result.Durability{Asked: 2, Level: 2},
		Summary: result.Summary{WindowNs: 1e9, AchievedRate: 1000,
			Latency: []result.Latency{{Series: result.Publish, Count: 1000,
				Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: int64(p99)}}}}},
	}
}

func save(t *testing.T, root string, r *result.Run) {
	t.Helper()
	dir := filepath.Join(root, r.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := result.Save(dir, r); err != nil {
		t.Fatal(err)
	}
}

// nights has 14 nights of two targets. One is slower from the eighth on.
func nights(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for n := range 14 {
		p99 := 10*time.Millisecond + time.Duration(n%5)*100*time.Microsecond
		if n >= 7 {
			p99 += 3 * time.Millisecond
		}
		save(t, filepath.Join(root, "week", strconv.Itoa(n/7)), night(n, "slower", p99))
		save(t, root, night(n, "same", 10*time.Millisecond+time.Duration(n*5%7)*time.Microsecond))
	}
	return root
}

func read(t *testing.T, root, figures string) *History {
	t.Helper()
	f, err := FindFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Read(root, "", f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// publishP99 is the figure of most tests.
const publishP99 = "publish.p99"

func TestSeriesAreInOrderAndChangesMarked(t *testing.T) {
	h := read(t, nights(t), publishP99)
	if len(h.Series) != 2 || h.Series[0].Name != "same, nightly, level 2" ||
		len(h.Series[1].Points) != 14 {
		t.Fatalf("%+v", h.Series)
	}
	for i, p := range h.Series[1].Points {
		if p.ID != "slower-"+strconv.Itoa(i) {
			t.Errorf("point %d is %s", i, p.ID)
		}
	}
	if c := h.Series[0].changes(h.Figures[0].Name); len(c) > 0 {
		t.Errorf("a series without a change: %+v", c)
	}
	changes := h.Series[1].changes(h.Figures[0].Name)
	if len(changes) != 1 || changes[0].At != 7 || changes[0].Before > changes[0].After {
		t.Fatalf("%+v", changes)
	}
	out := strings.Join(strings.Fields(text(t, h, ByTime)), " ")
	for _, want := range []string{"slower, nightly, level 2: publish.p99, 14 experiments",
		"2026-11-08 03:00 *", "changed from 2026-11-08 03:00 (slower-7) on, publish.p99 is 31% higher",
		"no change was found", "0.1 01234567", Caution} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("a control character reaches the terminal")
	}
}

// No change that is shown is one by 0%.
func TestSmallChangesHaveASize(t *testing.T) {
	for share, want := range map[float64]string{0.31: "31%", 1.5: "150%", 0.005: "1%",
		0.0041: "0.4%", 0.0002: "less than 0.1%"} {
		if got := percent(share); got != want {
			t.Errorf("%g is printed %s, want %s", share, got, want)
		}
	}
}

func text(t *testing.T, h *History, by By) string {
	t.Helper()
	var out strings.Builder
	if err := document.Terminal(&out, h.Document(by), document.Layout{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestVersionsAreRows(t *testing.T) {
	h := read(t, nights(t), publishP99)
	out := text(t, h, ByPlimsoll)
	if got := strings.Count(out, "0.1 01234567  4 "); got != 2 {
		t.Errorf("%d rows of version 0.1:\n%s", got, out)
	}
}

// The CSV is what Otava's importer reads: a header, a time with a zone, and numbers alone in
// the columns of figures.
func TestCSVForOtava(t *testing.T) {
	h := read(t, nights(t), "publish.p99,rate")
	var out bytes.Buffer
	if err := h.CSV(&out); err == nil || !strings.Contains(err.Error(), `"slower, nightly`) {
		t.Errorf("two series: %v", err)
	}
	h.Keep("slower")
	if err := h.CSV(&out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 15 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if got := strings.Join(rows[0], " "); got !=
		"time publish.p99 rate experiment target system servers workload level plimsoll" {
		t.Error(got)
	}
	for _, row := range rows[1:] {
		if _, err := time.Parse(time.RFC3339, row[0]); err != nil {
			t.Error(err)
		}
		for _, cell := range row[1:3] {
			if _, err := strconv.ParseFloat(cell, 64); err != nil {
				t.Error(err)
			}
		}
	}
	if rows[8][1] != "13200000" || rows[8][2] != "1000" {
		t.Errorf("%v", rows[8])
	}
}

func TestJSON(t *testing.T) {
	h := read(t, nights(t), publishP99)
	var out bytes.Buffer
	if err := h.JSON(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Units  map[string]string
		Series []struct {
			Points  []struct{ Values map[string]float64 }
			Changes []struct{ Experiment string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Units[publishP99] != "ns" || got.Series[1].Changes[0].Experiment != "slower-7" ||
		got.Series[1].Points[0].Values[publishP99] != 1e7 {
		t.Errorf("%+v", got)
	}
}

// endsEarly is what is said of a run.json that ends too early.
const endsEarly = " is damaged, it ends too early: restore it from a copy, or remove it"

// An experiment that does not fit into any series is counted with its reason.
func TestWhatIsLeftOutIsNamed(t *testing.T) {
	root := t.TempDir()
	for n, change := range []func(*result.Run){
		func(*result.Run) {},
		func(r *result.Run) { r.State = result.Interrupted },
		func(r *result.Run) { r.State = result.Running }, // its process has ended
		func(r *result.Run) {
			r.Summary.Generator.Limited = true
			r.Ledger = result.Ledger{Accounted: true,
				Subscriptions: []result.SubscriptionLedger{{Lost: 9}}}
		},
		func(r *result.Run) { r.Imported = &result.Import{Tool: "other"} },
		func(r *result.Run) { r.Summary.Latency[0].Percentiles[0].Bound = result.AtLeast },
		func(r *result.Run) { r.Durability.Level = 3 },
		func(r *result.Run) { r.ID = ".hidden" },
	} {
		r := night(n, "a", time.Millisecond)
		change(r)
		save(t, root, r)
	}
	torn := filepath.Join(root, "torn")
	search := filepath.Join(root, "search")
	for file, content := range map[string]string{
		filepath.Join(torn, result.RunFile): `{"schema_version":`,
		filepath.Join(search, "experiment.json"): `{"schema_version": 2, "kind": "peak",
			"id": "search", "name": "a", "state": "complete",
			"started_at": "2026-11-01T00:00:00Z", "durability": {"level": 2},
			"bracket": {"stable_msgs_per_s": 20000, "confirmed": 3}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	save(t, search, night(1, "trial", time.Millisecond)) // counts as part of the search
	h := read(t, root, publishP99)
	if len(h.Series) != 2 || h.Series[1].Level != 3 {
		t.Errorf("%+v", h.Series)
	}
	if got := strings.Join(h.LeftOut, "\n"); got != strings.Join([]string{
		"left out: " + filepath.Join(torn, result.RunFile) + endsEarly,
		"left out: 1 experiment, incomplete",
		"left out: 1 experiment, interrupted",
		"left out: 1 experiment, limited by plimsoll itself",
		"left out: 1 experiment, measured by another tool",
		"left out: 1 experiment, no exact publish.p99"}, "\n") {
		t.Error(got)
	}
	counted := read(t, root, figure.Lost)
	if got := strings.Join(counted.LeftOut, "\n"); len(counted.Series) == 0 ||
		counted.Series[0].Points[0].Values[figure.Lost] != 9 || strings.Contains(got, "limited") {
		t.Errorf("losses of a run that plimsoll limited: %+v, %s", counted.Series, got)
	}
	found := read(t, root, figure.Peak)
	if len(found.Series) != 1 || found.Series[0].Points[0].Values[figure.Peak] != 20000 {
		t.Errorf("%+v", found.Series)
	}
}

func TestWrongFiguresAreNamed(t *testing.T) {
	for names, want := range map[string]string{
		"publish.p98": "not a percentile", "losst": `did you mean "lost"`,
		"rate,rate": "twice", "peak,rate": "figure of searches", "": "there is no figure",
	} {
		if _, err := FindFigures(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", names, err)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "nowhere"), "", nil); err == nil {
		t.Error("a folder that does not exist is read")
	}
}

// Any run.json is read or left out.
func FuzzReadHead(f *testing.F) {
	raw, err := json.Marshal(night(1, "a", time.Millisecond))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	figures, err := FindFigures("publish.p99,rate,cpu,lost")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, result.RunFile), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		h, err := Read(root, "", figures)
		if err != nil {
			t.Fatal(err)
		}
		text(t, h, ByTime)
	})
}
