package fleet

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Workers divide classes with topics of their own as one process has them: each class has its
// messages, and what it lost.
func TestManyWorkersDivideTopicsOfClasses(t *testing.T) {
	t.Parallel()
	planted := target.Setting{Name: "lose_per_million", Value: "5000"}
	w, err := workload.Parse("w.yaml", []byte("{producers: 2, consumers: 2, warmup: 0s, "+
		"duration: 1s, durability: 4, load: {rate: 2k/s}, classes: [{name: order, share: 20%, "+
		"size: 1KB, topics: 2, partitions: 6}, {name: event, share: 80%, size: 100B, topics: 3}]}"))
	if err != nil {
		t.Fatal(err)
	}
	alone := jobOn(t, newCommon(), time.Second, planted)
	alone.Workload = w
	want, err := ran(t, alone)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 3} {
		of := newCommon()
		c, _ := fleetOf(t, of, workers)
		job := jobOn(t, of, time.Second, planted)
		job.Workload, job.Crew = w, c
		got, err := ran(t, job)
		if err != nil {
			t.Fatal(err)
		}
		same(t, workers, &got.Run, &want.Run)
		if len(got.Run.Classes) != 2 {
			t.Fatalf("%+v", got.Run.Classes)
		}
		// Which messages the system loses depends on the order in which they come.
		lost := int64(0)
		for i, c := range got.Run.Classes {
			if lost += c.Lost + c.Unread; c.Acked != []int64{400, 1600}[i] {
				t.Errorf("%d workers: %+v", workers, c)
			}
		}
		if all := got.Run.Ledger.Total(); lost != all.Lost+all.Unread {
			t.Errorf("%d workers: the classes lost %d, and the run %+v", workers, lost, all)
		}
		for _, one := range got.Run.Workers {
			if one.Scheduled == 0 || one.Received == 0 {
				t.Errorf("worker %s had nothing to do: %+v", one.Name, one)
			}
		}
		// A gauge sends the mixture of the classes: a closed loop has none.
		if rate, err := bench.Gauge(t.Context(), job, time.Second, silent{}); err != nil ||
			rate < 1000 {
			t.Errorf("%d workers gauge %v/s: %v", workers, rate, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
