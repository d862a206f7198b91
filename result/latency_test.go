package result

import (
	"math"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// A latency is printed within the three digits of the histograms, however short it
// is.
func TestShortLatenciesAreExact(t *testing.T) {
	for _, ns := range []int64{250, 511, 1_000, 1_500, 3_000, 7_777, 10_000, 99_999, 1_000_000,
		3e9} {
		h := NewHistogram()
		_ = h.RecordValues(ns, 1000)
		got, _ := Summarize(Publish, h, 0, 0).At(99)
		if off := math.Abs(float64(got-ns)) / float64(ns); off > 0.001 {
			t.Errorf("%d ns prints as %d ns, %.2f%% off", ns, got, off*100)
		}
	}
}

func TestHistogramBytes(t *testing.T) {
	if got := NewHistogram().ByteSize(); got > HistogramBytes+4<<10 || got < HistogramBytes*9/10 {
		t.Errorf("a histogram takes %d bytes, %d are reckoned with", got, HistogramBytes)
	}
}

func TestHistogramsOfAnotherRangeAreDamage(t *testing.T) {
	other := hdr.New(1, 1_000_000, 2)
	_ = other.RecordValue(5)
	raw, err := other.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	line := append([]byte("Tag=publish,0.000,1.000,0.000,"), raw...)
	if _, err := (&Saved{}).readHistogram(new(bounds))(line); err == nil {
		t.Error("a histogram of another range was taken")
	}
}
