package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
)

// withoutParts leaves out the scripts and styles, which have files of their
// own.
func withoutParts(page []byte) []byte {
	page = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAll(page,
		[]byte("<script>…</script>"))
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAll(page, []byte("<style>…</style>"))
	// Drawings have golden files of their own, in internal/document.
	page = regexp.MustCompile(`(?s)<div class="drawing.*?</svg></div>`).ReplaceAll(page,
		[]byte("<svg/>"))
	return regexp.MustCompile(`sha256-(?:[^&]|&#43;)*`).ReplaceAll(page, []byte("sha256-…"))
}

func TestHTMLGolden(t *testing.T) {
	one := small.load(t)
	lossy := small
	lossy.name, lossy.system, lossy.medianU, lossy.stallAt, lossy.lost = "sim-lossy", "sim", 900, 0,
		3
	golden(t, "one.html", withoutParts(render(t, "html", one)))
	golden(t, "two.html", withoutParts(render(t, "html", one, lossy.load(t))))
	kafka, inside := kafkaThree.load(t), natsInside.load(t)
	golden(t, "cost.html", withoutParts(render(t, "html", kafka)))
	golden(t, "three.html", withoutParts(render(t, "html", kafka, inside, one)))
	golden(t, "crashed.html", withoutParts(render(t, "html", crashed(t))))
	golden(t, "none.html", withoutParts(render(t, "html")))
}

// hostile fills every text of a run with markup and control characters.
func hostile(t *testing.T) *result.Saved {
	s := small.load(t)
	const bad = "</script><script>alert(1)</script>\x1b[2J<img src=x onerror=alert(1)> " +
		"`|*[x](javascript:alert(1))\" ' \r\n# =cmd"
	r := &s.Run
	r.Name, r.ID, r.StateReason = bad, bad, bad
	r.System.Name, r.System.Client, r.System.Servers, r.System.Endpoints = bad, bad, []string{
		bad}, []string{bad}
	r.Load.Workload, r.Load.Delivery, r.Load.Arrivals, r.Load.Model = bad, bad, bad, bad
	r.Settings = []result.Setting{{Group: bad, Name: bad, Value: bad}}
	r.Durability.Meaning, r.Durability.How = bad, bad
	r.Durability.Evidence = []result.Fact{{Where: bad, Name: bad, Value: bad, Source: bad}}
	r.Errors = []result.Error{{Message: bad, Count: 1}}
	r.Verdicts = []result.Verdict{{Name: bad, Outcome: bad, Sentence: bad}}
	r.Warnings = []result.Warning{{Code: bad, Sentence: bad}}
	r.Environment = result.Environment{Hostname: bad, OS: bad, Kernel: bad, CPU: bad, Clock: bad}
	r.Asked = result.Asked{Command: []string{bad}, Workload: bad, Target: bad}
	r.Plimsoll = result.Build{Version: bad, Commit: bad, Go: bad}
	r.Ledger.Subscriptions[0].Subscription = bad
	r.Ledger.Subscriptions[0].LostRanges = []result.Range{{Topic: bad, First: 1, Last: 2}}
	r.State = result.State(bad)
	s.Events = []result.Event{{AtNs: 1, Kind: bad, Sentence: bad}}
	s.Damage = []string{bad}
	costly := natsInside.load(t)
	s.Resources, r.Observation = costly.Resources, costly.Run.Observation
	r.Observation.Servers, r.Observation.Methods = []string{bad}, []string{bad}
	r.Observation.Processes = append(r.Observation.Processes, result.ProcessUse{Name: bad})
	r.Observation.Limits = &result.Limits{MeasuredAt: bad, Dir: bad, Device: bad}
	r.Observation.Shares = []result.Share{{Resource: bad, Unit: bad, Share: 0.9}}
	s.Resources[0].Processes = append(s.Resources[0].Processes, result.ProcessUse{Name: bad})
	s.Resources[0].Disks[0] = result.DiskUse{Name: bad, WriteBytes: 1 << 40}
	return s
}

func TestHostileTextStaysText(t *testing.T) {
	s := hostile(t)
	for _, runs := range [][]*result.Saved{{s}, {s, small.load(t)}} {
		page := string(render(t, "html", runs...))
		for _, bad := range []string{"<script>alert", "<img", "onerror=alert(1)>"} {
			if strings.Contains(page, bad) {
				t.Errorf("the page holds %s", bad)
			}
		}
		if n := strings.Count(page, "</script>"); n != 1 {
			t.Errorf("the page ends %d scripts, it has 1", n)
		}
	}
	for _, format := range []string{"table", "md", "csv", "intervals", "resources", "benchfmt"} {
		out := string(render(t, format, s, small.load(t)))
		if strings.ContainsAny(out, "\x1b\r\u2028") {
			t.Errorf("%s lets control characters through", format)
		}
	}
	if out := string(render(t, "md", s)); strings.Contains(out, "<img") ||
		strings.Contains(out, "[x](") {
		t.Error("markdown lets markup through")
	}
	for _, row := range strings.Split(string(render(t, "csv", s)), "\n") {
		if strings.HasPrefix(row, "=") {
			t.Error("csv lets a formula through")
		}
	}
}

