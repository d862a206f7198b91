package observe

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// hostAt returns a host that reads saved files of a kernel.
func hostAt(t *testing.T, dir string) *host {
	t.Helper()
	proc, err := procfs.NewFS(filepath.Join(dir, "proc"))
	if err != nil {
		t.Fatal(err)
	}
	block, err := blockdevice.NewFS(filepath.Join(dir, "proc"), filepath.Join(dir, "sys"))
	if err != nil {
		t.Fatal(err)
	}
	return &host{proc: proc, block: block}
}

func TestHostUseIsTheDifferenceOfTwoReadings(t *testing.T) {
	var notes methods
	before := hostAt(t, "testdata/before").look(0, &notes)
	after := hostAt(t, "testdata/after").look(1_000_000_000, &notes)
	if len(notes) > 0 {
		t.Errorf("notes %q", notes)
	}
	share := func(f float64) *float64 { return &f }
	wantHost := result.HostUse{
		CPUSeconds: 1.5, IOWaitSeconds: 0.02, StealSeconds: 0.07,
		// A total that went back has restarted, so nothing is known.
		PressureCPU: share(0.25), PressureIO: share(0), PressureMemory: share(0),
		PageCacheBytes: 3_072_000, DirtyBytes: 716_800,
	}
	if diff := cmp.Diff(wantHost, after.use(before)); diff != "" {
		t.Error(diff)
	}
	ofServers := func(dir string) hostReading {
		h := hostAt(t, dir)
		h.own = []int{1}
		return h.look(0, &notes)
	}
	if use := ofServers("testdata/after").use(ofServers(
		"testdata/before")); use.ServersCPUSeconds != 0.8 || use.CPUSeconds != 1.5 {
		t.Errorf("%+v", use)
	}
	wantDisks := []result.DiskUse{
		{
			Name: "loop1", ReadBytes: 12_288, WriteBytes: 16_384, Reads: 3, Writes: 4,
			Utilization: 0.002,
		},
		{Name: "nvme0n1"}, // was replaced, so its counters restarted
		{Name: "sdz", ReadBytes: 1024, Reads: 1, Utilization: 0.001},
		{
			Name: "vda", ReadBytes: 32_768, WriteBytes: 102_400_000, Reads: 4, Writes: 700,
			Utilization: 0.65,
		},
	}
	if diff := cmp.Diff(wantDisks, after.diskUse(before)); diff != "" {
		t.Error(diff)
	}
}

func TestProcessUseIsTheDifferenceOfTwoReadings(t *testing.T) {
	var notes methods
	at := func(dir string) procfs.Proc {
		p, err := hostAt(t, dir).proc.Proc(4711)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := &process{
		Process: target.Process{Name: "n1", PID: 4711}, proc: at("testdata/before"),
	}
	if use, alive := p.read(&notes); !alive || use.ReadBytes != nil {
		t.Errorf("the first reading: %+v, %v", use, alive)
	}
	p.proc = at("testdata/after")
	got, alive := p.read(&notes)
	if !alive || len(notes) > 0 {
		t.Errorf("alive %v, notes %q", alive, notes)
	}
	read, written := int64(0), int64(1_000_000)
	want := result.ProcessUse{
		Name: "n1", PID: 4711, CPUSeconds: 0.73, RSSBytes: 1500 * int64(pageBytes),
		ReadBytes: &read, WriteBytes: &written,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMissingFiguresAreNoted(t *testing.T) {
	var notes methods
	h := hostAt(t, "testdata/silent")
	before := h.look(0, &notes)
	use, disks := h.look(1e9, &notes).use(before), h.look(2e9, &notes).diskUse(before)
	if diff := cmp.Diff(result.HostUse{}, use); diff != "" || disks != nil {
		t.Error(diff, disks)
	}
	all := strings.Join(notes, "\n")
	if strings.Count(all, "\n") != 3 || !strings.Contains(all, "CPU time is not known") ||
		!strings.Contains(all, "psi=1") {
		t.Error(all)
	}
}

// The CPU time of another user's process is readable, and its disk bytes are not.
func TestUnreadableDiskBytesAreNoted(t *testing.T) {
	var notes methods
	other, err := hostAt(t, "testdata/silent").proc.Proc(4711)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Process: target.Process{Name: "n1", PID: 4711}, proc: other}
	for range 2 {
		use, alive := p.read(&notes)
		if !alive || use.ReadBytes != nil || use.WriteBytes != nil || use.RSSBytes == 0 {
			t.Errorf("%+v, %v", use, alive)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "run as root or as its user") {
		t.Errorf("notes %q", notes)
	}
}

// Counters may go back or jump. Uses are never negative, and shares are between 0 and 1.
func TestUseIsNeverNegative(t *testing.T) {
	seconds := rapid.Float64Range(0, 1e9)
	reading := rapid.Custom(func(t *rapid.T) hostReading {
		counter := func(name string) uint64 {
			return rapid.Uint64Range(0, 1<<50).Draw(t, name)
		}
		r := hostReading{
			ns: rapid.Int64Range(0, 1<<60).Draw(t, "ns"), hasCPU: rapid.Bool().Draw(t, "cpu"),
			cpu: procfs.CPUStat{
				User: seconds.Draw(t, "user"), System: seconds.Draw(t, "system"),
				Iowait: seconds.Draw(t, "iowait"), Steal: seconds.Draw(t, "steal"),
			},
			pressure: map[string]uint64{}, disks: map[string]blockdevice.IOStats{},
		}
		if rapid.Bool().Draw(t, "pressure") {
			r.pressure[pressureIO] = counter("total")
		}
		for _, name := range []string{"a", "b"} {
			if rapid.Bool().Draw(t, name) {
				r.disks[name] = blockdevice.IOStats{
					ReadIOs: counter("reads"), WriteIOs: counter("writes"),
					ReadSectors: counter("read"), WriteSectors: counter("written"),
					IOsTotalTicks: counter("busy"),
				}
			}
		}
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := reading.Draw(t, "before"), reading.Draw(t, "after")
		use := after.use(before)
		if use.CPUSeconds < 0 || use.IOWaitSeconds < 0 || use.StealSeconds < 0 {
			t.Errorf("%+v", use)
		}
		known := len(before.pressure) > 0 && len(after.pressure) > 0
		if (use.PressureIO != nil) != known ||
			known && (*use.PressureIO < 0 || *use.PressureIO > 1) {
			t.Errorf("pressure %v", use.PressureIO)
		}
		disks := after.diskUse(before)
		for _, d := range disks {
			if d.ReadBytes < 0 || d.WriteBytes < 0 || d.Reads < 0 || d.Writes < 0 ||
				d.Utilization < 0 || d.Utilization > 1 {
				t.Errorf("%+v", d)
			}
		}
		if len(disks) != len(after.disks) {
			t.Errorf("%d disks", len(disks))
		}
	})
}

func TestCoresAreParsed(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0-1": {0, 1}, "0-2,5,7-8": {0, 1, 2, 5, 7, 8},
	} {
		if got, err := parseCores(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	for _, list := range []string{"", "x", "3-1", "-1", "0-99999999", "1,,2"} {
		if got, err := parseCores(list); err == nil {
			t.Errorf("%q: %v", list, got)
		}
	}
}
