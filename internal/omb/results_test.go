package omb

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// saved imports a result and reads its run directory back.
func saved(t *testing.T, file string, src []byte, known Known) *result.Saved {
	t.Helper()
	r, err := ParseResult(file, src)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Save(t.TempDir(), file, r, known, result.Build{Version: "test"},
		[]string{"plimsoll", "import"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Damage) > 0 {
		t.Errorf("part of the run cannot be read: %v", s.Damage)
	}
	verdict.JudgeSaved(s)
	return s
}

// within reports whether two figures differ by less than a share of the second.
func within(got, want,
	share float64) bool {
	return math.Abs(got-want) <= share*math.Abs(want)+1e-9
}

// TestPublishedFigures holds the figures that the study of 2020 published
// against those that come out of its files. The files are cut down: of the
// distributions a part of the points is left, and of most series over time three
// columns.
func TestPublishedFigures(t *testing.T) {
	const no = 0
	for _, want := range []struct {
		file                 string
		rate, p99, p999, max float64 // messages per second; end-to-end, ms
	}{
		{"kafka-throughput-default-sync", 618_991, no, no, no},
		{"kafka-throughput-sync", 590_550, no, no, no},
		{"pulsar-throughput-default-sync-colocated", 313_025, no, no, no},
		{"pulsar-throughput-default-sync-tiered", 313_070, no, no, no},
		{"pulsar-throughput-default-sync-raid0", 217_878, no, no, no},
		{"kafka-latency-default-sync-200k", 200_000, 5.434, 18.329, 95.874},
		{"kafka-latency-sync-200k", 200_000, 20, 66, 330.001},
		{"pulsar-latency-default-sync-200k", 200_000, 25, 52, 113},
	} {
		t.Run(want.file, func(t *testing.T) {
			file := "testdata/results/" + want.file + ".json"
			s := saved(t, file, golden.Inputs(t, file)[file], Known{MessageBytes: 1024})
			sum := s.Run.Summary
			share := 5e-6 // half of what is printed in the study's table
			if want.rate == 200_000 {
				share = 0.01 // a target, and not a figure of the file
			}
			if !within(sum.AchievedRate, want.rate, share) {
				t.Errorf("%v msg/s, published %v", sum.AchievedRate, want.rate)
			}
			if got := sum.AchievedRate * 1024; sum.BytesPerS != got {
				t.Errorf("%v bytes per second, want %v", sum.BytesPerS, got)
			}
			if want.p99 == no {
				return
			}
			e2e := sum.Series(result.EndToEnd)
			for p, ms := range map[float64]float64{99: want.p99, 99.9: want.p999} {
				if got, ok := e2e.At(p); !ok || got != int64(math.Round(ms*1e6)) {
					t.Errorf("end-to-end p%v is %v ns, published %v ms", p, got, ms)
				}
			}
			if e2e.MaxNs != int64(math.Round(want.max*1e6)) {
				t.Errorf("end-to-end max %v ns, published %v ms", e2e.MaxNs, want.max)
			}
		})
	}
}

// TestDistributionsHoldTheFigures: the histogram that is made from quantiles
// has OMB's percentiles, and is the one that curves are drawn from.
func TestDistributionsHoldTheFigures(t *testing.T) {
	for file, src := range golden.Inputs(t, "testdata/results/*.json") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r, err := ParseResult(file, src)
			if err != nil {
				t.Fatal(err)
			}
			s := saved(t, file, src, Known{})
			for name, series := range map[result.Series]Series{result.Send: r.Send,
				result.EndToEnd: r.EndToEnd} {
				h := s.Total(name)
				for _, c := range columns {
					if c.suffix == "Avg" {
						continue
					}
					if got, want := float64(h.ValueAtPercentile(
						c.percentile)), series.Whole[c.suffix]; !within(got, want, 0.001) {
						t.Errorf("%s %s is %v, in the file %v", name, c.suffix, got, want)
					}
				}
				// The fixture has a part of the points, which are upper bounds.
				if got, want := h.Mean(), series.Whole["Avg"]; got < want*0.99 || got > want*1.3 {
					t.Errorf("the mean of %s is %v, in the file %v", name, got, want)
				}
				rate := map[result.Series]float64{result.Send: s.Run.Summary.AchievedRate,
					result.EndToEnd: s.Run.Summary.ReceivedRate}[name]
				if !within(float64(h.TotalCount()), rate*600, 1e-6) {
					t.Errorf("%s counts %d values, rate x time is %v", name, h.TotalCount(),
						rate*600)
				}
			}
		})
	}
}

