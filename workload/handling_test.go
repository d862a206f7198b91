package workload

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const handled = "{load: {rate: 100/s}, consumers: 4, handling: "

func TestHandlingTimes(t *testing.T) {
	for text, mean := range map[string]time.Duration{
		"5ms": 5 * time.Millisecond, "exponential 5ms": 5 * time.Millisecond,
		"90% 1ms + 10% 20ms": 2900 * time.Microsecond,
	} {
		w, err := Parse("w.yaml", []byte(handled+"{time: "+text+", fails: 5%}}"))
		if err != nil {
			t.Fatal(err)
		}
		readsBack(t, w)
		if got := w.Handling.Time.String(); got != text || w.Record().Handling.Time != text ||
			w.Record().Handling.Fails != 0.05 || w.Handling.Time.mean() != mean {
			t.Errorf("%s: %q, %+v", text, got, w.Record().Handling)
		}
		const n = 200_000
		random, sum := rand.New(rand.NewPCG(1, 2)), 0.0
		for range n {
			sum += float64(w.Handling.Time.At(random.Uint64()))
		}
		if off := sum/n/float64(mean) - 1; math.Abs(off) > 0.02 {
			t.Errorf("%s: the mean of %d times is off by %.3f", text, n, off)
		}
	}
}

func TestWrongHandlingIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{time: 11s}":                         "must be from 0 to 10s",
		"{time: 1h + 2h}":                     "a share and a value",
		"{time: 50% 1ms + 40% 2ms}":           "add up to 90%",
		"{time: 0ms}":                         "takes no time",
		"{time: soon}":                        "soon",
		"{time: exponential}":                 "exponential",
		"{time: 50ms}":                        "handle 80/s, and the load is 100/s",
		"{time: 39ms, fails: 10%}":            "lower the rate, or add consumers",
		"{fails: 60%}":                        "from 0% to 50%",
		"{fails: 1%}, delivery: at_most_once": "delivery: at_least_once",
		"{fails: 1%}, backlog: {for: 10s}":    "without a backlog",
	} {
		_, err := Parse("w.yaml", []byte(handled+text+"}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzHandlingTime(f *testing.F) {
	f.Add("90% 1ms + 10% 20ms")
	f.Add("exponential 5ms")
	f.Fuzz(func(t *testing.T, text string) {
		w := Default()
		w.SetRate(1)
		if (&handlingTime{&w.Handling.Time}).UnmarshalText([]byte(text)) != nil ||
			w.Validate() != nil {
			return
		}
		for _, random := range []uint64{0, 1 << 63, math.MaxUint64} {
			if d := w.Handling.Time.At(random); d < 0 || d > MaxHandling {
				t.Errorf("%q takes %s", text, d)
			}
		}
		readsBack(t, w)
	})
}
