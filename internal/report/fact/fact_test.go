package fact

import (
	"fmt"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestNamesAreDistinct(t *testing.T) {
	a, b := &result.Saved{}, &result.Saved{}
	a.Run.Name, b.Run.Name = "nats", "nats"
	if got := fmt.Sprint(Names([]*result.Saved{a, b})); got != "[nats #1 nats #2]" {
		t.Error(got)
	}
}

func TestOneCoreIsACore(t *testing.T) {
	for cores, want := range map[int]string{1: "EPYC, 1 core", 8: "EPYC, 8 cores"} {
		if got := Processors("EPYC", cores); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestOneIn(t *testing.T) {
	for p, want := range map[float64]string{0.6316: "64 in 100", 0.0495: "1 in 20",
		3.0 / 1000: "1 in 333", 2.9957e-6: "1 in 333,000", 1: "100 in 100"} {
		if got := OneIn(p); got != want {
			t.Errorf("OneIn(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestClientsSentence(t *testing.T) {
	linger := []result.Setting{{Group: "kafka", Name: "linger", Value: "0s"}}
	for want, c := range map[string]*result.Clients{
		"": nil,
		"latency (no client waits for more messages): linger 0s; a batch leaves at once": {
			Word: "latency", Meaning: "no client waits for more messages", Set: linger,
			How: "a batch leaves at once"},
		"latency (nothing waits); as the default; the target's own values hold instead: linger 0s": {
			Word: "latency", Meaning: "nothing waits", Kept: linger, How: "as the default"},
	} {
		if got := Clients(c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A warm-up that ended under another load than it began with says so beside its figures.
func TestWarming(t *testing.T) {
	w := &result.Warming{Ns: 20e9, Steady: true, P50FirstNs: 13e6, P50LastNs: 9e6}
	figures := *w
	figures.CPUFirstNs, figures.CPULastNs = 60e3, 50e3
	paced := figures
	paced.RateMsgsPerS = 2000
	for _, c := range []struct {
		w    *result.Warming
		want string
	}{
		{nil, ""},
		{w, "warmed for 20s until steady: publish p50 under this load went from 13ms to 9ms"},
		{&figures, "warmed for 20s until steady: the servers' CPU per message went from 60us to " +
			"50us, publish p50 under this load from 13ms to 9ms"},
		{&paced, "warmed for 20s until steady, as fast as they could and then at 2k/s: the servers' " +
			"CPU per message went from 60us to 50us, publish p50 from 13ms to 9ms"},
	} {
		if got := Warming(c.w); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