// TestWhatIsNotRecordedStaysUnknown: only what consumers received is judged in an imported run,
// and nothing that OMB did not write has a figure.
func TestWhatIsNotRecordedStaysUnknown(t *testing.T) {
	for file, src := range golden.Inputs(t, "testdata/results/*.json") {
		s := saved(t, file, src, Known{})
		r := &s.Run
		if len(r.Verdicts) < 7 {
			t.Errorf("%d verdicts", len(r.Verdicts))
		}
		for _, v := range r.Verdicts {
			if v.Outcome != result.Unknown && v.Name != verdict.Receiving {
				t.Errorf("%s: %s %s: %s", file, v.Name, v.Outcome, v.Sentence)
			}
		}
		if r.State != result.Complete || !verdict.Sound(r) {
			t.Errorf("%s is %s", file, r.State)
		}
		if r.Load.MessageBytes != 0 || r.Summary.BytesPerS != 0 || r.Load.TargetRate != 0 ||
			r.Ledger.Accounted ||
			r.Summary.Series(result.Lag).Count != 0 ||
			r.Summary.Series(result.Publish).Count != 0 || !r.StartedAt.IsZero() {
			t.Errorf("%s has a figure that is not in the file", file)
		}
		if len(verdict.Comparable([]*result.Run{r, r})) == 0 {
			t.Error("runs of another tool are taken for comparable")
		}
		if len(r.Warnings) < 5 {
			t.Errorf("%d warnings", len(r.Warnings))
		}
	}
}

// newer is a result as OMB writes them today: sizes and delays are in it.
const newer = `{
  "workload" : "w", "driver" : "DRIVER", "messageSize" : 1024, "topics" : 2, "partitions" : 8,
  "producersPerTopic" : 3, "consumersPerTopic" : 4,
  "publishRate" : [ 100.0, 120.0 ], "publishErrorRate" : [ 0.0, ERRORS ], "consumeRate" : [ 200.0, 240.0 ], "backlog" : [ 5, 7 ],
  "publishLatencyAvg" : [ 1.5, "NaN" ], "publishLatency50pct" : [ 1.0, 1.0 ], "publishLatencyMax" : [ 9.0, 9.5 ],
  "publishDelayLatency50pct" : [ 50, 60 ],
  "aggregatedPublishLatencyAvg" : 1.5, "aggregatedPublishLatency50pct" : 1.0, "aggregatedPublishLatencyMax" : 9.5,
  "aggregatedPublishDelayLatency50pct" : 55, "aggregatedPublishDelayLatencyMax" : 900,
  "aggregatedPublishLatencyQuantiles" : { "100.0" : 9.5, "50.0" : 1.0, "8.43E-6" : 0.1, "9.9" : 0.5 },
  "aggregatedPublishDelayLatencyQuantiles" : { "50.0" : 55, "100.0" : 900 },
  "aggregatedEndToEndLatencyQuantiles" : { "10.0" : 1000.0, "100.0" : 20000000.0 },
  "aNewKey" : { "x" : [ ] }
}`

func TestNewerResults(t *testing.T) {
	src := strings.NewReplacer("DRIVER", "RabbitMQ", "ERRORS", "3.0").Replace(newer)
	s := saved(t, "w-RabbitMQ-2026-01-02-03-04-05.json", []byte(src), Known{MessageBytes: 5,
		Dialects: Dialects{{
			System: "rabbitmq", Caveats: []Caveat{{Driver: "rabbit", Note: "a resolution of 1 s",
				Upstream: true}},
		}}})
	r, sum := &s.Run, s.Run.Summary
	if got := []any{r.System.Name, r.Load.MessageBytes, r.Load.Topics, r.Load.Partitions,
		r.Load.Producers, r.Load.Consumers, r.Load.Subscriptions}; !slices.Equal(got,
		[]any{"rabbitmq", int64(1024), 2, 8, 3, 4, 0}) {
		t.Error(got)
	}
	if want := time.Date(2026, 1, 2, 3, 3, 45, 0, time.UTC); !r.StartedAt.Equal(want) {
		t.Errorf("started at %v, want %v", r.StartedAt, want)
	}
	if sum.AchievedRate != 110 || sum.ReceivedRate != 220 || sum.BytesPerS != 110*1024 ||
		sum.EndBacklog != 7 || sum.WindowNs != 20e9 {
		t.Errorf("%+v", sum)
	}
	if lag := sum.Series(result.Lag); lag.Count != 2200 || lag.MaxNs != 900_000 {
		t.Errorf("schedule lag %+v", lag)
	}
	if p50, _ := sum.Series(result.Send).At(50); p50 != 1_000_000 {
		t.Errorf("send p50 %d ns", p50)
	}
	// OMB keeps 12 hours, plimsoll one.
	if e2e := sum.Series(result.EndToEnd); e2e.Clamped != 3960 {
		t.Errorf("clamped %d, want 90%% of 4400", e2e.Clamped)
	}
	failures := slices.IndexFunc(r.Verdicts,
		func(v result.Verdict) bool { return v.Name == verdict.Failures })
	if v := r.Verdicts[failures]; v.Outcome != result.Broken ||
		!strings.Contains(v.Sentence, "30 messages") {
		t.Error(v)
	}
	notes := strings.Join(r.Imported.Notes, "\n")
	for _, want := range []string{"resolution of 1 s", "schedule lag", "leaves out"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q:\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "size of messages") {
		t.Errorf("the notes miss a size that is there:\n%s", notes)
	}
}

