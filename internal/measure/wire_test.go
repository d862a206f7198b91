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
			h.Packed = h.Packed.with(gap, int64(gap+1)<<rapid.IntRange(0, 27).Draw(t, "bits"))
		}
		all := Histograms{h, {Series: result.Send, Packed: packed{}.with(1, 1)}, h}
		if b, err = all.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
		var again Histograms
		if err := again.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(again, all) {
			t.Fatalf("%v: %v became %v", err, all, again)
		}
		for i := range b {
			b[i] = 0xff // what was read does not change with it
		}
		if !reflect.DeepEqual(again, all) {
			t.Fatalf("%v became %v", all, again)
		}
	})
}

// Buckets that are read eight at a time are those that are read one by one, and a bucket without a
// count is noticed wherever it is.
func TestEightBucketsAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p packed
		var ends []int // of the buckets with a single byte for their count
		want, place := map[int]int64{}, -1
		for range rapid.IntRange(1, 100).Draw(t, "buckets") {
			gap := max(0, rapid.IntRange(-20, 2).Draw(t, "gap"))
			n := int64(max(1, rapid.IntRange(-200, 70).Draw(t, "count")))
			place += gap + 1
			p, want[place] = p.with(gap, n), 2*n
			if n < 64 {
				ends = append(ends, len(p))
			}
		}
		if !p.check() {
			t.Fatalf("%v is refused", p)
		}
		var sums buckets
		sums.add(p)
		sums.add(p)
		if sums.to != place+1 {
			t.Fatalf("the buckets end at %d, want %d", sums.to, place+1)
		}
		for i, n := range sums.counts {
			if n != want[i] {
				t.Fatalf("place %d has %d, want %d", i, n, want[i])
			}
		}
		if len(ends) == 0 {
			return
		}
		at := ends[rapid.IntRange(0, len(ends)-1).Draw(t, "the empty one")] - 1
		if p[at] = 0; p.check() {
			t.Fatalf("%v is not refused", p)
		}
	})
}

// What the log gets are the buckets of the histogram.
func TestLogged(t *testing.T) {
	h := Histogram{Series: result.Publish, Packed: packed{}.with(5, 1).with(0, 2).with(7, 300)}
	l := h.Logged("publish", 1, 2)
	var got []int64
	l.Buckets(func(gap int, n int64) { got = append(got, int64(gap), n) })
	if want := []int64{5, 1, 0, 2, 7, 300}; !reflect.DeepEqual(got, want) || l.MaxNs != 14 ||
		h.Empty() || !(Histogram{}).Empty() {
		t.Errorf("%v up to %d", got, l.MaxNs)
	}
}

// Whatever comes is refused, or can be merged.
func FuzzWire(f *testing.F) {
	var numbers Numbers
	numbers.Add(5)
	set, _ := numbers.Set().MarshalBinary()
	f.Add(set)
	for _, p := range []packed{packed{}.with(1, 2), packed{}.with(0, 100).with(0, 1), {0}, {1, 0},
		packed{}.with(lastPlace, 1), packed{}.with(lastPlace+1, 1), packed{}.with(0, -1)} {
		h, _ := Histograms{{Series: result.Publish, Packed: p}}.MarshalBinary()
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Set
		if s.UnmarshalBinary(b) == nil {
			s.Union(s)
		}
		var all Histograms
		if all.UnmarshalBinary(b) == nil {
			NewCells(result.Publish).Add(MergeHistograms(all, all))
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
	wire, err := Histograms{drawBuckets()}.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	var all Histograms
	var sums buckets
	buckets := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := all.UnmarshalBinary(wire); err != nil {
			b.Fatal(err)
		}
		sums.add(all[0].Packed)
	}
	all[0].Packed.each(func(int64, int64) { buckets++ })
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*buckets), "ns/bucket")
	b.ReportMetric(float64(len(wire))/float64(buckets), "B/bucket")
}
