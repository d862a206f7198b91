package bench

import (
	"runtime"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A crew that cannot share a workload evenly is refused with a sentence.
func TestCrewsThatAreRefused(t *testing.T) {
	for src, want := range map[string]string{
		"{topics: 3, producers: 1, consumers: 1}":     "",
		"{topics: 1, producers: 2, consumers: 2}":     "at most 2 for 2 producers and 2 consumers",
		"{existing_topics: [orders], producers: 9}":   "measure without --workers",
		"{topics: 1, producers: 1, subscriptions: 4}": "",
	} {
		w, err := workload.Parse("workload", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		job := &Job{Workload: w, System: struct{ system.System }{}}
		err = job.CheckCrew(3)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", src, err, want)
		}
	}
}

// noCrew is a crew of which only its presence counts.
type noCrew struct{ Crew }

// A process that offers no load itself makes no room for pacers.
func TestACoordinatorMakesNoRoom(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	s := &session{job: &Job{Crew: noCrew{}}}
	undo := s.makeRoom()
	if now := runtime.GOMAXPROCS(0); now != before {
		t.Errorf("GOMAXPROCS became %d, and was %d", now, before)
	}
	undo()
}
