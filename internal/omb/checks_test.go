package omb

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// TestFiguresThatContradictThemselves: each is refused by one sentence, with the number as the file
// has it.
func TestFiguresThatContradictThemselves(t *testing.T) {
	for name, c := range map[string]struct{ keys, want string }{
		"p75 below p50": {`"aggregatedPublishLatency50pct": 100.0,
			"aggregatedPublishLatency75pct": 2.5, "aggregatedPublishLatency99pct": 1.0,
			"aggregatedPublishLatencyMax": 2.5`,
			"aggregatedPublishLatency75pct is 2.5, below the 100 of " +
				"aggregatedPublishLatency50pct: one of them is wrong, name the file as OMB wrote it"},
		"p99 is 0": {`"aggregatedEndToEndLatency95pct": 36000.0,
			"aggregatedEndToEndLatency99pct": 0.0, "aggregatedEndToEndLatencyMax": 36000.0`,
			"aggregatedEndToEndLatency99pct is 0, below the 36000 of aggregatedEndToEndLatency95pct"},
		"in a period": {`"publishDelayLatency50pct": [5, 7], "publishDelayLatency99pct": [5, 6]`,
			"publishDelayLatency99pct is 6 at place 2, below the 7 of publishDelayLatency50pct"},
		"most below a percentile": {
			`"publishLatency999pct": [3, 4], "publishLatencyMax": [2.5, 2.5]`,
			"publishLatencyMax is 2.5 at place 1, below the 3 of publishLatency999pct"},
		"most below the mean": {
			`"aggregatedPublishLatencyAvg": 9, "aggregatedPublishLatencyMax": 2`,
			"aggregatedPublishLatencyMax is 2, below the 9 of aggregatedPublishLatencyAvg"},
		"mean below the least": {`"scheduleLatencyMin": [3, 3], "scheduleLatencyAvg": [4, 2]`,
			"scheduleLatencyAvg is 2 at place 2, below the 3 of scheduleLatencyMin"},
		"negative in a period": {`"publishLatency99pct": [1, -2.5]`,
			"publishLatency99pct holds an impossible value, -2.5, at place 2"},
		"negative delay": {`"publishDelayLatency50pct": [-1200000, 1]`,
			"publishDelayLatency50pct holds an impossible value, -1200000, at place 1"},
		"negative of the whole": {`"aggregatedPublishLatency99pct": -2.5`,
			"aggregatedPublishLatency99pct is impossible: -2.5"},
		"negative in a distribution": {
			`"aggregatedPublishLatencyQuantiles": {"50": -2.5, "100": 3}`,
			`aggregatedPublishLatencyQuantiles holds an impossible latency, -2.5, at "50"`},
		"no rate": {`"publishRate": [1, "NaN"]`, "publishRate holds no number at place 2"},
		"a key twice": {`"backlog": [0, 0],
			"driver": "Kafka", "backlog": [1, 1]`,
			`x.json:3:23: duplicate key "backlog": it is given on line 2 already, keep one`},
		"a percentile twice": {
			`"aggregatedPublishLatencyQuantiles": {"50": 1, "100": 3, "50": 2}`,
			`aggregatedPublishLatencyQuantiles has the percentile "50" twice: keep one`},
	} {
		t.Run(name, func(t *testing.T) {
			src := "{\n" + c.keys
			if !strings.Contains(src, `"publishRate"`) {
				src += `, "publishRate": [10, 10]`
			}
			_, err := ParseResult("x.json", []byte(src+"}"))
			if bad, _ := err.(strict.Violations); len(bad) != 1 ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant only %s", err, c.want)
			}
		})
	}
}

// A histogram rounds up: its percentiles may exceed the greatest value by its resolution.
func TestRoundedPercentilesAreTaken(t *testing.T) {
	if _, err := ParseResult("x.json", []byte(`{"publishRate": [10],
		"aggregatedPublishLatencyAvg": 2.5002, "aggregatedPublishLatency9999pct": 2.5006,
		"aggregatedPublishLatencyMax": 2.5}`)); err != nil {
		t.Error(err)
	}
}