func TestNotesOfDrivers(t *testing.T) {
	for driver, want := range map[string]string{
		"Upstream": "every message", "Fork": "only here",
	} {
		src := strings.NewReplacer("DRIVER", driver, "ERRORS", "0").Replace(newer)
		r, err := ParseResult("x.json", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		dialects := Dialects{{System: "one", Caveats: []Caveat{
			{Driver: "upstream", Note: "every message", Upstream: true}, {Driver: "fork",
				Note: "only here"},
		}}}
		if notes := strings.Join(r.notes(dialects, false), "\n"); !strings.Contains(notes, want) {
			t.Errorf("%s: no note says %q:\n%s", driver, want, notes)
		}
		r.MessageBytes = 0 // a file of a fork
		if notes := strings.Join(r.notes(dialects, false), "\n"); strings.Contains(notes,
			"every message") {
			t.Errorf("%s: a note on upstream's driver stands in the result of a fork:\n%s", driver,
				notes)
		}
	}
}

func TestRedpandasResults(t *testing.T) {
	src := `{"version": "1", "beginTime": "2024-05-06T07:08:09Z", "endTime": "2024-05-06T07:08:13Z", "sampleRateMillis": 2000,
		"workload": "w", "driver": "Redpanda", "publishRate": [10, 20], "consumeRate": [10, 20], "backlog": [0, 0],
		"sent": [20, 40], "consumed": [20, 40], "publishFailed": [3, 4], "consumeFailed": [1, 0],
		"scheduleLatencyMin": [1, 2], "scheduleLatency50pct": [5, 6], "publishLatencyMin": [0.3, 0.2], "endToEndLatencyMin": [0.1, 0.2],
		"aggregatedPublishLatencyQuantiles": {"100": 3}, "aggregatedScheduleLatencyQuantiles": {"100": 8}}`
	s := saved(t, "redpanda.json", []byte(src), Known{})
	r, sum := &s.Run, s.Run.Summary
	if want := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC); !r.StartedAt.Equal(want) ||
		sum.WindowNs != 4e9 || r.Load.WindowSeconds != 4 {
		t.Errorf("started at %v, window %d ns", r.StartedAt, sum.WindowNs)
	}
	if got := s.Intervals[1]; got.StartNs != 2e9 || got.EndNs != 4e9 || got.Acked != 40 ||
		got.Failed != 4 {
		t.Errorf("%+v", got)
	}
	if r.Counters.Failed != 7 || r.Imported.PollErrors != 1 {
		t.Errorf("%d refused and %d failed polls, want 7 and 1", r.Counters.Failed,
			r.Imported.PollErrors)
	}
	if lag := sum.Series(result.Lag); !within(float64(lag.MaxNs), 8e6, 0.001) || lag.MinNs != 1e6 {
		t.Errorf("schedule lag %+v", lag)
	}
	if send := sum.Series(result.Send); send.MinNs != 200_000 {
		t.Errorf("least send latency %d ns, want 200,000", send.MinNs)
	}
	// The fork with counts in place of rates, and no begin.
	counts := strings.NewReplacer(`"publishRate": [10, 20], "consumeRate": [10, 20],`, "",
		`"beginTime": "2024-05-06T07:08:09Z",`, "").Replace(src)
	again := saved(t, "redpanda.json", []byte(counts), Known{})
	if !again.Run.StartedAt.Equal(r.StartedAt) || again.Run.Summary.AchievedRate != 15 ||
		again.Run.Summary.ReceivedRate != 15 {
		t.Errorf("from counts: %v, %+v", again.Run.StartedAt, again.Run.Summary)
	}
}

