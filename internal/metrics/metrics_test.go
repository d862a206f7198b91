package metrics

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// writer makes a run below a folder and leaves it running.
func writer(t *testing.T, root, id string) (*result.Writer, *result.Run) {
	t.Helper()
	run := &result.Run{SchemaVersion: result.SchemaVersion, ID: id, Name: "the <target>",
		State: result.Running, StartedAt: time.Now(), PID: os.Getpid(),
		System: result.System{Name: "sys"}, Durability: result.Durability{Level: 2},
		Load: result.Load{Workload: "w", TargetRate: 1000}}
	w, err := result.Create(root, run)
	if err != nil {
		t.Fatal(err)
	}
	return w, run
}

// interval writes a second with a thousand messages of 1 to 1,000 times a latency.
func interval(t *testing.T, w *result.Writer, run *result.Run, n int64) {
	t.Helper()
	var all []*hdr.Histogram
	for _, tag := range []string{"publish", "end_to_end", "send", "warmup.publish",
		"publish_of_order", "end_to_end_of_order", "warmup.publish_of_order", "publish_of_"} {
		h := result.NewHistogram()
		for i := range int64(1000) {
			if err := h.RecordValue((i + 1) * 10_000); err != nil {
				t.Fatal(err)
			}
		}
		h.SetTag(tag)
		h.SetStartTimeMs(run.StartedAt.UnixMilli() + n*1000)
		h.SetEndTimeMs(run.StartedAt.UnixMilli() + (n+1)*1000)
		all = append(all, h)
	}
	if err := w.Interval(result.Interval{StartNs: n * 1e9, EndNs: (n + 1) * 1e9,
		Phase: result.PhaseMeasure, Scheduled: 1000, Sent: 1000, Acked: 990, Failed: 10,
		Received: 1980, InFlight: 3, Backlog: 7}, result.LoggedOf(all)); err != nil {
		t.Fatal(err)
	}
}

// closed ends a run with an account.
func closed(t *testing.T, w *result.Writer, run *result.Run) {
	t.Helper()
	run.State, run.EndedAt = result.Complete, time.Now()
	run.Counters = result.Counters{Scheduled: 2010, Acked: 2000, Unknown: 10, Received: 2000}
	run.Ledger = result.Ledger{Accounted: true, Subscriptions: []result.SubscriptionLedger{
		{Lost: 1, Duplicate: 2}, {Lost: 3}}}
	run.Verdicts = []result.Verdict{{Name: "loss", Outcome: result.Broken}}
	run.Summary.Latency = []result.Latency{{Series: result.Publish,
		Missing: result.Missing{Unanswered: 30}}}
	run.Classes = []result.Class{{Name: "order",
		Publish: result.Latency{Missing: result.Missing{Unsent: 5}}}}
	if err := w.Close(run); err != nil {
		t.Fatal(err)
	}
}

// gathered are the metrics by name and own labels: messages_total acked.
type gathered map[string]*dto.Metric

func gather(t *testing.T, c *Collector) gathered {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Error(err)
	}
	out := gathered{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			words := []string{strings.TrimPrefix(family.GetName(), "plimsoll_")}
			for _, l := range m.GetLabel() {
				if !slices.Contains(labels, l.GetName()) {
					words = append(words, l.GetValue())
				}
			}
			out[strings.Join(words, " ")] = m
		}
	}
	return out
}

func (g gathered) holds(t *testing.T, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		m := g[name]
		if got := m.GetCounter().GetValue() + m.GetGauge().GetValue(); m == nil || got != v {
			t.Errorf("%s is %v, want %v", name, got, v)
		}
	}
}

