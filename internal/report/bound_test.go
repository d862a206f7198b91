package report

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// bounded is a run with messages that have no latency: so many that p99 is a lower bound for
// publishing, and not reached for consuming.
func bounded(t testing.TB) *result.Saved {
	sh := small
	sh.name, sh.seconds, sh.stallAt = "nats-bounded", 20, 0
	s := sh.load(t)
	waited := result.NewHistogram()
	_ = waited.RecordValues(30e9, 6000)
	published := result.Missing{Unanswered: 6000, Refused: 12, Unsent: 3}
	for i, l := range s.Run.Summary.Latency {
		switch h := s.Total(l.Series); l.Series {
		case result.Publish, result.Send:
			s.Run.Summary.Latency[i] = result.Censored(l.Series, h, waited, published, 0, 0)
		case result.EndToEnd:
			s.Run.Summary.Latency[i] = result.Censored(l.Series, h, nil,
				result.Missing{NotReceived: 8000}, 0, 0)
		}
	}
	twin := result.NewHistogram()
	for i := range int64(2000) {
		_ = twin.RecordValue(25_000 + i*20)
	}
	s.Run.Summary.Instrument = &result.Instrument{
		Publish:  result.Summarize(result.Twin, twin, 0, 0),
		EndToEnd: result.Summarize(result.TwinReceive, twin, 0, 0),
	}
	copies := result.NewHistogram()
	_ = copies.RecordValues(5e9, 40)
	s.Run.Summary.Latency = append(s.Run.Summary.Latency,
		result.Summarize(result.Copies, copies, 0, 0))
	s.Run.Summary.InFlight = 12.7
	s.Run.Summary.Generator.OwnLagCount, s.Run.Environment.ThreadStates = 399_000, "schedstat"
	s.Run.Ledger.WatchedNs = 60e9
	s.Run.Ledger.Subscriptions[0].RefusedReceived = 4
	s.Run.Verdicts = append(s.Run.Verdicts, result.Verdict{Name: "order",
		Outcome: result.Broken, Sentence: "12 messages came out of order"})
	return s
}

// earlier is a run of the format before.
func earlier(t testing.TB) *result.Saved {
	sh := small
	sh.name = "nats-earlier"
	s := sh.load(t)
	s.Run.SchemaVersion = 1
	return s
}

// words is a text without its line breaks.
func words(text []byte) string { return strings.Join(strings.Fields(string(text)), " ") }

func TestBoundsGolden(t *testing.T) {
	s, old := bounded(t), earlier(t)
	for _, format := range []string{"table", "md", "csv", "json", "benchfmt"} {
		golden(t, "bounded."+format, render(t, format, s))
		golden(t, "earlier."+format, render(t, format, old))
	}
	golden(t, "bounded-two.table", render(t, "table", s, old))
	golden(t, "bounded-two.md", render(t, "md", s, old))
	golden(t, "bounded.html", withoutParts(render(t, "html", s)))
	golden(t, "earlier.html", withoutParts(render(t, "html", old)))
}

// A percentile that falls among messages without a latency is a bound in each form,
// and the messages are counted beside it.
func TestNoFormPrintsABoundAsAFigure(t *testing.T) {
	s := bounded(t)
	for _, c := range []struct {
		format string
		want   []string
	}{
		{"table", []string{"≥ 30s", "not reached",
			"6,000 messages never answered, 12 refused, 3 never sent",
			"8,000 messages never received",
			"of the messages"}},
		{"md", []string{"≥ 30s", "not reached", "publish, of the messages answered",
			"end-to-end, of the messages received", "never answered"}},
		{"html", []string{"≥ 30", "not reached", "publish, of the messages answered",
			"never answered", "A line ends where the messages without a latency begin"}},
		{"csv", []string{"at_least", "not_reached", "6000,12,3,0"}},
		{"json", []string{`"bound": "at_least"`, `"bound": "not_reached"`, `"answered_percentiles"`,
			`"unanswered": 6000`}},
		{"benchfmt", []string{"publish-p99-at-least-ns", "6015 publish-missing-msgs",
			"8000 e2e-missing-msgs"}},
	} {
		out := words(render(t, c.format, s))
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q", c.format, want)
			}
		}
	}
	out := string(render(t, "benchfmt", s))
	for _, never := range []string{" publish-p99-ns", " e2e-p99-ns", " publish-max-ns"} {
		if strings.Contains(strings.SplitN(out, "\nBenchmark", 2)[1], never) {
			t.Errorf("benchfmt gives a bound as%s", never)
		}
	}
}

