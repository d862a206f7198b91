package compare

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestGatesAreRead(t *testing.T) {
	for text, want := range map[string]Gate{
		"publish.p99 > 1.10x": {Figure: figure.Figure{Name: "publish.p99"}, Above: true, Relative: true,
			Bound: 1.1},
		"e2e.p99.9>20ms":   {Figure: figure.Figure{Name: "e2e.p99.9"}, Above: true, Bound: 20e6},
		" rate  <  0.95x ": {Figure: figure.Figure{Name: "rate"}, Relative: true, Bound: 0.95},
		"rate < 9.5k/s":    {Figure: figure.Figure{Name: "rate"}, Bound: 9500},
		"lost > 0":         {Figure: figure.Figure{Name: "lost"}, Above: true},
		"cpu > 30us":       {Figure: figure.Figure{Name: "cpu"}, Above: true, Bound: 30_000},
		"send.p50 > 2 x": {Figure: figure.Figure{Name: "send.p50"}, Above: true, Relative: true,
			Bound: 2},
		"duplicate > 1_000": {Figure: figure.Figure{Name: "duplicate"}, Above: true, Bound: 1000},
		"publish.p99.99 > 1m30s": {Figure: figure.Figure{Name: "publish.p99.99"}, Above: true,
			Bound: 90e9},
	} {
		got, err := ParseGate(text)
		if err != nil || got.Figure.Name != want.Figure.Name || got.Above != want.Above ||
			got.Relative != want.Relative || got.Bound != want.Bound {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// The error of a wrong gate says what would be right.
func TestGatesThatTeach(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "holds no > or <",
		"publish.p99":         "holds no > or <",
		"> 3":                 "lacks its figure or its bound",
		"rate <":              "lacks its figure or its bound",
		"publish.p99 >= 3ms":  "a sign other than > and <",
		"publish.p99 = 3ms":   "a sign other than > and <",
		"lost != 0":           "a sign other than > and <",
		"publish.p98 > 3ms":   "write publish.p50, .p75",
		"pubish.p99 > 3ms":    `did you mean "publish.p99"?`,
		"throughput > 3":      "write publish.p99, e2e.p50",
		"publish.p99 > 20":    "has no unit",
		"publish.p99 > 0s":    "every value passes",
		"publish.p99 > 10%":   "write 1.10x",
		"publish.p99 > -1x":   "is no multiple",
		"publish.p99 > NaNx":  "is no multiple",
		"publish.p99 > 1e99x": "is no multiple",
		"publish.p99 > x":     "is no multiple",
		"lost > 1.1x":         "lost > 0",
		"lost > 0.5":          "is not a whole number",
		"rate < 9 potatoes":   "a rate like",
	} {
		if _, err := ParseGate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// An objective is a gate that fails where its condition does not hold, also at the bound.
func TestObjectivesAreGatesTheOtherWayRound(t *testing.T) {
	for text, fails := range map[string]bool{
		"publish.p99 < 100us": true,
		"publish.p99 < 101us": false,
		"publish.p99<99us":    true,
		"lost < 1":            false,
		"lost < 0":            true,
		"rate > 950/s":        true,
		"rate > 949/s":        false,
	} {
		g, err := ParseObjective(text)
		if err != nil {
			t.Fatal(err)
		}
		runs := sideOf("B", 100).Runs
		runs[0].Run.Summary.WindowNs, runs[0].Run.Summary.AchievedRate = 1e10, 950
		if got := RuleRuns([]Gate{g}, runs)[0]; got.Fails != fails {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"publish.p99 < 1.1x":  "is a multiple of another run's figure",
		"publish.p99":         "write it like publish.p99 < 20ms",
		"pubish.p99 < 3ms":    `did you mean "publish.p99"?`,
		"publish.p99 <= 20ms": "a sign other than > and <",
	} {
		if _, err := ParseObjective(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseGate(f *testing.F) {
	for _, text := range []string{"publish.p99 > 1.10x", "e2e.p50>20ms", "rate < 9k/s", "lost > 0",
		"a <> b", "publish.p99 > 1x x", "cpu>", "\x00>\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGate(text)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "\n") &&
				!strings.Contains(text, "\n") {
				t.Errorf("%q: the error is %q", text, err)
			}
			return
		}
		again, err := ParseGate(g.Text)
		if err != nil || again.Text != g.Text || again.Bound != g.Bound || again.Above != g.Above ||
			again.Relative != g.Relative {
			t.Errorf("%q reads as %+v, and that as %+v, %v", text, g, again, err)
		}
	})
}

func rule(t *testing.T, a, b Side, gates ...string) (string, error) {
	t.Helper()
	var parsed []Gate
	for _, text := range gates {
		g, err := ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, g)
	}
	rulings, err := mustCompare(t, a, b).Rule(parsed)
	var out []string
	for _, r := range rulings {
		out = append(out, r.Sentence)
		if r.Fails != strings.HasPrefix(r.Sentence, "fails") {
			t.Errorf("fails is %v: %s", r.Fails, r.Sentence)
		}
	}
	return strings.Join(out, "\n"), err
}

// A run with unread messages does not know how many messages were lost, so it passes no gate of
// them.
func TestUnreadMessagesPassNoGate(t *testing.T) {
	b := sideOf("B", 100, 101)
	b.Runs[1].Run.Ledger.Subscriptions[0].Unread = 3
	got, err := rule(t, sideOf("A", 100), b, "lost > 0")
	if want := "fails: lost is not known in run B1, which left 3 messages unread"; err != nil ||
		got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// Sets that must not be compared because B alone did worse fail the gate. Where A did as well, or
// where the loads differ too, there is no ruling.
func TestGatesFailWhereOnlyBDidWorse(t *testing.T) {
	unanswered := func(s Side) Side {
		s.Runs[0].Run.Counters.Unknown = 100
		return s
	}
	otherLoad := func(s Side) Side {
		for _, r := range s.Runs {
			r.Run.Load.TargetRate = 5
		}
		return s
	}
	a, b := func() Side { return sideOf("A", 100, 101) }, func() Side { return sideOf("B", 1, 2) }
	for name, c := range map[string]struct {
		a, b Side
		want string
	}{
		"B overloaded": {a(), overload(b()), "latencies of B fails: of these 4 runs 2 were " +
			"overloaded"},
		"B unanswered":    {a(), unanswered(b()), "(100 never answered) in B"},
		"A overloaded":    {overload(a()), b(), ""},
		"both overloaded": {overload(a()), overload(b()), ""},
		"A unanswered":    {unanswered(a()), b(), ""},
		"another load":    {a(), otherLoad(overload(b())), ""},
		"comparable":      {a(), b(), ""},
	} {
		var found []string
		for _, r := range Objects(c.a, c.b).FailB() {
			if !r.Fails {
				t.Errorf("%s: %+v holds", name, r)
			}
			found = append(found, r.Gate+" "+r.Sentence)
		}
		got := strings.Join(found, "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestGatesFailOnlyBeyondDoubt(t *testing.T) {
	a := sideOf("A", 100, 101, 102, 103, 104)
	slower := sideOf("B", 115, 116, 117, 118, 119)
	wild := sideOf("B", 50, 80, 118, 180, 300)
	lossy := sideOf("B", 100, 101)
	lossy.Runs[1].Run.Ledger.Subscriptions[0].Lost = 3
	for name, c := range map[string]struct {
		b    Side
		gate string
		want string
	}{
		"beyond": {slower, "publish.p99 > 1.10x",
			"fails: publish.p99 is 1.147x, at least 1.1"},
		"within": {slower, "publish.p99 > 1.20x",
			"passes: publish.p99 is 1.147x, at least"},
		"scattered": {wild, "publish.p99 > 1.10x",
			"but the runs scatter too much to be sure"},
		"faster": {slower, "publish.p99 < 1x", "passes: "},
		"absolute": {slower, "publish.p99 > 110us",
			"fails: publish.p99 is 117us, at least 115us at 95%"},
		"absolute, not beyond": {slower, "publish.p99 > 116us",
			"but the runs scatter too much to be sure"},
		"a count":            {lossy, "lost > 0", "fails: lost is 3 in run B1"},
		"a count that holds": {slower, "lost > 0", "passes: lost is 0 in run B0"},
	} {
		if got, err := rule(t, a, c.b, c.gate); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestGatesThatCannotFailAreRefused(t *testing.T) {
	a, b := sideOf("A", 1, 2), sideOf("B", 10, 20)
	for gate, want := range map[string]string{
		"publish.p99 > 1.10x": "2 runs against 2 are too few for this gate: it needs 3 on each " +
			"side",
		"publish.p99 > 1us":   "2 runs are too few for this gate: it needs 5",
		"publish.p50 > 1.10x": "some runs lack this figure",
		"e2e.p99 > 1ms":       "measure longer, or choose another figure",
		"rolling > 5s": "some runs lack this figure (time of a rolling restart): choose another " +
			"figure",
	} {
		if _, err := rule(t, a, b, gate); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", gate, err, want)
		}
	}
	if _, err := rule(t, sideOf("A", 1), sideOf("B", 2), "publish.p99 > 1.10x"); err == nil ||
		!strings.Contains(err.Error(), "measure for 10 seconds or more") {
		t.Error(err)
	}
	unaccounted := sideOf("B", 10, 20)
	unaccounted.Runs[0].Run.Ledger.Accounted = false
	if _, err := rule(t, a, unaccounted, "lost > 0"); err == nil ||
		!strings.Contains(err.Error(), "has no account") {
		t.Error(err)
	}
}

// A system exactly at its bounds must fail at most 5 of 100 comparisons; a system well beyond them
// must fail nearly all.
func TestTruthGatesAreNotFlaky(t *testing.T) {
	simulates(t)
	for _, c := range []struct {
		runs    int
		planted float64
		gates   []string
		atLeast int
		atMost  int
	}{
		{5, 1.10, []string{"publish.p99 > 1.10x"}, 0, 5},
		{6, 1.10, []string{"publish.p99 > 1.10x", "e2e.p99 > 1.10x"}, 0, 5},
		{5, 1, []string{"publish.p99 > 4ms"}, 0, 5},
		{5, 1.25, []string{"publish.p99 > 1.10x"}, 90, 100},
		{5, 1.25, []string{"publish.p99 > 4.4ms"}, 90, 100},
	} {
		failed := 0
		const pairs = 1000
		for pair := range uint64(pairs) {
			s := simulated{random: seeded(pair), between: 0.03, seconds: 60}
			a, b := s.side("A", c.runs, 1), s.side("B", c.runs, c.planted)
			if got, err := rule(t, a, b, c.gates...); err != nil {
				t.Fatal(err)
			} else if strings.Contains(got, "fails") {
				failed++
			}
		}
		t.Logf("%d runs, %.2fx planted, %v: fails %d of %d", c.runs, c.planted, c.gates, failed,
			pairs)
		if failed < c.atLeast*pairs/100 || failed > c.atMost*pairs/100 {
			t.Errorf("%d runs, %.2fx planted, %v: fails %d of 1000, want %d to %d of 100", c.runs,
				c.planted, c.gates, failed, c.atLeast, c.atMost)
		}
	}
}

// A gate sees messages of every fate, and that of refused ones says what it leaves out.
func TestGatesSeeUnansweredMessages(t *testing.T) {
	b := sideOf("B", 100, 101)
	b.Runs[1].Run.Counters = result.Counters{Scheduled: 100, Acked: 95, Unknown: 4, Unsent: 1}
	for gate, want := range map[string]string{
		"failed > 0":  "passes: failed is 0 in run B0",
		"unknown > 0": "fails: unknown is 4 in run B1",
		"unsent > 0":  "fails: unsent is 1 in run B1",
		"unsent > 1":  "passes: unsent is 1 in run B1",
	} {
		if got, err := rule(t, sideOf("A", 100), b, gate); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", gate, got, err, want)
		}
	}
	b.Runs = b.Runs[1:]
	got, err := rule(t, sideOf("A", 100), b, "failed > 0")
	if err != nil || !strings.Contains(got, "leaves out 4 messages that were never answered "+
		"(unknown) and 1 that were never sent (unsent)") {
		t.Errorf("%q, %v", got, err)
	}
	imported := sideOf("B", 100)
	imported.Runs[0].Run.Imported = &result.Import{Tool: "another"}
	if got, err := rule(t, sideOf("A", 100), imported, "unknown > 0"); err == nil {
		t.Errorf("another tool's unanswered messages are known: %q", got)
	}
}

// Messages that may be lost or still come decide a gate only where they cannot change it.
func TestGatesOfLossWithUnreadMessages(t *testing.T) {
	b := sideOf("B", 100)
	l := &b.Runs[0].Run.Ledger.Subscriptions[0]
	l.Lost, l.Unread = 3, 10
	for gate, want := range map[string]string{
		"lost > 0":  "fails: lost is ≥ 3 in run B0",
		"lost > 5":  "fails: not decided: lost is ≥ 3",
		"lost > 13": "passes: lost is ≥ 3 in run B0",
	} {
		if got, err := rule(t, sideOf("A", 100), b, gate); err != nil ||
			!strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v, want %q", gate, got, err, want)
		}
	}
}

// A printed value that fails a gate never looks like the bound.
func TestAGatesFigureIsDistinctFromItsBound(t *testing.T) {
	b := sideOf("B", 0)
	b.Runs[0].Run.Summary.WindowNs, b.Runs[0].Run.Summary.AchievedRate = 1e10, 949.999
	g, err := ParseGate("rate < 950/s")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.each(b.Runs); !got.Fails || !strings.Contains(got.Sentence, "rate is 949.999/s") {
		t.Errorf("%+v", got)
	}
	if g, err = ParseGate("publish.p99 > 1.10x"); err != nil || g.print(1.10004) != "1.10004x" {
		t.Errorf("%s, %v", g.print(1.10004), err)
	}
}

// A gate of a multiple has the ratio and the interval of the comparison, whatever the way of
// comparing.
func TestGatesHaveTheRatioOfTheComparison(t *testing.T) {
	side := func(name string, runs int, until float64, set string) Side {
		s := simulated{random: seeded(uint64(name[0])), between: 0.2, within: 0.05,
			seconds: 20, messages: 100}
		out := s.side(name, runs, 1)
		for i, r := range out.Runs {
			if set != "" {
				r.Run.Trial = &result.Trial{Set: set, Round: i + 1, Until: until}
			}
		}
		return out
	}
	for name, c := range map[string]struct{ a, b Side }{
		"single runs":               {side("A", 1, 0, ""), side("B", 1, 0, "")},
		"a single run and several":  {side("A", 1, 0, ""), side("B", 6, 0, "")},
		"a single run and an until": {side("A", 1, 0, ""), side("B", 6, 0.1, "u")},
		"ranks":                     {side("A", 5, 0, ""), side("B", 6, 0, "")},
		"pairs":                     {side("A", 6, 0, "u"), side("B", 6, 0, "u")},
		"pairs of an until":         {side("A", 9, 0.1, "u"), side("B", 9, 0.1, "u")},
		"two untils":                {side("A", 9, 0.1, "u"), side("B", 9, 0.1, "other")},
	} {
		com := mustCompare(t, c.a, c.b)
		e := figureOf(t, com, "publish.p99")
		got, err := com.estimate(Gate{Figure: e.Figure, Relative: true}, (1-confidence)/2)
		if err != nil || got.value != e.Times || got.low.Least != e.Low || got.high.Most != e.High {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, e)
		}
	}
}

// Runs by themselves pass a gate only if the system was measured: not under overload, not where
// plimsoll was the limit, and not after a loss.
func TestRunsByThemselvesPassOrFail(t *testing.T) {
	broken := func(name string) func(*result.Run) {
		return func(r *result.Run) {
			r.Verdicts = append(r.Verdicts, result.Verdict{Name: name, Outcome: result.Broken,
				Sentence: "because of " + name})
		}
	}
	for name, c := range map[string]struct {
		gate   string
		change func(*result.Run)
		want   string
	}{
		"holds": {"publish.p99 > 20ms", func(*result.Run) {}, ""},
		"fails": {"publish.p99 > 100us", func(*result.Run) {},
			"publish.p99 > 100us fails: publish.p99 is 200us in run B1"},
		"not known": {"e2e.p99 > 1s", func(*result.Run) {},
			"fails: e2e.p99 is not known in run B0"},
		"a bound": {"publish.p99 > 20ms", func(r *result.Run) {
			r.Summary.Latency[0].Percentiles[0].Bound = result.AtLeast
		}, "not decided: publish.p99 is ≥ 200us"},
		"not reached": {"publish.p99 > 20ms", func(r *result.Run) {
			r.Summary.Latency[0].Percentiles[0].Bound = result.NotReached
		}, "fails: publish.p99 is not reached in run B1"},
		"lost":       {"publish.p99 > 20ms", broken(verdict.Loss), "loss fails: because of loss"},
		"may lose":   {"lost > 3", broken(verdict.Loss), ""},
		"overloaded": {"publish.p99 > 20ms", broken(verdict.Rate), "rate fails: because of rate"},
		"behind": {"lost > 0", broken(verdict.Receiving),
			"receiving fails: because of receiving, in run B1"},
		"cold": {"lost > 0", broken(verdict.Steady), "steady fails: because of steady, in run B1"},
		"limited": {"publish.p99 > 20ms", func(r *result.Run) {
			broken(verdict.Generator)(r)
			r.Summary.Generator.Limited = true
		}, "generator fails: because of generator"},
		"stopped": {"lost > 0", func(r *result.Run) { r.State = result.Interrupted },
			"interrupted fails: interrupted, in run B1"},
	} {
		b := sideOf("B", 100, 200)
		c.change(&b.Runs[1].Run)
		g, err := ParseGate(c.gate)
		if err != nil || g.Absolute() != nil {
			t.Fatal(err, g.Absolute())
		}
		var failed []string
		for _, r := range RuleRuns([]Gate{g}, b.Runs) {
			if r.Fails {
				failed = append(failed, r.Gate+" "+r.Sentence)
			}
		}
		got := strings.Join(failed, "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if g, err := ParseGate("publish.p99 > 1.1x"); err != nil || g.Absolute() == nil {
		t.Errorf("a multiple of nothing: %v", err)
	}
}
