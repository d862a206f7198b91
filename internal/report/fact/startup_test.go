package fact

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

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
