package process

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Only plimsoll's own threads run in short slices: servers have what they would have without it.
func TestServersHaveUsualSlices(t *testing.T) {
	usual, err := unix.SchedGetAttr(0, 0)
	if err != nil || usual.Runtime == 0 {
		t.Skip("NOT TESTED: needs Linux 6.12, whose threads may ask for slices")
	}
	t.Cleanup(clock.ShortSlices())
	for _, name := range []string{"first", "second"} {
		s, err := Start(sleeper(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Kill() })
		attr, err := unix.SchedGetAttr(s.PID(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if attr.Runtime != usual.Runtime {
			t.Errorf("%s has slices of %d ns, want %d", name, attr.Runtime, usual.Runtime)
		}
		clock.ShortSlices() // of every thread, also the one that starts servers
	}
}
