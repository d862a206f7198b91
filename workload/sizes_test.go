package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sized(t *testing.T, size string) *Workload {
	t.Helper()
	w, err := Parse("w.yaml", []byte("message: {size: "+size+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// drawnSizes are sizes of a message, in ascending order.
func drawnSizes(m Message, n int) []int64 {
	table, random := m.Table(), rand.New(rand.NewPCG(1, 2))
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = table.At(random.Uint64(), random.Uint64())
	}
	slices.Sort(sizes)
	return sizes
}

func TestSizesAreDrawnFromTheirDistribution(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		size        string
		mean        float64
		at          map[float64]int64 // quantiles, within 2 percent
		least, most int64
	}{
		{"100B..300B", 200, map[float64]int64{0.25: 150, 0.75: 250}, 100, 300},
		{"80% 1KB + 20% 64KB", 0.8*1024 + 0.2*65536,
			map[float64]int64{0.1: 1024, 0.79: 1024, 0.81: 65536}, 1024, 65536},
		{"0.1% 1MB + 99.9% 100B..1000B", 0.001*(1<<20) + 0.999*550,
			map[float64]int64{0.5: 550, 0.9995: 1 << 20}, 100, 1 << 20},
		{"lognormal p50 1KB p99 64KB max 1MB", 0,
			map[float64]int64{0.5: 1024, 0.99: 65536}, 32, 1 << 20},
	} {
		t.Run(c.size, func(t *testing.T) {
			w := sized(t, c.size)
			sizes := drawnSizes(w.Message, n)
			sum, squares := 0.0, 0.0
			for _, s := range sizes {
				sum += float64(s)
				squares += float64(s) * float64(s)
			}
			mean, deviation := w.Message.Mean(), math.Sqrt(squares/n-sum*sum/n/n)
			if c.mean != 0 && math.Abs(mean-c.mean) > 1e-6*c.mean {
				t.Errorf("mean %v, want %v", mean, c.mean)
			}
			if math.Abs(sum/n-mean) > 4*deviation/math.Sqrt(n) {
				t.Errorf("the mean of what is drawn is %v, and the mean %v", sum/n, mean)
			}
			for q, want := range c.at {
				if got := sizes[int(q*n)]; math.Abs(float64(got-want)) > 0.03*float64(want) {
					t.Errorf("quantile %v is %d, want %d", q, got, want)
				}
			}
			if sizes[0] < c.least || sizes[n-1] > c.most || w.Message.Largest() != c.most {
				t.Errorf("drawn from %d to %d, largest %d", sizes[0], sizes[n-1],
					w.Message.Largest())
			}
			if got := w.Values()["message.size"]; got != c.size &&
				!strings.HasPrefix(c.size, "0.1%") {
				t.Errorf("printed as %q", got)
			}
			readsBack(t, w)
			var l = w.Record()
			if l.MessageBytes != int64(math.Round(mean)) || l.MessageSizes == "" {
				t.Errorf("recorded as %d, %q", l.MessageBytes, l.MessageSizes)
			}
		})
	}
}

func TestWrongSizesAreRefused(t *testing.T) {
	for size, want := range map[string]string{
		"80% 1KB + 30% 2KB":                   "add up to 110%",
		"0% 1KB + 100% 2KB":                   "share of 0",
		"80% 1KB + 2KB":                       "where a share and a value are expected",
		"50%":                                 "where a share and a value are expected",
		"120% 1KB + 1% 2KB":                   "more than the whole",
		"2KB..1KB":                            "write 1KB..2KB",
		"16B..1KB":                            "at least 32B",
		"1KB..65MB":                           "at most 64MB",
		"1KB..2KB..3KB":                       "is not a size",
		"lognormal 1KB":                       "without p50, p99 and max",
		"lognormal p50 1KB p50 2KB max 1MB":   `"p50" where`,
		"lognormal p50 2KB p99 1KB max 1MB":   "p50 below p99",
		"lognormal p50 1KB p99 2MB max 1MB":   "p99 at most max",
		"lognormal p50 1KB p99 2XB max 1MB":   "is not a size",
		strings.Repeat("1% 1KB + ", 99) + "1": "keep it to 64",
	} {
		_, err := Parse("w.yaml", []byte("message: {size: "+size+"}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", size, err, want)
		}
	}
}

// A table draws only sizes of its distribution, for any random numbers.
func TestEverySizeIsOfItsDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Sizes
		left := 100
		for left > 0 {
			share := rapid.IntRange(1, left).Draw(t, "percent")
			left -= share
			least := rapid.Int64Range(StampBytes, 1000).Draw(t, "least")
			s.Parts = append(s.Parts, SizePart{float64(share) / 100, least,
				rapid.Int64Range(least, 2000).Draw(t, "most")})
		}
		m := Message{Sizes: &s}
		first := rapid.SampledFrom([]uint64{0, 1, math.MaxUint64,
			rapid.Uint64().Draw(t, "any")}).Draw(t, "first")
		size := m.Table().At(first, rapid.Uint64().Draw(t, "second"))
		if !slices.ContainsFunc(s.Parts, func(p SizePart) bool {
			return size >= p.Least && size <= p.Most
		}) {
			t.Fatalf("%v draws %d", &s, size)
		}
	})
}

func FuzzSizes(f *testing.F) {
	f.Add("80% 1KB + 20% 1KB..64KB")
	f.Add("lognormal p50 1KB p99 64KB max 1MB")
	f.Fuzz(func(t *testing.T, text string) {
		w := Default()
		if (&messageSize{&w.Message}).UnmarshalText([]byte(text)) != nil || w.Validate() != nil {
			return
		}
		if w.Message.Sizes != nil {
			for _, random := range []uint64{0, 1 << 63, math.MaxUint64} {
				if s := w.Message.Table().At(random, random); s < StampBytes ||
					s > w.Message.Largest() {
					t.Errorf("%q draws %d", text, s)
				}
			}
		}
		readsBack(t, w)
	})
}