// A series that was not measured has no row, and the tables of other runs do not change.
func TestRowsOfWhatIsThere(t *testing.T) {
	with, without := bounded(t), small.load(t)
	for _, format := range []string{"table", "md", "html"} {
		rows := []string{"copies ", "instrument "}
		if format == "html" {
			rows = []string{">copies<", ">instrument, publish<", ">Instrument, p99<",
				">without a latency<"}
		}
		if format == "md" {
			rows = []string{"| copies |", "| instrument, publish |", "**instrument:**"}
		}
		for _, row := range rows {
			if out := string(render(t, format, without)); strings.Contains(out, row) {
				t.Errorf("%s of a run without has %q", format, row)
			}
			if out := string(render(t, format, with)); !strings.Contains(out, row) {
				t.Errorf("%s of a run with has no %q", format, row)
			}
		}
	}
}

func TestEarlierRunsSayWhatTheyLack(t *testing.T) {
	old, now := earlier(t), small.load(t)
	for _, format := range []string{"table", "md", "html", "json", "benchfmt"} {
		const says = "lacks figures of format 2"
		if out := words(render(t, format, old)); !strings.Contains(out, says) {
			t.Errorf("%s does not say what an earlier run lacks", format)
		}
		if out := words(render(t, format, now)); strings.Contains(out, says) {
			t.Errorf("%s says that a run of this format lacks figures", format)
		}
	}
}

// Percentiles name their arrival process.
func TestPercentilesNameTheirArrivals(t *testing.T) {
	s := small.load(t)
	for arrivals, closed := range map[string]bool{"constant": false, "poisson": false,
		"closed loop": true} {
		s.Run.Load.Arrivals = arrivals
		want := "(" + arrivals + " arrivals)"
		if s.Run.Load.Closed = nil; closed {
			s.Run.Load.Closed = &result.Closed{InFlight: 1, BatchLeast: 1, BatchMost: 1}
			want = "(closed loop)"
		}
		for _, format := range []string{"table", "md", "html"} {
			if !strings.Contains(strings.ToLower(string(render(t, format, s))), want) {
				t.Errorf("%s lacks %s", format, want)
			}
		}
	}
}

// Charts draw no bound as a point.
func TestChartsLeaveBoundsOut(t *testing.T) {
	s := bounded(t)
	c := curveOf(s, result.Publish)
	if c.Count != 400_000+6015 {
		t.Errorf("the curve is of %d messages", c.Count)
	}
	// 1.5% have no latency: the curve ends near 1/(1-q) = 66.
	if last := math.Pow(10, float64(len(c.Ns)-1)/curveSteps); last > 67.6 || last < 55 {
		t.Errorf("the curve ends at 1/(1-q) = %v", last)
	}
	for _, v := range c.Ns {
		if v >= 29e9 {
			t.Errorf("the curve has a point of %v ns", v)
		}
	}
	i := result.Interval{StartNs: 0, EndNs: 1e9, Latency: s.Run.Summary.Latency}
	for name, l := range map[string]line{"p50": percentileLine(result.Publish, 50),
		"p99": percentileLine(result.Publish, 99), "max": maxLine(result.Publish)} {
		if v := l(i, 1); math.IsNaN(v) != (name != "p50") {
			t.Errorf("%s is drawn at %v", name, v)
		}
	}
	if text := uncorrectedSentence(&s.Run); strings.Contains(text, "At p99 ") {
		t.Errorf("bounds are compared: %s", text)
	}
}

func TestBarsLeaveBoundsOut(t *testing.T) {
	s := bounded(t)
	for _, f := range latencyFigures(ofPublish, result.Publish) {
		if f.number == nil {
			continue
		}
		_, ok := f.number(&s.Run)
		if exact := strings.HasSuffix(f.name, "p50"); ok != exact {
			t.Errorf("%s has a bar: %v", f.name, ok)
		}
	}
}