// A run is followed while it is written, each line is read once, and its account appears at its
// end.
func TestARunIsShownWhileItIsWritten(t *testing.T) {
	root := t.TempDir()
	w, run := writer(t, root, "a")
	c := NewCollector(Options{Source: Below(root)})
	gather(t, c).holds(t, map[string]float64{"messages_total acked": 0,
		"target_rate_messages_per_second": 1000, "runs_left_out": 0})
	interval(t, w, run, 0)
	if err := until(func() bool {
		return gather(t, c)["messages_total acked"].GetCounter().GetValue() > 0
	}); err != nil {
		t.Fatal(err) // the writer does not wait for the disk
	}
	g := gather(t, c)
	g.holds(t, map[string]float64{"messages_total acked": 990, "messages_total failed": 10,
		"messages_total received": 1980, "in_flight_messages": 3, "backlog_messages": 7})
	if g["account_messages lost"] != nil || g["verdict loss broken"] != nil {
		t.Error("a run under way has an account")
	}
	interval(t, w, run, 1)
	closed(t, w, run)
	g = gather(t, c)
	g.holds(t, map[string]float64{"messages_total acked": 1980, "account_messages lost": 4,
		"account_messages duplicate": 2, "account_messages unknown": 10,
		"verdict broken loss": 1, "verdict holds loss": 0})
	publish := g["publish_latency_seconds"].GetHistogram()
	if got := publish.GetSampleCount(); got != 2030 {
		t.Errorf("%d messages have a publish latency or none, want 2,030", got)
	}
	if !math.IsInf(publish.GetSampleSum(), 1) {
		t.Error("messages without a latency have a finite sum")
	}
	for name, want := range map[string]uint64{"class_publish_latency_seconds order": 2005,
		"class_end_to_end_latency_seconds order": 2000} {
		if got := g[name].GetHistogram().GetSampleCount(); got != want {
			t.Errorf("%s has %d messages, want %d", name, got, want)
		}
	}
	e2e := g["end_to_end_latency_seconds"].GetHistogram()
	if got := e2e.GetSampleSum(); math.Abs(got-2*10.01*0.5*1000/1000) > 0.001*got*10 {
		t.Errorf("the end-to-end latencies add up to %v s", got)
	}
}

