package omb

import (
	"encoding/json"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// OMB's percentiles leave out messages without an answer. The export keeps that
// meaning under OMB's keys, and gives the bounds under its own, never as figures.
func TestExportTellsBoundsFromFigures(t *testing.T) {
	s := measured(t, 25)
	for i, l := range s.Run.Summary.Latency {
		if l.Series != result.Send {
			continue
		}
		waited := result.NewHistogram()
		_ = waited.RecordValues(30e9, l.Count/50)
		s.Run.Summary.Latency[i] = result.Censored(result.Send, s.Total(result.Send), waited,
			result.Missing{Unanswered: l.Count / 50, Refused: l.Count / 500}, 0, 0)
	}
	raw := exported(t, s)
	var got struct {
		P99      float64        `json:"aggregatedPublishLatency99pct"`
		Censored map[string]any `json:"plimsollPublishLatencyCensored"`
		EndToEnd map[string]any `json:"plimsollEndToEndLatencyCensored"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if want := float64(s.Total(result.Send).ValueAtPercentile(99)) / millisecond; got.P99 != want {
		t.Errorf("p99 of the messages answered is %v ms, want %v", got.P99, want)
	}
	if got.Censored["99pctBound"] != "at_least" || got.Censored["99pct"].(float64) < 29_000 ||
		got.Censored["999pctBound"] != "not_reached" {
		t.Errorf("with the others it is %v", got.Censored)
	}
	if _, has := got.Censored["999pct"]; has || got.EndToEnd != nil {
		t.Error("what is not reached has a figure, or a series without missing messages has bounds")
	}
	if _, err := ParseResult("x.json", raw); err != nil {
		t.Errorf("the export does not read back: %v", err)
	}
}
