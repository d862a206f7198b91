package command

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var resizeOf = flag.String("resize", "nats", "the systems that TestResize tries")

const resizeLoad = "name: w\npartitions: 8\nload: {rate: 300/s}\nwarmup: 1s\ndurability: 1\n"

// resizeFaults are the flags of a run in which a server joins and leaves. Servers on Java or Erlang
// take long to start.
func resizeFaults(system string) []string {
	if system == "nats" {
		return []string{"--duration", "46s", "--fault", "scale-out at 4s for 19s",
			"--fault", "scale-in at 24s for 17s"}
	}
	return []string{"--duration", "160s", "--fault", "scale-out at 5s for 75s",
		"--fault", "scale-in at 82s for 75s"}
}

// A server joins under load, takes copies over and works, and leaves for good: nothing is lost, and
// the cluster can do without it.
func TestResize(t *testing.T) {
	for name := range strings.SplitSeq(*resizeOf, ",") {
		t.Run(name, func(t *testing.T) {
			dir := inDir(t, map[string]string{"w.yaml": resizeLoad})
			args := append([]string{"run", "-t", name, "-w", "w.yaml", "--warm", "0s"},
				resizeFaults(name)...)
			plimsoll(t, dir, args...)
			checkResized(t, &savedRun(t, dir).Run)
		})
	}
}

// checkResized checks a run in which a machine joined and left: it lost nothing, and the machine's
// servers worked.
func checkResized(t *testing.T, r *result.Run) {
	t.Helper()
	changes := slices.DeleteFunc(slices.Clone(r.Faults), func(f result.Fault) bool {
		return !workload.FaultKind(f.Do).Resizes()
	})
	if total := r.Ledger.Total(); r.State != result.Complete || total.Lost != 0 ||
		r.Counters.Acked == 0 || len(changes) != 2 {
		t.Fatalf("%s (%s), %+v, %d changes", r.State, r.StateReason, total, len(changes))
	}
	for _, v := range r.Verdicts {
		if v.Name == verdict.Loss && v.Outcome != result.Holds ||
			v.Name == verdict.Resized && v.Outcome != result.Holds {
			t.Errorf("%+v", v)
		}
	}
	for _, f := range changes {
		t.Logf("%s: complete after %.1f s: %s", f.Do, float64(f.InSyncNs-f.StartNs)/1e9, f.Sentence)
		if f.InSyncNs == 0 || len(f.Nodes) == 0 {
			t.Errorf("%+v", f)
		}
	}
	for _, name := range changes[0].Nodes {
		wrote := slices.ContainsFunc(r.Observation.Processes, func(p result.ProcessUse) bool {
			return p.Name == name && p.WriteBytes != nil && *p.WriteBytes > 0
		})
		if !wrote && !strings.HasPrefix(name, "broker-") {
			t.Errorf("%s joined, and wrote nothing: no copy moved to it", name)
		}
	}
}

// Topics get more partitions under load: the consumers find them, and nothing is lost.
func TestAddPartitions(t *testing.T) {
	settings := map[string]string{
		"kafka":  "settings: {metadata_max_age: 3s}\n",
		"pulsar": "settings: {partition_discovery: 3s}\n",
	}
	for name := range strings.SplitSeq(*resizeOf, ",") {
		t.Run(name, func(t *testing.T) {
			duration, fault := "42s", "add-partitions to 12 at 1s for 40s"
			if name == "nats" {
				duration, fault = "9s", "add-partitions to 12 at 1s for 7s"
			}
			dir := inDir(t, map[string]string{"w.yaml": resizeLoad,
				"t.yaml": "name: t\nsystem: " + name + "\n" + settings[name]})
			plimsoll(t, dir, "run", "-t", "t.yaml", "-w", "w.yaml", "--warm", "0s", "--keys",
				"random", "--duration", duration, "--fault", fault)
			r := &savedRun(t, dir).Run
			total := r.Ledger.Total()
			if r.State != result.Complete || total.Lost != 0 || total.Misplaced != 0 ||
				r.Counters.Failed != 0 || len(r.Faults) != 1 {
				t.Fatalf("%s (%s), %+v, %d refused, %+v", r.State, r.StateReason, total,
					r.Counters.Failed, r.Faults)
			}
			if !slices.ContainsFunc(r.Verdicts, func(v result.Verdict) bool {
				return v.Name == verdict.Discovered && v.Outcome == result.Holds
			}) {
				t.Errorf("%+v", r.Verdicts)
			}
			f := r.Faults[0]
			if f.InjectedNs == 0 || f.UsedNs < f.InjectedNs || f.FoundNs < f.UsedNs {
				t.Errorf("%+v", f)
			}
			t.Logf("ready after %.1f s, found within %.1f s", float64(f.InjectedNs-f.StartNs)/1e9,
				float64(f.FoundNs-f.UsedNs)/1e9)
		})
	}
}
