package result

import (
	"reflect"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The rate of catching up is that of reading, not of the time until the first message.
func TestTheRateOfCatchingUp(t *testing.T) {
	if got := (&Return{ReadMessages: 600, ReadNs: 2e9}).Rate(); got != 300 {
		t.Errorf("%v/s while catching up", got)
	}
	if got := (&Return{ReadMessages: 600}).Rate(); got != 0 {
		t.Errorf("%v/s in no time", got)
	}
}

// The use of resources adds up over the window, figure by figure; memory is the greatest, and a
// pressure the mean.
func TestEveryResourceAddsUp(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	share := func(v float64) *float64 { return &v }
	var o Observation
	for i := range int64(2) {
		by := 1 + 9*i // 1 and 10
		o.Add(Resources{StartNs: i * 1e9, EndNs: (i + 1) * 1e9,
			Host: HostUse{CPUSeconds: float64(by), ServersCPUSeconds: float64(2 * by),
				IOWaitSeconds: float64(3 * by), StealSeconds: float64(4 * by),
				PressureCPU: share(0.1 * float64(by)), PressureIO: share(0.2), PressureMemory: nil,
				PageCacheBytes: 5 * by, DirtyBytes: 6 * by, LoopbackBytes: n(7 * by)},
			Disks: []DiskUse{{Name: "d", ReadBytes: by, WriteBytes: 2 * by, Reads: 3 * by,
				Writes: 4 * by, Utilization: 0.1 * float64(by)}},
			Processes: []ProcessUse{{Name: "n1", PID: int(by), CPUSeconds: float64(by),
				RSSBytes: 2 * by, ReadBytes: n(3 * by), WriteBytes: n(4 * by), Syncs: n(5 * by),
				MapSyncs: n(6 * by), NetReceivedBytes: n(7 * by), NetSentBytes: n(8 * by)}}})
	}
	if h, want := o.Host, (HostUse{CPUSeconds: 11, ServersCPUSeconds: 22, IOWaitSeconds: 33,
		StealSeconds: 44, PressureCPU: share(0.55), PressureIO: share(0.2), PageCacheBytes: 50,
		DirtyBytes: 60, LoopbackBytes: n(77)}); !reflect.DeepEqual(h, want) {
		t.Errorf("%+v, want %+v", h, want)
	}
	if d := o.Disks[0]; d != (DiskUse{Name: "d", ReadBytes: 11, WriteBytes: 22, Reads: 33,
		Writes: 44, Utilization: 0.55}) {
		t.Errorf("%+v", d)
	}
	if p, want := o.Processes[0], (ProcessUse{Name: "n1", PID: 10, CPUSeconds: 11, RSSBytes: 20,
		ReadBytes: n(33), WriteBytes: n(44), Syncs: n(55), MapSyncs: n(66),
		NetReceivedBytes: n(77), NetSentBytes: n(88)}); !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// The p95 of a minute leaves out the slowest twentieth of its messages, and no more.
func TestAMinuteHasItsP95(t *testing.T) {
	var m MinuteTally
	m.Add(Send, 1e9, func(into *hdr.Histogram) {
		_ = into.RecordValues(1e6, 94)
		_ = into.RecordValues(2e6, 2)
		_ = into.RecordValues(9e6, 4)
	})
	if got := m.Minutes(60e9)[0].SendP95Ns; got < 1.99e6 || got > 2.01e6 {
		t.Errorf("p95 is %d ns, want 2 ms", got)
	}
}

// Rates of an open loop are of what was due in the window.
func TestARateIsTheWindowsOwn(t *testing.T) {
	open, closed := Load{}, Load{Closed: &Closed{}}
	for _, c := range []struct {
		l                   Load
		answered, due, want float64
	}{{open, 90, 100, 90}, {open, 110, 100, 100}, {closed, 110, 100, 110}} {
		if got := c.l.Own(c.answered, c.due); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.answered, c.due, got, c.want)
		}
	}
}

// Separate CPUs are known only where the load has some.
func TestOwnCPUs(t *testing.T) {
	for name, c := range map[string]struct {
		apart         *Apart
		servers, load int
	}{
		"not apart":         {nil, 0, 0},
		"none for the load": {&Apart{Servers: []int{0}}, 0, 0},
		"two and one":       {&Apart{Servers: []int{0, 1}, Load: []int{2}}, 2, 1},
	} {
		if servers, load := (Environment{Apart: c.apart}).OwnCPUs(); servers != c.servers ||
			load != c.load {
			t.Errorf("%s: %d and %d", name, servers, load)
		}
	}
}