func TestNothingIsNotANumber(t *testing.T) {
	s := small.load(t)
	sum := &s.Run.Summary
	sum.OfferedRate, sum.AchievedRate, sum.ReceivedRate = math.NaN(), math.Inf(1), math.Inf(-1)
	sum.BytesPerS, sum.Generator.CPUShare, sum.InFlight = math.NaN(), math.NaN(), math.Inf(1)
	s.Run.Load.TargetRate = math.NaN()
	whole := kafkaThree
	whole.spends.endsAt = 0
	odd := whole.load(t)
	spoil(odd)
	for _, runs := range [][]*result.Saved{{s}, {odd}, {odd, s}, {crashed(t)}, {s, crashed(t)},
		{{}}, nil} {
		for _, format := range texts(Formats()) {
			if format == "json" && len(runs) > 0 && (runs[0] == s || runs[0] == odd) {
				continue // JSON has no such numbers, so no saved run has them
			}
			if format == "omb" && len(runs) != 1 {
				continue // it holds one run
			}
			out := render(t, format, runs...)
			if format == "html" {
				out = withoutParts(out)
			}
			for _, bad := range []string{"NaN", "Inf", "null,null,null,null,null,null", "<nil>"} {
				if bytes.Contains(out, []byte(bad)) {
					t.Errorf("%s of %d runs holds %s", format, len(runs), bad)
				}
			}
		}
	}
}

// long is a run of many intervals; they share a few histograms.
func long(intervals int) *result.Saved {
	s := &result.Saved{Run: small.run()}
	s.Run.State = result.Complete
	const different = 5
	seed := noise(1)
	var some []map[result.Series]*hdr.PackedHistogram
	var shown []result.Interval
	for range different {
		h := small.record(&seed, false)
		shown = append(shown, small.interval(100, result.PhaseMeasure, h, &seed))
		some = append(some, map[result.Series]*hdr.PackedHistogram{
			result.Publish: packed(h[result.Publish]), result.EndToEnd: packed(h[result.EndToEnd])})
	}
	for k := range intervals {
		from, to := int64(k)*1e9, int64(k+1)*1e9
		i := shown[k%different]
		i.StartNs, i.EndNs = from, to
		s.Intervals = append(s.Intervals, i)
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			s.Latency = append(s.Latency, result.IntervalLatency{Series: series, StartNs: from,
				EndNs: to, Histogram: some[k%different][series]})
		}
	}
	s.Run.Phases = []result.Phase{{Name: result.PhaseMeasure, EndNs: int64(intervals) * 1e9}}
	return s
}

// packed is the form in which a run's histograms are read back.
func packed(h *hdr.Histogram) *hdr.PackedHistogram {
	p := hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs, result.HistogramDigits)
	p.MergeFrom(h)
	return p
}

func TestHTMLIsBounded(t *testing.T) {
	for _, c := range []struct{ intervals, most int }{{20, 300_000}, {1500, 600_000}} {
		size := len(render(t, "html", long(c.intervals)))
		if size > c.most {
			t.Errorf("the page of %d intervals has %d bytes, more than %d", c.intervals, size,
				c.most)
		}
	}
}

func TestPagesOfLongRunsSayThatLinesAreThinned(t *testing.T) {
	if got := chartsSentence(long(3600)); !strings.Contains(got, "3,600 intervals") ||
		!strings.Contains(got, "12s") {
		t.Errorf("the page says of its thinning: %q", got)
	}
}

func TestHeatCountsEachMessageOnce(t *testing.T) {
	s := small.load(t)
	for _, intervals := range []int{0, 400} {
		if intervals > 0 {
			s = long(intervals)
		}
		m, want := newHeat(s, result.Publish), int64(0)
		for _, l := range s.Latency {
			if l.Series == result.Publish {
				want += l.Histogram.TotalCount()
			}
		}
		got := int64(0)
		for _, column := range m.Counts {
			for _, n := range column {
				got += n
			}
		}
		if got != want || len(m.Counts) > heatColumns || len(m.X) != len(m.Counts)+1 {
			t.Errorf("%d of %d messages in %d columns", got, want, len(m.Counts))
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	for given, want := range map[string]string{
		"htlm":  `did you mean "html"?`,
		"bench": `did you mean "benchfmt"?`,
		"pdf":   "formats are table, html, md, csv, intervals, resources, json, benchfmt",
	} {
		err := Runs(nil).Write(&bytes.Buffer{}, given, document.Layout{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", given, err, want)
		}
	}
}

func TestTerminalFitsItsWidth(t *testing.T) {
	runs := []*result.Saved{small.load(t), crashed(t), hostile(t)}
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		if err := document.Terminal(&b, runDocument(runs),
			document.Layout{Width: width}); err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if columns(l) > width {
				t.Errorf("a line of %d columns on a terminal of %d: %q", columns(l), width, l)
			}
		}
	}
}

func TestTerminalColour(t *testing.T) {
	var plain, coloured bytes.Buffer
	runs := []*result.Saved{small.load(t)}
	for _, c := range []struct {
		b     *bytes.Buffer
		color bool
	}{{&plain, false}, {&coloured, true}} {
		if err := document.Terminal(c.b, runDocument(runs),
			document.Layout{Width: 80, Color: c.color}); err != nil {
			t.Fatal(err)
		}
	}
	stripped := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(coloured.String(), "")
	if stripSpaces(stripped) != stripSpaces(plain.String()) {
		t.Error("colour changes the words")
	}
	if !strings.Contains(plain.String(), "lost 0") {
		t.Error("the account does not say: lost 0")
	}
}

func stripSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestNamesAreDistinct(t *testing.T) {
	a, b := &result.Saved{}, &result.Saved{}
	a.Run.Name, b.Run.Name = "nats", "nats"
	if got := fmt.Sprint(names([]*result.Saved{a, b})); got != "[nats #1 nats #2]" {
		t.Error(got)
	}
}

func TestLimitedByPlimsollIsSaidEverywhere(t *testing.T) {
	s := small.load(t)
	s.Run.Summary.Generator.Limited = true
	for _, format := range []string{"table", "html", "md", "benchfmt"} {
		if out := stripSpaces(string(render(t, format, s))); !strings.Contains(out,
			"limited by plimsoll itself") {
			t.Errorf("%s does not say that plimsoll was the limit", format)
		}
	}
}