// periods is a result of n periods with a constant rate of publishing, and further keys. BACKLOG in
// them is replaced by a backlog that grows by a number in each period.
func periods(n int, publish float64, grows int, more string) []byte {
	var rates, backlog []string
	for i := range n {
		rates = append(rates, fmt.Sprint(publish))
		backlog = append(backlog, fmt.Sprint((i+1)*grows))
	}
	more = strings.ReplaceAll(more, "BACKLOG", "["+strings.Join(backlog, ",")+"]")
	all := `{"workload": "w", "driver": "Kafka", "publishRate": [` + strings.Join(rates, ",") + "]"
	for _, rate := range []string{"ZERO", "HALF", "SAME", "TWICE"} {
		factor := map[string]float64{"HALF": 0.5, "SAME": 1, "TWICE": 2}[rate]
		one := fmt.Sprintf("[%v", publish*factor) +
			strings.Repeat(fmt.Sprintf(",%v", publish*factor), n-1) + "]"
		more = strings.ReplaceAll(more, rate, one)
	}
	return []byte(all + more + "}")
}

// TestWhatIsRecordedIsJudged: what a file says is judged, and what it lacks is unknown.
func TestWhatIsRecordedIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		src            []byte
		state          result.State
		verdict        string
		outcome, words string
	}{
		"nothing carried": {periods(6, 0, 0, `, "publishErrorRate": ZERO, "consumeRate": ZERO,
			"backlog": BACKLOG`), result.Failed, verdict.Receiving, result.Unknown, "0/s"},
		"all refused": {periods(6, 0, 0, `, "publishErrorRate": [5,5,5,5,5,5],
			"consumeRate": ZERO`), result.Failed, verdict.Failures, result.Broken, "300 messages"},
		"only reading": {periods(6, 0, 0, `, "consumeRate": [9,9,9,9,9,9], "backlog": BACKLOG`),
			result.Failed, verdict.Receiving, result.Unknown, "9/s received"},
		"backlog grows": {periods(6, 10_000, 60_000, `, "consumeRate": HALF, "backlog": BACKLOG`),
			result.Complete, verdict.Receiving, result.Broken, "grows by 6k/s"},
		"backlog of many subscriptions grows": {periods(6, 1000, 5000,
			`, "consumeRate": TWICE, "backlog": BACKLOG`),
			result.Complete, verdict.Receiving, result.Broken, "grows by 500/s"},
		"backlog grows in few periods": {periods(3, 10_000, 60_000,
			`, "consumeRate": TWICE, "backlog": BACKLOG`), result.Complete, verdict.Receiving,
			result.Broken, "180,000 messages at the end"},
		"no backlog grows": {periods(6, 10_000, 0, `, "consumeRate": SAME, "backlog": BACKLOG`),
			result.Complete, verdict.Receiving, result.Holds, "did not measurably grow"},
		"no subscription": {periods(6, 10_000, 0, `, "consumeRate": ZERO, "backlog": BACKLOG`),
			result.Complete, verdict.Receiving, result.Unknown, "nothing subscribed"},
		"few periods": {periods(2, 10_000, 0, `, "consumeRate": SAME, "backlog": BACKLOG`),
			result.Complete, verdict.Receiving, result.Unknown, "too few"},
		"less received": {periods(6, 10_000, 0, `, "consumeRate": HALF`), result.Complete,
			verdict.Receiving, result.Broken, "5k/s received"},
		"no backlog on record": {periods(6, 10_000, 0, `, "consumeRate": SAME`), result.Complete,
			verdict.Receiving, result.Unknown, "neither the subscriptions nor the backlog"},
		"nothing about consumers": {periods(6, 10_000, 0, ``), result.Complete, verdict.Receiving,
			result.Unknown, "did not record what consumers received"},
		"nothing about errors": {periods(6, 10_000, 0, ``), result.Complete, verdict.Failures,
			result.Unknown, "did not record whether messages were refused"},
		"polls fail": {periods(2, 10, 0, `, "publishFailed": [0, 0], "consumeFailed": [2, 3]`),
			result.Complete, verdict.Failures, result.Broken, "failed to read 5 times"},
	} {
		t.Run(name, func(t *testing.T) {
			r := saved(t, "x.json", c.src, Known{}).Run
			if r.State != c.state || (r.StateReason == "") != (c.state == result.Complete) {
				t.Errorf("the run is %s (%s), want %s", r.State, r.StateReason, c.state)
			}
			at := slices.IndexFunc(r.Verdicts,
				func(v result.Verdict) bool { return v.Name == c.verdict })
			v := r.Verdicts[at]
			if v.Outcome != c.outcome || !strings.Contains(v.Sentence, c.words) {
				t.Errorf("%s: %s\nwant %s, %q", v.Outcome, v.Sentence, c.outcome, c.words)
			}
		})
	}
}