// In the small charts of a sweep a bound has an arrow.
func TestSmallChartsMarkBounds(t *testing.T) {
	s := bounded(t)
	plan := &sweep.Plan{Record: experiment.Record{Name: "s"},
		Axes: []sweep.Axis{{Key: "rate", Values: []string{"1"}}},
		Cells: []sweep.Cell{{Values: []string{"1"},
			Cell: experiment.Cell{State: experiment.Done}}}}
	rows, _ := sweepCharts(plan, []*result.Saved{s})
	for i, want := range []struct {
		above bool
		text  string
	}{{false, "/s"}, {true, "≥ 30s"}, {true, "not reached"}} {
		got := rows[0].charts[i].Series[0].Marks[0]
		if got.Above != want.above || !strings.Contains(got.Tip, want.text) {
			t.Errorf("chart %d: %+v, want %+v", i, got, want)
		}
	}
	var b bytes.Buffer
	r := Sweep(plan, []*result.Saved{s}, nil)
	if err := r.Write(&b, "table", document.Layout{Width: 120}); err != nil ||
		!strings.Contains(b.String(), " not reached ") {
		t.Errorf("the table: %v\n%s", err, b.String())
	}
}

func TestOneIn(t *testing.T) {
	for p, want := range map[float64]string{0.6316: "64 in 100", 0.0495: "1 in 20",
		3.0 / 1000: "1 in 333", 2.9957e-6: "1 in 333,000", 1: "100 in 100"} {
		if got := oneIn(p); got != want {
			t.Errorf("oneIn(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestOMBTakesABoundedRun(t *testing.T) {
	var b bytes.Buffer
	if err := omb.Write(&b, []*result.Saved{bounded(t)}); err != nil ||
		!strings.Contains(b.String(), "not_reached") {
		t.Errorf("the OMB result has no bound (%v)", err)
	}
}

// A trial whose p99 is a bound has an arrow in the drawing, and its messages without a
// latency are counted below the table. The search names its arrivals.
func TestSearchesMarkBounds(t *testing.T) {
	s := searched("sim-20k")
	s.Load.Arrivals = "poisson"
	l := &s.Trials[3].Latency[0]
	l.Missing, l.Percentiles[0].Bound = result.Missing{Unsent: 700}, result.AtLeast
	for format, wants := range map[string][]string{
		"table": {"≥ 10s", "trial 4, publish: 700 messages never sent", "poisson arrivals"},
		"html":  {"≥ 10s", "trial 4, publish: 700 messages never sent", "poisson arrivals"},
	} {
		var b bytes.Buffer
		if err := Searches([]*peak.Saved{s}).Write(&b, format, document.Layout{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(words(b.Bytes()), want) {
				t.Errorf("%s lacks %q", format, want)
			}
		}
	}
}

func TestAProofStandsInEveryForm(t *testing.T) {
	s := bounded(t)
	s.Run.Environment.Proof = &result.Proof{
		At: time.Date(2026, 11, 23, 7, 0, 0, 0,
			time.UTC), Held: 27, Missed: 1, Unknown: 2, MissedTruths: []string{"stall"},
	}
	const want = "27 of 30 planted truths held on this machine on 2026-11-23, 2 could not be " +
		"decided, 1 missed: stall"
	for name, write := range map[string]func(io.Writer) error{
		"terminal": func(w io.Writer) error {
			return document.Terminal(w, runDocument([]*result.Saved{s}), document.Layout{Width: 120})
		},
		"markdown": func(w io.Writer) error { return document.Markdown(w, runDocument([]*result.Saved{s})) },
		"html":     func(w io.Writer) error { return Runs([]*result.Saved{s}).Page(w) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}

// A percentile that plimsoll's own error determines is marked in every format, and the mark is
// explained.
func TestPercentilesOfOwnErrorAreMarked(t *testing.T) {
	s := small.load(t)
	for i := range s.Run.Summary.Latency {
		if l := &s.Run.Summary.Latency[i]; l.Series == result.Publish {
			l.Percentiles[0].OwnError = true
		}
	}
	for _, format := range []string{"table", "md", "html"} {
		out := strings.Join(strings.Fields(string(render(t, format, s))), " ")
		n := strings.Count(out, ownMark)
		if n < 2 || !strings.Contains(out, ownMark+": plimsoll") {
			t.Errorf("%s has %d marks, or does not explain them", format, n)
		}
	}
}
