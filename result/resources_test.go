package result

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func known[T any](v T) *T { return &v }

// spentIn returns the resource use of two nodes and plimsoll in an interval.
func spentIn(startNs, endNs int64, phase PhaseName) Resources {
	return Resources{
		StartNs: startNs, EndNs: endNs, Phase: phase,
		Host: HostUse{
			CPUSeconds: 1.5, IOWaitSeconds: 0.1, StealSeconds: 0.2, PressureCPU: known(
				0.5), PageCacheBytes: endNs, DirtyBytes: 7,
			LoopbackBytes: known(int64(4000)),
		},
		Disks: []DiskUse{
			{Name: "vda", ReadBytes: 10, WriteBytes: 5000, Reads: 1, Writes: 2, Utilization: 0.4}},
		Processes: []ProcessUse{
			{Name: "n1", PID: 11, CPUSeconds: 0.5, RSSBytes: endNs, WriteBytes: known(int64(3000)),
				Syncs: known(int64(10))},
			{Name: "n2", PID: 12, CPUSeconds: 0.3, RSSBytes: 5, WriteBytes: known(int64(1000))},
			{Name: Self, PID: 1, CPUSeconds: 0.2, WriteBytes: known(int64(9))},
		},
	}
}

func TestObservationSumsTheWindow(t *testing.T) {
	o := Observation{Servers: []string{"n1", "n2"},
		Limits: &Limits{Device: "vda", SequentialWriteBytes: 10_000, LoopbackBytes: 16_000}}
	o.Add(spentIn(0, 1e9, PhaseMeasure))
	o.Add(spentIn(0, 0, PhaseMeasure)) // of no length: nothing
	second := spentIn(1e9, 4e9, PhaseMeasure)
	second.Host.PressureCPU = known(0.1)
	second.Disks[0].Utilization = 0
	second.Disks = append(second.Disks, DiskUse{Name: "vdb", Utilization: 0.5})
	second.Processes = second.Processes[:2] // one is no longer reported
	o.Add(second)
	o.Finish(Summary{AchievedRate: 400}, Load{MessageBytes: 10}, 2)
	o.Finish(Summary{AchievedRate: 400}, Load{MessageBytes: 10}, 2)
	want := Observation{
		Servers: o.Servers, Limits: o.Limits, WindowNs: 4e9,
		Host: HostUse{
			CPUSeconds: 3, IOWaitSeconds: 0.2, StealSeconds: 0.4, PressureCPU: known(
				0.2), PageCacheBytes: 4e9, DirtyBytes: 7,
			LoopbackBytes: known(int64(8000)),
		},
		Disks: []DiskUse{
			{Name: "vda", ReadBytes: 20, WriteBytes: 10_000, Reads: 2, Writes: 4, Utilization: 0.1},
			{Name: "vdb", Utilization: 0.375},
		},
		Processes: []ProcessUse{
			{Name: "n1", PID: 11, CPUSeconds: 1, RSSBytes: 4e9, WriteBytes: known(int64(6000)),
				Syncs: known(int64(20))},
			{Name: "n2", PID: 12, CPUSeconds: 0.6, RSSBytes: 5, WriteBytes: known(int64(2000))},
			{Name: Self, PID: 1, CPUSeconds: 0.2, WriteBytes: known(int64(9))},
		},
		MsgsPerCoreSecond: 1000, WriteAmplification: 0.5,
		Shares: []Share{
			{Resource: ResourceCPU, Used: 0.75, Limit: 2, Unit: UnitCores, Share: 0.375},
			{Resource: ResourceDisk, Used: 2500, Limit: 10_000, Unit: UnitBytesPerSec, Share: 0.25},
			{Resource: ResourceLoopback, Used: 2000, Limit: 16_000, Unit: UnitBytesPerSec,
				Share: 0.125},
		},
	}
	if diff := cmp.Diff(want, o, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
}

// Servers have not written more than the disks and what waits for them, where that is known.
func TestServersWriteNoMoreThanDisks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Observation)
		want   int64
	}{
		"less than the disks": {func(o *Observation) {}, 4000},
		"more":                {func(o *Observation) { o.Disks[0].WriteBytes = 2000 }, 2007},
		"on two disks": {func(o *Observation) {
			o.Disks[0].WriteBytes = 2000
			o.Disks = append(o.Disks, DiskUse{Name: "vdb", WriteBytes: 500})
		}, 2507},
		"another disk, or none": {func(o *Observation) {
			o.Disks[0] = DiskUse{Name: "vdb", WriteBytes: 2000}
		}, 4000},
		"hosts have their own": {func(o *Observation) {
			o.Disks[0].WriteBytes, o.Hosts = 2000, []NamedHostUse{{Name: "h1"}}
		}, 4000},
	} {
		o := Observation{Servers: []string{"n1", "n2"}, Disk: "vda"}
		o.Add(spentIn(0, 1e9, PhaseMeasure))
		c.change(&o)
		if got, known := o.Written(); got != c.want || !known {
			t.Errorf("%s: %d, %t, want %d", name, got, known, c.want)
		}
	}
}

