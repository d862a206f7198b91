package verdict

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A limit of CPU that throttled a worker for more than a hundredth of the window is the limit of
// the run. Less is reported and changes no verdict.
func TestThrottlingIsTheGeneratorsLimit(t *testing.T) {
	window := good().Summary.WindowNs
	workers := func(ns int64) []result.Worker {
		return []result.Worker{{Name: "w0", Host: "a", CPULimitCores: 2, ThrottledNs: 1},
			{Name: "w1", Host: "b", CPULimitCores: 0.2, ThrottledNs: ns}}
	}
	for _, c := range []struct {
		name    string
		ns      int64
		workers []result.Worker
		outcome string
		words   string
	}{
		{"not throttled", 0, nil, result.Holds, "kept up"},
		{"a little", window / 100, nil, result.Holds, "of plimsoll for"},
		{"one process", window/100 + 1, nil, result.Broken,
			"0.5 cores of CPU delayed threads of plimsoll"},
		{"a worker, a little", 0, workers(window / 100), result.Holds, "worker w1 on b"},
		{"a worker", 0, workers(window / 2), result.Broken,
			"was the limit: the limit of 0.2 cores of CPU delayed threads of worker w1 on b for"},
		{"many workers, each a little", window / 10, workers(2), result.Holds, "w1 on b for 2ns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			r.Summary.Generator.CPULimitCores, r.Summary.Generator.ThrottledNs = 0.5, c.ns
			r.Workers = c.workers
			v := generator(r)
			if v.Outcome != c.outcome || !strings.Contains(v.Sentence, c.words) {
				t.Errorf("%s: %s; want %s with %q", v.Outcome, v.Sentence, c.outcome, c.words)
			}
		})
	}
}
