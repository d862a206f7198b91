package measure

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/result"
)

// What is encoded is read as it was.
func TestOverTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var numbers Numbers
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, 20*PageBits)).Draw(t, "numbers") {
			numbers.Add(n)
		}
		for n := range rapid.Int64Range(0, 3*PageBits).Draw(t, "without gaps") {
			numbers.Add(n)
		}
		set := numbers.Set()
		b, err := set.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var read Set
		if err := read.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(read, set) {
			t.Fatalf("%v: %v became %v", err, set, read)
		}
		h := Histogram{Series: result.Publish, Phase: Measured, Clamped: 1, Negative: 2,
			Packed: packed{}}
		for _, gap := range rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 30).Draw(t, "gaps") {
			h.Packed = h.Packed.with(gap, int64(gap+1)<<rapid.IntRange(0, 50).Draw(t, "bits"))
		}
		if b, err = h.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
		var again Histogram
		if err := again.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(again, h) {
			t.Fatalf("%v: %v became %v", err, h, again)
		}
	})
}

// Whatever comes is refused, or can be merged.
func FuzzWire(f *testing.F) {
	var numbers Numbers
	numbers.Add(5)
	set, _ := numbers.Set().MarshalBinary()
	f.Add(set)
	for _, p := range []packed{packed{}.with(1, 2), packed{}.with(0, 100).with(0, 1), {0}, {1, 0},
		packed{}.with(lastPlace, 1), packed{}.with(lastPlace+1, 1), packed{}.with(0, -1)} {
		h, _ := Histogram{Series: result.Publish, Packed: p}.MarshalBinary()
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Set
		if s.UnmarshalBinary(b) == nil {
			s.Union(s)
		}
		var h Histogram
		if h.UnmarshalBinary(b) == nil {
			NewCells(h.Series).Add(MergeHistograms([]Histogram{h}, []Histogram{h}))
		}
	})
}

// drawBuckets returns what an interval of a busy series has: a crowded middle and scattered ends.
func drawBuckets() Histogram {
	rng := rand.New(rand.NewPCG(1, 2))
	r := NewRecorder(result.Publish)
	for range 40_000 {
		r.Add(0, Measured, int64(1e6*math.Exp(0.25*rng.NormFloat64())))
	}
	all, _ := r.Collect(NewLive(result.Publish))
	return all[0]
}

// BenchmarkPacked reads histograms from the wire and adds them up, as a coordinator does.
func BenchmarkPacked(b *testing.B) {
	wire, err := drawBuckets().MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	var h Histogram
	var sums buckets
	buckets := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := h.UnmarshalBinary(wire); err != nil {
			b.Fatal(err)
		}
		sums.add(h.Packed)
	}
	h.Packed.each(func(int64, int64) { buckets++ })
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*buckets), "ns/bucket")
	b.ReportMetric(float64(len(wire))/float64(buckets), "B/bucket")
}
