package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// Work rests when it has run for long enough, and not before.
func TestAsideRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Aside
		began := time.Now()
		a.Step()
		time.Sleep(asideNs - 1)
		a.Step()
		if rested := time.Since(began) - (asideNs - 1); rested != 0 {
			t.Fatalf("rested for %v after less work than is to run in one go", rested)
		}
		time.Sleep(time.Nanosecond)
		for range 3 {
			a.Step() // one rest, and no more without more work
		}
		if rested := time.Since(began) - asideNs; rested != asideRest {
			t.Fatalf("rested for %v, want %v", rested, asideRest)
		}
		for range 2 * mostRests {
			time.Sleep(asideNs)
			a.Step()
		}
		rested := time.Since(began) - (1+2*mostRests)*asideNs
		if rested != mostRests*asideRest {
			t.Fatalf("rested for %v, want at most %v", rested, mostRests*asideRest)
		}
	})
}