// TestPrintedFiguresWithoutADistribution: the figures of a file that has no quantiles are not lost.
func TestPrintedFiguresWithoutADistribution(t *testing.T) {
	s := saved(t, "x.json", []byte(`{"publishRate": [100, 100], "consumeRate": [100, 100],
		"aggregatedPublishLatencyAvg": 2, "aggregatedPublishLatency50pct": 1.5,
		"aggregatedPublishLatency99pct": 7, "aggregatedPublishLatencyMax": 9,
		"endToEndLatencyAvg": [3, 5], "endToEndLatencyMax": [30, 20], "cpuUsage": [0.5, 0.6]}`),
		Known{})
	send, e2e := s.Run.Summary.Series(result.Send), s.Run.Summary.Series(result.EndToEnd)
	p50, _ := send.At(50)
	p99, _ := send.At(99)
	if _, has := send.At(90); has || send.Count != 2000 || p50 != 1_500_000 || p99 != 7e6 ||
		send.MaxNs != 9e6 || send.MeanNs != 2e6 {
		t.Errorf("send: %+v", send)
	}
	if e2e.Count != 2000 || e2e.MeanNs != 4e6 || e2e.MaxNs != 30e6 || len(e2e.Percentiles) > 0 {
		t.Errorf("end-to-end: %+v", e2e)
	}
	if notes := strings.Join(s.Run.Imported.Notes, "\n"); !strings.Contains(notes,
		"does not read: cpuUsage") {
		t.Errorf("no note names the key that is not read:\n%s", notes)
	}
}

func TestMalformedResults(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"cut short": {"{\n  \"workload\": \"w\",\n  \"publishRate\": [1, 2",
			"x.json:3:22: is not valid JSON"},
		"not an object": {"[1]", "x.json: is not an OMB result, which is one JSON object"},
		"empty":         {"", "x.json:1:1: is not valid JSON"},
		"something else": {`{"a": 1}`,
			"x.json: is not an OMB result, or has no period: publishRate is missing"},
		"wrong type": {"{\n\"publishRate\": \"fast\"}",
			"x.json:2:1: publishRate is not a list of numbers"},
		"wrong item": {"{\n\"publishRate\": [1, \"fast\"]}",
			"x.json:2:1: publishRate is not a list of numbers"},
		"lengths": {"{\"publishRate\": [1, 2],\n \"backlog\": [1]}",
			"x.json:2:2: backlog has 1 values, but publishRate has 2"},
		"falling": {
			"{\"publishRate\": [1], \"aggregatedEndToEndLatencyQuantiles\": {\"50\": 2, \"9\": 3}}",
			"aggregatedEndToEndLatencyQuantiles falls from 3 ms to 2 ms at percentile 50"},
		"percentile": {
			"{\"publishRate\": [1], \"aggregatedPublishLatencyQuantiles\": {\"101\": 2}}",
			`holds "101", which is not a percentile`},
		"negative": {
			"{\"publishRate\": [1], \"aggregatedPublishLatencyQuantiles\": {\"1\": -2}}",
			"holds an impossible latency"},
		"rate": {"{\"publishRate\": [1, -4]}",
			"publishRate holds an impossible value, -4, at place 2"},
		"size": {"{\"publishRate\": [1], \"messageSize\": 1.5}",
			"messageSize is not a whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseResult("x.json", []byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(newer))
	f.Add([]byte(
		`{"publishRate": [10, 20], "sampleRateMillis": 2000, "beginTime": "2024-05-06T07:08:09Z"}`))
	f.Add([]byte(strings.NewReplacer("ERRORS", "1e9", "120.0", "0").Replace(newer)))
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := ParseResult("fuzz.json", src)
		if (r == nil) == (err == nil) {
			t.Fatal("neither a result nor an error, or both")
		}
		if err != nil {
			if _, ok := err.(strict.Violations); !ok || err.Error() == "" {
				t.Fatalf("error %T %v", err, err)
			}
			return
		}
		if len(r.Publish) > 1000 {
			return // only slow
		}
		run, intervals, histograms := r.run("fuzz.json", Known{})
		if _, err := json.Marshal([]any{run, intervals}); err != nil {
			t.Fatal(err)
		}
		for _, h := range histograms {
			if h.TotalCount() <= 0 {
				t.Fatal(fmt.Sprint("an empty histogram ", h.Tag()))
			}
		}
	})
}