// until waits for an effect of the writer's goroutine.
func until(done func() bool) error {
	for range 500 {
		if done() {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("not within 5 s")
}

// A quantile of either form lies within 5% of that of the latencies, and a message without a
// latency beyond all bounds.
func TestQuantilesOfBothForms(t *testing.T) {
	for _, scale := range []float64{100e-6, 1e-3, 20e-3, 1} {
		h := result.NewHistogram()
		for i := range 10_000 {
			// From scale to five times it, most of them near scale.
			v := scale * (1 + 4*math.Pow(float64(i)/10_000, 8))
			if err := h.RecordValue(int64(v * 1e9)); err != nil {
				t.Fatal(err)
			}
		}
		tally := newTally()
		tally.add(packed(t, h))
		m, err := tally.metric(publishDesc, 0, time.Now(), true, slices.Repeat([]string{"x"}, 5))
		if err != nil {
			t.Fatal(err)
		}
		var out dto.Metric
		if err := m.Write(&out); err != nil {
			t.Fatal(err)
		}
		for _, q := range []float64{50, 99, 99.9} {
			want := float64(h.ValueAtPercentile(q)) / 1e9
			for form, got := range map[string]float64{
				"classic": classicQuantile(q/100, out.Histogram),
				"native":  nativeQuantile(q/100, out.Histogram),
			} {
				if math.Abs(got/want-1) > 0.05 {
					t.Errorf("%s p%v is %v, want %v", form, q, got, want)
				}
			}
		}
		if m, err = tally.metric(publishDesc, 200, time.Now(), true,
			slices.Repeat([]string{"x"}, 5)); err != nil {
			t.Fatal(err)
		}
		out = dto.Metric{}
		if err := m.Write(&out); err != nil {
			t.Fatal(err)
		}
		if v := classicQuantile(0.99, out.Histogram); !math.IsInf(v, 1) {
			t.Errorf("2%% of the messages have no latency, and the classic p99 is %v", v)
		}
		if v := nativeQuantile(0.99, out.Histogram); v < 1e300 {
			t.Errorf("2%% of the messages have no latency, and the native p99 is %v", v)
		}
	}
}

func packed(t *testing.T, h *hdr.Histogram) *hdr.PackedHistogram {
	t.Helper()
	raw, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	p, err := hdr.DecodePacked(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// classicQuantile is histogram_quantile of Prometheus, infinite beyond the greatest bound.
func classicQuantile(q float64, h *dto.Histogram) float64 {
	rank, from, below := q*float64(h.GetSampleCount()), 0.0, 0.0
	for _, b := range h.GetBucket() {
		if n := float64(b.GetCumulativeCount()); n >= rank {
			return from + (b.GetUpperBound()-from)*(rank-below)/(n-below)
		}
		from, below = b.GetUpperBound(), float64(b.GetCumulativeCount())
	}
	return math.Inf(1)
}

// nativeQuantile is the middle of the native bucket that the quantile is in.
func nativeQuantile(q float64, h *dto.Histogram) float64 {
	rank, sum := q*float64(h.GetSampleCount()), float64(h.GetZeroCount())
	at, count, delta := int32(0), int64(0), 0
	for _, span := range h.GetPositiveSpan() {
		at += span.GetOffset()
		for range span.GetLength() {
			count += h.GetPositiveDelta()[delta]
			if sum += float64(count); sum >= rank {
				return math.Exp2((float64(at) - 0.5) / 32)
			}
			delta, at = delta+1, at+1
		}
	}
	return math.NaN()
}

// Runs are found in folders of experiments too, and shown for a while after their end.
func TestWhichRunsAreShown(t *testing.T) {
	root := t.TempDir()
	for _, id := range []string{"a", "sweep/b", "sweep/peak/c", "x/y/z/too-deep", ".hidden/d"} {
		w, run := writer(t, filepath.Join(root, filepath.Dir(id)), filepath.Base(id))
		closed(t, w, run)
	}
	if err := os.MkdirAll(filepath.Join(root, "torn"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "torn", result.RunFile), []byte("{"),
		0o644); err != nil {
		t.Fatal(err)
	}
	c := NewCollector(Options{Source: Below(root)})
	if got := names(t, c); !slices.Equal(got, []string{"a", "sweep/b", "sweep/peak/c"}) {
		t.Errorf("%q are shown", got)
	}
	gather(t, c).holds(t, map[string]float64{"runs_left_out": 1})
	c.now = func() time.Time { return time.Now().Add(time.Hour) }
	if got := names(t, c); len(got) > 0 || len(c.runs) > 0 || len(c.past) != 3 {
		t.Errorf("an hour later %q are shown, %d held", got, len(c.runs))
	}
	none := NewCollector(Options{Source: Below(root),
		Only: func(r *result.Run) bool { return r.PID == 1 }})
	if got := names(t, none); len(got) > 0 {
		t.Errorf("%q are shown", got)
	}
}

func names(t *testing.T, c *Collector) []string {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, family := range families {
		if family.GetName() != "plimsoll_run_info" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "run" {
					out = append(out, l.GetValue())
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestTooManyRunsAreNamed(t *testing.T) {
	root := t.TempDir()
	for i := range mostRuns + 2 {
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := result.Save(dir, &result.Run{SchemaVersion: result.SchemaVersion,
			State: result.Complete, EndedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	c := NewCollector(Options{Source: Below(root)})
	for range 2 {
		gather(t, c).holds(t, map[string]float64{"runs_left_out": 2})
	}
	if len(c.runs) != mostRuns {
		t.Errorf("%d runs are held", len(c.runs))
	}
}

// The page is the text that Prometheus reads, with the names of runs escaped; a damaged run
// hides no other.
func TestHandler(t *testing.T) {
	root := t.TempDir()
	w, run := writer(t, root, "a")
	closed(t, w, run)
	twice := *run
	twice.ID, twice.Name = "b", "bad\"\n{x=\"y\"} 1"
	twice.Verdicts = append(twice.Verdicts, run.Verdicts...)
	w, _ = writer(t, root, "b")
	if err := w.Close(&twice); err != nil {
		t.Fatal(err)
	}
	page := httptest.NewRecorder()
	Handler(Options{Source: Below(root)}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := page.Body.String()
	for _, want := range []string{
		`plimsoll_account_messages{level="2",outcome="lost",run="a",system="sys",` +
			`target="the <target>",workload="w"} 4`,
		`target="bad\"\n{x=\"y\"} 1"`, `plimsoll_publish_latency_seconds_bucket{level="2",run="a"`,
		`le="+Inf"} 30`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of status %d lacks %s", page.Code, want)
		}
	}
}
