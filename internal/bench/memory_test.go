package bench

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMemoryIsThatOfTheMachineOrOfAControlGroup(t *testing.T) {
	meminfo := "MemTotal:       2097152 kB\nMemFree: 1 kB\nMemAvailable: 1048576 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  memory
	}{
		"nothing is known": {nil, memory{}},
		"no control groups": {map[string]string{"proc/meminfo": meminfo},
			memory{machine: 2 << 30, available: 1 << 30}},
		"a limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/pods/one\n",
			"proc/self/mountinfo":           "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/pods/memory.max": "500000000\n",
		}, memory{2 << 30, 500_000_000, 500_000_000}},
	} {
		files := fstest.MapFS{}
		for file, text := range c.files {
			files[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := memoryIn(files); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := memoryOfMachine(); got.machine <= 0 {
		t.Errorf("this machine has %+v", got)
	}
}

// crowdJob is a run with many topics.
func crowdJob(topics int) *Job {
	w := workload.Default()
	w.Topics, w.Producers, w.Consumers, w.MaxInFlight = topics, 4, 4, 1
	return &Job{Workload: w, Target: &target.Target{Name: "t", Endpoints: []string{"a"}},
		System: described{}}
}

type described struct{ system.System }

func TestACrowdBeyondTheMemoryIsRefused(t *testing.T) {
	job := crowdJob(1_000_000)
	need := job.Estimate().MemoryBytes
	for _, fits := range []memory{{}, {machine: need}, {machine: need, group: need}} {
		if err := job.checkMemory(fits); err != nil {
			t.Errorf("%+v: %v", fits, err)
		}
	}
	const crowd = "topics: 1,000,000, partitions: 4, producers: 4, subscriptions: 1, " +
		"consumers: 4 and max_in_flight: 1"
	for have, want := range map[memory]string{
		{machine: 16 << 30}:                " and this machine has 16GB: ",
		{machine: need, group: 1 << 30}:    " and the control group of this process allows 1GB: ",
		{machine: 1 << 30, group: 2 << 30}: " and this machine has 1GB: ",
	} {
		err := job.checkMemory(have)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), quantity.Bytes(need)+" of memory for "+crowd) ||
			!strings.HasSuffix(err.Error(), "measure on a machine with more memory") {
			t.Errorf("%+v: %v", have, err)
		}
	}
}

// Each of several workers needs memory for its share, and for the parts that are the same for all.
func TestWorkersShareTheMemory(t *testing.T) {
	job := crowdJob(100_000)
	alone := job.Estimate().MemoryBytes
	job.Workers = 1
	if one := job.Estimate().MemoryBytes; one != alone {
		t.Errorf("one worker takes %d, want %d", one, alone)
	}
	job.Workers = 4
	if four := job.Estimate().MemoryBytes; four < alone/4 || four > alone/3 {
		t.Errorf("each of four workers takes %d, of %d alone", four, alone)
	}
}
