package command

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Jobs on the same endpoints share one warm-up, whatever their targets are called. Servers that
// plimsoll starts, and simulated ones, are those of their own run.
func TestJobsOnTheSameEndpointsAreWarmedOnce(t *testing.T) {
	auto := "auto"
	f := &warmed{Warm: &auto}
	var jobs []*bench.Job
	for _, to := range []*target.Target{
		{Name: "a", System: "nats", Endpoints: []string{"127.0.0.1:1", "127.0.0.1:2"}},
		{Name: "b", System: "nats", Endpoints: []string{"127.0.0.1:1", "127.0.0.1:2"}},
		{Name: "c", System: "nats", Endpoints: []string{"127.0.0.1:3"}},
		{Name: "d", System: "nats", Testbed: target.Testbed{Nodes: 3}},
		{Name: "e", System: "sim"},
	} {
		job, err := newJob(workload.Default(), to, t.TempDir(), 0)
		if err != nil {
			t.Fatal(err)
		}
		// As the cells of a sweep are.
		if err := f.warm([]*bench.Job{job}); err != nil {
			t.Fatal(err)
		}
		if !job.WarmUp.Auto {
			t.Errorf("%s is not warmed up", to.Name)
		}
		jobs = append(jobs, job)
	}
	at := func(i int) *bench.Warmth { return jobs[i].Warmth }
	if at(0) == nil || at(0) != at(1) || at(2) == nil || at(2) == at(0) || at(3) != nil ||
		at(4) != nil {
		t.Errorf("%p, %p, %p, %p, %p", at(0), at(1), at(2), at(3), at(4))
	}
	// Without the flag, servers that run already are not warmed up.
	jobs[0].WarmUp = bench.WarmUp{}
	if err := (&warmed{}).warm(jobs[:1]); err != nil || jobs[0].WarmUp != (bench.WarmUp{}) {
		t.Errorf("%+v, %v", jobs[0].WarmUp, err)
	}
}
