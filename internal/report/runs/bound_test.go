package runs

import (
	"bytes"
	"strings"
	"testing"
	"time"

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
		says(t, c.format, []*result.Saved{s}, c.want...)
	}
	_, values, _ := strings.Cut(string(render(t, "benchfmt", s)), "\nBenchmark")
	fixture.SaysNot(t, "benchfmt", values, " publish-p99-ns", " e2e-p99-ns", " publish-max-ns")
}

// A series that was not measured has no row, and the tables of other runs do not change.
func TestRowsOfWhatIsThere(t *testing.T) {
	with, without := fixture.Bounded(t), fixture.Small.Load(t)
	for format, rows := range map[string][]string{
		"table": {"copies ", "instrument "},
		"md":    {"| copies |", "| instrument, publish |", "**instrument:**"},
		"html": {">copies<", ">instrument, publish<", ">Instrument, p99<",
			">without a latency<"},
	} {
		fixture.SaysNot(t, format+" of a run without", render(t, format, without), rows...)
		fixture.Says(t, format+" of a run with", render(t, format, with), rows...)
	}
}

func TestEarlierRunsSayWhatTheyLack(t *testing.T) {
	old, now := earlier(t), fixture.Small.Load(t)
	for _, format := range []string{"table", "md", "html", "json", "benchfmt"} {
		const words = "lacks figures of format 2"
		fixture.Says(t, format+" of an earlier run", render(t, format, old), words)
		fixture.SaysNot(t, format+" of a run of this format", render(t, format, now), words)
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
			fixture.Says(t, format, strings.ToLower(string(render(t, format, s))), want)
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
	says(t, "table md html", []*result.Saved{s}, "27 of 30 planted truths held on this machine "+
		"on 2026-11-23, 2 could not be decided, 1 missed: stall")
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
		out := fixture.Words(render(t, format, s))
		n := strings.Count(out, latency.OwnMark)
		if n < 2 || !strings.Contains(out, latency.OwnMark+": plimsoll") {
			t.Errorf("%s has %d marks, or does not explain them", format, n)
		}
	}
}
