package result

import (
	"bytes"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// The encoder writes each histogram as the library does, also after others.
func TestLogIsThatOfTheLibrary(t *testing.T) {
	const baseMs = 1_700_000_000_123
	encoder := newLogEncoder(baseMs)
	rapid.Check(t, func(t *rapid.T) {
		h := NewHistogram()
		for range rapid.IntRange(1, 60).Draw(t, "values") {
			ns := rapid.Int64Range(0, 1<<rapid.IntRange(0, 41).Draw(t, "bits")).Draw(t, "ns")
			n := rapid.Int64Range(1, 1<<rapid.IntRange(0, 55).Draw(t, "count bits")).Draw(t, "count")
			if err := h.RecordValues(ns, n); err != nil {
				t.Fatal(err)
			}
		}
		h.SetTag(rapid.SampledFrom([]string{"", "publish"}).Draw(t, "tag"))
		h.SetStartTimeMs(baseMs + rapid.Int64Range(0, 1e7).Draw(t, "start"))
		h.SetEndTimeMs(h.StartTimeMs() + rapid.Int64Range(1, 1e5).Draw(t, "length"))
		var got, want bytes.Buffer
		library := hdr.NewHistogramLogWriter(&want)
		library.SetBaseTime(baseMs)
		if err := library.OutputIntervalHistogram(h); err != nil {
			t.Fatal(err)
		}
		for _, l := range LoggedOf([]*hdr.Histogram{NewHistogram(), h}) {
			if err := encoder.line(&got, l); err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != want.String() {
			t.Fatalf("%s, and the library writes %s", &got, &want)
		}
	})
}
