package load

import (
	"runtime"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// A load has places for the watcher and for servers in this process, and short slices unless
// servers share its cores. Both end with it.
func TestMakeRoom(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	places, usual := runtime.GOMAXPROCS(0), clock.Precise().Name()
	undo := clock.ShortSlices()
	short := clock.Precise().Name()
	undo()
	if short == usual {
		t.Log("NOT TESTED: short slices, which this machine does not have")
	}
	for _, shared := range []bool{false, true} {
		undo := MakeRoom(2, shared)
		if got, want := runtime.GOMAXPROCS(0), runtime.NumCPU()+3; got != want {
			t.Errorf("%d places, want %d", got, want)
		}
		want := short
		if shared {
			want = usual
		}
		if name := clock.Precise().Name(); name != want {
			t.Errorf("with shared cores %t the clock is called %q, want %q", shared, name, want)
		}
		undo()
		if got := runtime.GOMAXPROCS(0); got != places {
			t.Errorf("%d places afterwards, want %d", got, places)
		}
		if name := clock.Precise().Name(); name != usual {
			t.Errorf("the clock is called %q afterwards", name)
		}
	}
}

func TestSharesMachine(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"127.0.9.1:9092": true, "localhost:4222": true, "[::1]:5672": true,
		"amqp://guest@127.0.0.1:5672": true, "http://localhost:9324": true,
		"10.0.0.7:9092": false, "broker-1:9092": false, "https://sqs.eu-west-1.example": false,
	} {
		if got := SharesMachine([]string{"broker-2:1", endpoint}); got != want {
			t.Errorf("%s: %t, want %t", endpoint, got, want)
		}
	}
	if SharesMachine(nil) {
		t.Error("no endpoint is on this machine")
	}
}
