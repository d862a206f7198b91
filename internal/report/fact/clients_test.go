package fact

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

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
