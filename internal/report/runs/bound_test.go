package runs

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/result"
)

// earlier is a run of the format before.
func earlier(t testing.TB) *result.Saved {
	sh := fixture.Small
	sh.Name = "nats-earlier"
	s := sh.Load(t)
	s.Run.SchemaVersion = 1
	return s
}

func TestBoundsGolden(t *testing.T) {
	s, old := fixture.Bounded(t), earlier(t)
	for _, format := range []string{"table", "md", "csv", "json", "benchfmt"} {
		fixture.Golden(t, "bounded."+format, render(t, format, s))
		fixture.Golden(t, "earlier."+format, render(t, format, old))
	}
	fixture.Golden(t, "bounded-two.table", render(t, "table", s, old))
	fixture.Golden(t, "bounded-two.md", render(t, "md", s, old))
	fixture.Golden(t, "bounded.html", fixture.WithoutParts(render(t, "html", s)))
	fixture.Golden(t, "earlier.html", fixture.WithoutParts(render(t, "html", old)))
}

// A percentile that falls among messages without a latency is a bound in each form,
// and the messages are counted beside it.
func TestNoFormPrintsABoundAsAFigure(t *testing.T) {
	s := fixture.Bounded(t)
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
		out := fixture.Words(render(t, c.format, s))
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
	with, without := fixture.Bounded(t), fixture.Small.Load(t)
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
	old, now := earlier(t), fixture.Small.Load(t)
	for _, format := range []string{"table", "md", "html", "json", "benchfmt"} {
		const says = "lacks figures of format 2"
		if out := fixture.Words(render(t, format, old)); !strings.Contains(out, says) {
			t.Errorf("%s does not say what an earlier run lacks", format)
		}
		if out := fixture.Words(render(t, format, now)); strings.Contains(out, says) {
			t.Errorf("%s says that a run of this format lacks figures", format)
		}
	}
}

// Percentiles name their arrival process.
func TestPercentilesNameTheirArrivals(t *testing.T) {
	s := fixture.Small.Load(t)
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

func TestOMBTakesABoundedRun(t *testing.T) {
	var b bytes.Buffer
	if err := omb.Write(&b, []*result.Saved{fixture.Bounded(t)}); err != nil ||
		!strings.Contains(b.String(), "not_reached") {
		t.Errorf("the OMB result has no bound (%v)", err)
	}
}

func TestAProofStandsInEveryForm(t *testing.T) {
	s := fixture.Bounded(t)
	s.Run.Environment.Proof = &result.Proof{
		At: time.Date(2026, 11, 23, 7, 0, 0, 0,
			time.UTC), Held: 27, Missed: 1, Unknown: 2, MissedTruths: []string{"stall"},
	}
	const want = "27 of 30 planted truths held on this machine on 2026-11-23, 2 could not be " +
		"decided, 1 missed: stall"
	for name, write := range map[string]func(io.Writer) error{
		"terminal": func(w io.Writer) error {
			return document.Terminal(w, runDocument([]*result.Saved{s}),
				document.Layout{Width: 120})
		},
		"markdown": func(w io.Writer) error {
			return document.Markdown(w,
				runDocument([]*result.Saved{s}))
		},
		"html": func(w io.Writer) error { return Report([]*result.Saved{s}).Page(w) },
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
	s := fixture.Small.Load(t)
	for i := range s.Run.Summary.Latency {
		if l := &s.Run.Summary.Latency[i]; l.Series == result.Publish {
			l.Percentiles[0].OwnError = true
		}
	}
	for _, format := range []string{"table", "md", "html"} {
		out := strings.Join(strings.Fields(string(render(t, format, s))), " ")
		n := strings.Count(out, latency.OwnMark)
		if n < 2 || !strings.Contains(out, latency.OwnMark+": plimsoll") {
			t.Errorf("%s has %d marks, or does not explain them", format, n)
		}
	}
}
