package measure

import (
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
			Values: []int64{}, Counts: []int64{}}
		place := -1
		for _, step := range rapid.SliceOfN(rapid.IntRange(1, 1000), 0, 30).Draw(t, "steps") {
			place += step
			h.Values = append(h.Values, leastAt(place))
			h.Counts = append(h.Counts, int64(step)<<20)
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
	h, _ := Histogram{Series: result.Publish, Values: []int64{1}, Counts: []int64{2}}.MarshalBinary()
	f.Add(h)
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
