package omb

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// keysIn returns an export and its keys that begin with one of the prefixes.
func keysIn(t *testing.T, raw []byte, prefixes ...string) (all map[string]any, found []string) {
	t.Helper()
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for key := range all {
		if slices.ContainsFunc(prefixes,
			func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			found = append(found, key)
		}
	}
	return all, found
}

// TestExportLeavesOutWhatIsUnknown: what an imported file lacked has no key in an export of it, and
// comes back as unknown again.
func TestExportLeavesOutWhatIsUnknown(t *testing.T) {
	s := saved(t, "x.json", []byte(`{"publishRate": [100, 100], "publishErrorRate": [0, 0],
		"publishLatencyAvg": [2, 2.25], "publishLatencyMax": [2.5, 2.5], "publishLatency50pct": [1, null],
		"aggregatedPublishLatency50pct": 1, "aggregatedPublishLatencyMax": 2.5}`), Known{})
	raw := exported(t, s)
	all, wrong := keysIn(t, raw, "consumeRate", "backlog", "endToEnd", "aggregatedEndToEnd",
		"publishDelay", "aggregatedPublishDelay", "publishLatency99", "aggregatedPublishLatency9",
		"aggregatedPublishLatencyQuantiles")
	if len(wrong) > 0 {
		t.Errorf("figures that the file lacked are %v:\n%s", wrong, raw)
	}
	if got := all["publishLatency50pct"].([]any); got[0] != 1.0 || got[1] != nil {
		t.Errorf("a p50 of one of two periods is %v", got)
	}
	if all["aggregatedPublishLatencyMax"] != 2.5 || all["publishErrorRate"] == nil {
		t.Errorf("figures that the file had are lost:\n%s", raw)
	}
	again := saved(t, "x.json", raw, Known{})
	if want, got := s.Run.Imported.Recorded, again.Run.Imported.Recorded; !slices.Equal(want, got) {
		t.Errorf("recorded are %v, and after an export %v", want, got)
	}
	for _, series := range result.AllSeries {
		want, got := s.Run.Summary.Series(series), again.Run.Summary.Series(series)
		if (want.Count > 0) != (got.Count > 0) || want.MaxNs != got.MaxNs {
			t.Errorf("%s was %+v and is %+v", series, want, got)
		}
	}
}

// without returns a measured run, read again when a file of it is lost or damaged.
func without(t *testing.T, damage func(dir string) error) *result.Saved {
	t.Helper()
	s := measured(t, 25)
	if err := damage(s.Dir); err != nil {
		t.Fatal(err)
	}
	again, err := result.Read(s.Dir)
	if err != nil || len(again.Damage) == 0 {
		t.Fatalf("the run is not damaged (%v)", err)
	}
	return again
}

// TestExportWithoutHistograms: the figures of the summary are left, and no other one has a value.
func TestExportWithoutHistograms(t *testing.T) {
	for name, damage := range map[string]func(string) error{
		"missing": func(dir string) error { return os.Remove(filepath.Join(dir, "latency.hlog")) },
		"damaged": func(dir string) error {
			path := filepath.Join(dir, "latency.hlog")
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, raw[:len(raw)/2], 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := without(t, damage)
			raw := exported(t, s)
			all, wrong := keysIn(t, raw, "aggregatedPublishLatencyQuantiles",
				"aggregatedPublishLatency9999pct")
			if len(wrong) > 0 {
				t.Errorf("figures of lost histograms are %v", wrong)
			}
			p99, _ := s.Run.Summary.Series(result.Send).At(99)
			if all["aggregatedPublishLatency99pct"] != float64(p99)/millisecond {
				t.Errorf("p99 is %v, and the summary has %d ns",
					all["aggregatedPublishLatency99pct"], p99)
			}
			if all["publishRate"] == nil || all["backlog"] == nil {
				t.Error("the rates are lost")
			}
			if _, err := ParseResult("x.json", raw); err != nil {
				t.Errorf("it does not read back: %v", err)
			}
		})
	}
}

// TestPeriodsWithoutHistograms have the mean and the greatest latency of their intervals, and
// percentiles only where there is one interval.
func TestPeriodsWithoutHistograms(t *testing.T) {
	of := func(count int64, mean float64, most int64) result.Latency {
		return result.Latency{Series: result.Send, Count: count, MeanNs: mean, MaxNs: most,
			Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: most / 2}}}
	}
	p := &period{printed: []result.Latency{of(100, 2e6, 9e6), of(300, 6e6, 8e6)}}
	l := p.latency(result.Send)
	if _, has := l.At(50); has || l.Count != 400 || l.MeanNs != 5e6 || l.MaxNs != 9e6 {
		t.Errorf("%+v", l)
	}
	p.printed = p.printed[:1]
	if p50, _ := p.latency(result.Send).At(50); p50 != 4.5e6 {
		t.Errorf("p50 of the only interval is %d", p50)
	}
}

// TestNothingMeasuredIsRefused: an OMB result of a run that ended in its warm-up would hold no
// figure.
func TestNothingMeasuredIsRefused(t *testing.T) {
	warmup := []result.Interval{{EndNs: 1e9, Phase: result.PhaseWarmup, Acked: 5}}
	for want, s := range map[string]*result.Saved{
		"r measured nothing: it ended before its measured window began: name another run": {
			Run: result.Run{ID: "r", State: result.Interrupted}, Intervals: warmup},
		"q measured nothing": {Run: result.Run{ID: "q", State: result.Incomplete},
			Intervals: warmup},
		"p has no interval that can be read (intervals.jsonl ends in the middle of line 1), and an " +
			"OMB result is made of them: name another run": {Dir: "p",
			Run: result.Run{State: result.Complete}, Damage: []string{
				"intervals.jsonl ends in the middle of line 1"}},
	} {
		var b bytes.Buffer
		if err := Write(&b, []*result.Saved{s}); err == nil || !strings.Contains(err.Error(), want) ||
			b.Len() > 0 {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
