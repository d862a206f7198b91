package bench

import (
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/result"
)

// environment describes the machine, as far as it is known.
func environment(job *Job) result.Environment {
	host, _ := os.Hostname()
	return result.Environment{
		Hostname: host, OS: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: strings.TrimSpace(readText("/proc/sys/kernel/osrelease")),
		CPU:    cpuModel(), Cores: runtime.NumCPU(), MemoryBytes: memoryOfMachine().machine,
		Virtual:    strings.TrimSpace(readText("/sys/class/dmi/id/product_name")),
		GoMaxProcs: runtime.GOMAXPROCS(0), Clock: job.Clock.Name(),
		ThreadStates: job.Clock.ThreadStates(), Proof: observe.StoredProof(),
	}
}

func readText(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(raw)
}

// field returns the value on the first line that begins with name and a colon.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func cpuModel() string { return field(readText("/proc/cpuinfo"), "model name") }

// runNumber is stamped into every message of a run, to distinguish them from another run's in the
// same topic.
func runNumber(seed uint64, at time.Time) uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %d %d", seed, at.UnixNano(), os.Getpid())
	return h.Sum32()
}
