package command

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The next commands name the two targets with the lowest publish p99, of those that carried the load
// and kept their promises, and repeat the load.
func TestTheNextCommandsNameTheBestTargets(t *testing.T) {
	run := func(name string, p99 int64, verdicts ...string) *result.Saved {
		r := result.Run{Name: name, State: result.Complete}
		r.Counters = result.Counters{Scheduled: 10, Acked: 10}
		r.Summary.Latency = []result.Latency{{Series: result.Publish, Count: 1000,
			Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: p99}}}}
		for _, v := range verdicts {
			r.Verdicts = append(r.Verdicts, result.Verdict{Name: v,
				Outcome: result.Broken, Sentence: "cold: it changed"})
		}
		return &result.Saved{Run: r}
	}
	rate, size, level, clients, nodes := "5k/s", "1KB..2KB", 1, "latency", 3
	c := &chooseCommand{}
	c.Workload, c.Rate, c.Size, c.Durability = "default", &rate, &size, &level
	c.Clients, c.Nodes = &clients, &nodes
	c.named = map[string]string{"b": "my target.yaml", "e": "e"}
	limited := run("limited", 1)
	limited.Run.Summary.Generator.Limited = true
	bad := []*result.Saved{run("lossy", 1, verdict.Loss), run("slow", 1, verdict.Rate),
		run("cold", 1, verdict.Steady), limited}
	weaker := run("weaker", 1)
	weaker.Run.Asked.Weaker = "level 1 is more than it can give"
	bad = append(bad, weaker)
	// One run of a is the best of all; the one in the middle counts.
	got := c.next(append(bad, run("a", 5e6), run("a", 1000), run("a", 6e6), run("b", 1e6),
		run("e", 3e6)))
	const load = " -t 'my target.yaml' -t e --durability 1 --rate 5k/s --clients latency " +
		"--nodes 3 --size 1KB..2KB"
	for _, want := range []string{"plimsoll verify" + load, "plimsoll peak" + load} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if got := c.next(bad); !strings.HasPrefix(got, "next: no run can be ranked") {
		t.Errorf("%q", got)
	}
}
