package latency

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Each series is of messages that something else happened to.
func TestWordsForMessagesThatHaveALatency(t *testing.T) {
	for series, want := range map[result.Series]string{
		result.Publish: "of the messages answered", result.EndToEnd: "of the messages received",
		result.Redelivered: "of the messages delivered again",
		result.Lag:         "of the messages handed over",
	} {
		if got := AnsweredWords(series); got != want {
			t.Errorf("%s: %q", series, got)
		}
	}
}

// A latency has beside it how long a setting makes it on purpose. End-to-end latency includes what
// publish latency includes.
func TestWaitsAreNamedBesideTheLatency(t *testing.T) {
	linger := result.Wait{Series: result.Publish, MostNs: 5e6, Setting: "linger",
		Sentence: "the client waits up to 5ms for more messages (linger)"}
	fetch := result.Wait{Series: result.EndToEnd, MostNs: 2e7, Setting: "poll",
		Sentence: "an idle consumer asks again after up to 20ms (poll)"}
	acks := result.Wait{MostNs: 1e8, Setting: "ack_delay",
		Sentence: "handled messages wait up to 100ms to be acknowledged together (ack_delay)"}
	p50 := result.Latency{Series: result.Publish, Count: 1000,
		Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 5_010_000}}}
	for _, c := range []struct {
		waits   []result.Wait
		latency []result.Latency
		want    []string
	}{
		{nil, []result.Latency{p50}, nil},
		{[]result.Wait{linger}, []result.Latency{p50}, []string{
			"publish p50 5.01ms, of which the client waits up to 5ms for more messages (linger)"}},
		{[]result.Wait{linger, fetch, acks}, nil, []string{
			"publish latency, of which the client waits up to 5ms for more messages (linger)",
			"end-to-end latency, of which the client waits up to 5ms for more messages (linger), " +
				"and an idle consumer asks again after up to 20ms (poll)",
			"handled messages wait up to 100ms to be acknowledged together (ack_delay), which no " +
				"latency includes"}},
	} {
		r := &result.Run{System: result.System{Waits: c.waits},
			Summary: result.Summary{Latency: c.latency}}
		if got := Waits(r); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// An interval without an upper end once read as one that ends in a negative time.
func TestAnIntervalWithoutAnEndIsAbsent(t *testing.T) {
	for high, want := range map[float64]bool{
		2e9: true, math.Inf(1): false, math.NaN(): false, 1e300: false,
	} {
		span, bounded := spanOf(1e9, high)
		if bounded != want || bounded && span != (SureSpan{1e9, 2e9}) {
			t.Errorf("1s to %v ns: %v, %v", high, span, bounded)
		}
	}
}