// TestDoubtfulFiguresAreUnknown: what cannot be is no figure of the run, and a note says why.
func TestDoubtfulFiguresAreUnknown(t *testing.T) {
	for name, c := range map[string]struct{ keys, figure, want string }{
		"backlog": {`"backlog": [-5, 3, -736]`, result.RecordedBacklog,
			"backlog is below 0 in 2 of 3 periods, -736 at the least: more was counted as received " +
				"than as sent, so how many messages waited is not known"},
		"a backlog that is no number": {`"backlog": ["NaN", 3, 4]`, result.RecordedBacklog,
			"backlog is no number in 1 of 3 periods, so it is not known"},
		"consumers": {`"consumeRate": [10, null, null]`, result.RecordedReceived,
			"consumeRate is no number in 2 of 3 periods, so it is not known"},
		"errors": {`"publishErrorRate": [1, "NaN", 0]`, result.RecordedRefused,
			"publishErrorRate is no number in 1 of 3 periods, so it is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			s := saved(t, "x.json", []byte(`{"publishRate": [10, 10, 10], `+c.keys+"}"), Known{})
			if notes := s.Run.Imported.Notes; !slices.Contains(notes, c.want) {
				t.Errorf("no note says %q:\n%s", c.want, strings.Join(notes, "\n"))
			}
			sum := s.Run.Summary
			if s.Run.Imported.Knows(c.figure) || sum.MaxBacklog != 0 || sum.EndBacklog != 0 ||
				sum.ReceivedRate != 0 || s.Run.Counters.Failed != 0 {
				t.Errorf("it is taken for known: %v, %+v", s.Run.Imported.Recorded, sum)
			}
		})
	}
}

// TestABacklogSlightlyBelowNoneIsNone: OMB's files of 2020 have such, because it read two counters
// one after the other. It is none only where consumers kept up.
func TestABacklogSlightlyBelowNoneIsNone(t *testing.T) {
	const keys = `{"publishRate": [1000, 1000], "backlog": [40, -5], "consumeRate": `
	s := saved(t, "x.json", []byte(keys+"[1000, 1000]}"), Known{})
	if sum := s.Run.Summary; !s.Run.Imported.Knows(result.RecordedBacklog) ||
		sum.EndBacklog != 0 || sum.MaxBacklog != 40 {
		t.Errorf("%+v", sum)
	}
	for _, rest := range []string{"[400, 400]}", "null}"} {
		s := saved(t, "x.json", []byte(keys+rest), Known{})
		if s.Run.Imported.Knows(result.RecordedBacklog) {
			t.Errorf("consumers that received %s: a backlog below 0 is taken", rest)
		}
	}
}

// TestNothingAcknowledgedHasFailed, also where consumers read what was there before.
func TestNothingAcknowledgedHasFailed(t *testing.T) {
	s := saved(t, "x.json", []byte(`{"publishRate": [0, 0], "consumeRate": [4, 4],
		"publishLatency99pct": [2.5, 2.5], "aggregatedPublishLatency99pct": 2.5,
		"aggregatedPublishLatencyQuantiles": {"100": 2.5}}`), Known{})
	const want = "OpenMessaging Benchmark recorded no message that was acknowledged, so those " +
		"that consumers received are of before the run"
	if s.Run.State != result.Failed || s.Run.StateReason != want {
		t.Errorf("%s: %q, want failed: %q", s.Run.State, s.Run.StateReason, want)
	}
	if send := s.Run.Summary.Series(result.Send); send.Count != 0 || send.MaxNs != 0 {
		t.Errorf("latencies of no message: %+v", send)
	}
}

// TestOneCauseIsOneError: what follows from a mistake is not told as further mistakes.
func TestOneCauseIsOneError(t *testing.T) {
	lists := ""
	for i := range 12 {
		lists += fmt.Sprintf(`, "%s%s": [1, 1, 1]`, []string{sendName, endToEndName}[i%2],
			columns[i/2].suffix)
	}
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct{ src, want string }{
		"rate is a text": {`{"publishRate": "10000"` + lists + "}",
			"x.json:1:2: publishRate is not a list of numbers"},
		"count is a text": {`{"sent": "10000"` + lists + "}",
			"x.json:1:2: sent is not a list of numbers"},
		"rate is short": {`{"publishRate": [1, 1]` + lists + "}", "endToEndLatency50pct has 3 " +
			"values, but publishRate has 2, and so have 11 more lists"},
		"name is long": {`{"publishRate": [1], "workload": "` + long + `"}`,
			"workload is too long: it has 5,000 bytes, and at most 1,000 are read: shorten it"},
		"driver is long": {`{"publishRate": [1], "driver": "` + long + `"}`,
			"driver is too long: it has 5,000 bytes"},
		"name is no text": {`{"publishRate": [1], "workload": "a\u0007"}`,
			"workload is not a text of printable characters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseResult("x.json", []byte(c.src))
			if bad, _ := err.(strict.Violations); len(bad) != 1 ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%.2000v\nwant only %s", err, c.want)
			}
		})
	}
}

func TestAByteOrderMarkIsNoFault(t *testing.T) {
	r, err := ParseResult("x.json", []byte("\uFEFF"+`{"publishRate": [1], "workload": "w"}`))
	if err != nil || r.Workload != "w" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestAFolderIsNoResult(t *testing.T) {
	dir := t.TempDir()
	want := fmt.Sprintf("%s is a folder: name the result files in it (%s)", dir,
		filepath.Join(dir, "*.json"))
	if _, err := ReadResult(dir); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadResult(filepath.Join(dir, "b.json")); err == nil ||
		!strings.Contains(err.Error(), "did you mean "+filepath.Join(dir, "a.json")) {
		t.Error(err)
	}
}