func TestObservationClaimsNothingThatIsNotKnown(t *testing.T) {
	finish := func(change func(*Observation, *Resources)) Observation {
		o := Observation{Servers: []string{"n1", "n2"}, Limits: &Limits{SequentialWriteBytes: 8000}}
		r := spentIn(0, 1e9, PhaseMeasure)
		change(&o, &r)
		o.Add(r)
		o.Finish(Summary{AchievedRate: 1000}, Load{MessageBytes: 1}, 2)
		return o
	}
	if o := finish(func(*Observation, *Resources) {}); o.WriteAmplification != 4 ||
		len(o.Shares) != 2 || o.Shares[1].Used != 4000 {
		t.Errorf("the disk is not known, so it is what the servers wrote: %+v", o)
	}
	if o := finish(
		func(_ *Observation,
			r *Resources) {
			r.Processes[1].WriteBytes = nil
		}); o.WriteAmplification != 0 ||
		len(o.Shares) != 1 {
		t.Errorf("what n2 wrote is not known: %+v", o)
	}
	if o := finish(
		func(o *Observation, _ *Resources) { o.Servers = nil }); o.MsgsPerCoreSecond != 0 ||
		o.WriteAmplification != 0 {
		t.Errorf("no server was observed: %+v", o)
	}
	if o := finish(func(o *Observation, _ *Resources) { o.Limits = nil }); len(o.Shares) != 1 ||
		o.Shares[0].Resource != ResourceCPU {
		t.Errorf("only the cores are known: %+v", o.Shares)
	}
	if o := finish(func(_ *Observation, r *Resources) { r.EndNs = 0 }); o.WindowNs != 0 ||
		o.Shares != nil || o.MsgsPerCoreSecond != 0 {
		t.Errorf("nothing was observed: %+v", o)
	}
}

// However a window is cut into intervals, it amounts to the same.
func TestObservationDoesNotDependOnTheCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, cut Observation
		const lengthNs = 12e9
		all := spentIn(0, lengthNs, PhaseMeasure)
		whole.Add(all)
		parts := rapid.SampledFrom([]int64{1, 2, 3, 4, 6, 12}).Draw(t, "parts")
		for i := range parts {
			r := spentIn(i*lengthNs/parts, (i+1)*lengthNs/parts, PhaseMeasure)
			r.Host.CPUSeconds /= float64(parts)
			cut.Add(r)
		}
		if diff := cmp.Diff(whole.Host.CPUSeconds, cut.Host.CPUSeconds,
			cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(*whole.Host.PressureCPU, *cut.Host.PressureCPU,
			cmpopts.EquateApprox(1e-9, 0)); diff != "" || whole.WindowNs != cut.WindowNs {
			t.Error(diff)
		}
		if diff := cmp.Diff(whole.Disks[0].Utilization, cut.Disks[0].Utilization,
			cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Error(diff)
		}
	})
}

// The cost of a killed run is computed from the saved data.
func TestKilledRunsKnowWhatTheyCost(t *testing.T) {
	root := t.TempDir()
	w, run := written(t, root)
	run.Environment.Cores = 2
	run.Observation = Observation{Servers: []string{"n1", "n2"}, Methods: []string{"How."}}
	for i, phase := range []PhaseName{PhaseWarmup, PhaseMeasure, PhaseMeasure, PhaseDrain} {
		if err := w.Resources(spentIn(int64(i)*1e9, int64(i+1)*1e9, phase)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Update(run); err != nil {
		t.Fatal(err)
	}
	_ = w.release()
	s, err := Read(filepath.Join(root, LatestLink))
	if err != nil {
		t.Fatal(err)
	}
	o := s.Run.Observation
	if s.Run.State != Incomplete || o.WindowNs != 2e9 || o.MsgsPerCoreSecond != 1250 ||
		o.WriteAmplification != 0.04 || len(o.Shares) != 1 {
		t.Errorf("%s, %+v", s.Run.State, o)
	}
	if diff := cmp.Diff([]string{"How."}, o.Methods); diff != "" {
		t.Error(diff)
	}
}
