package peak

import (
	"errors"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// What a trial left behind on a cluster is told, though the search goes on.
func TestWhatATrialLeftBehindIsTold(t *testing.T) {
	folder, err := Folders.Create(t.TempDir(), &Saved{Trials: make([]Trial, 1)}, "peak")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	f := &finder{Options: Options{Job: &bench.Job{Workload: &workload.Workload{}}, Watch: untold{}},
		search: disproved(t), folder: folder, saved: folder.Saved, runs: map[int]*result.Saved{}}
	left := &bench.Leftover{Err: errors.New("delete the run's topics: no answer")}
	run := &result.Saved{Run: result.Run{State: result.Complete}}
	if err := f.Take(t.Context(), experiment.Outcome{Run: run, Err: left}); err != nil {
		t.Fatal(err)
	}
	if len(f.saved.Trials) != 2 || !errors.Is(f.remains, left) {
		t.Errorf("%d trials, told: %v", len(f.saved.Trials), f.remains)
	}
}

type untold struct{ Watch }

func (untold) TrialEnded(*Saved) {}
