package bench

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/target"
)

const (
	calmEvery = 500 * time.Millisecond
	calmSpan  = 4 // readings that decide
	// calmCores is the use of CPU of all servers together, in cores, at which they are at rest.
	calmCores = 0.25
	mostCalm  = 30 * time.Second
)

// calm waits until servers have finished what a load left them to do, such as compaction, flushes,
// deletions and the compilation of hot code, as their use of CPU shows. It returns how long it
// waited: not at all for servers that it cannot observe.
func (j *Job) calm(ctx context.Context, bed *testbed.Testbed) (waitedNs int64, err error) {
	inside := func(p target.Process) bool { return p.PID == os.Getpid() }
	if slices.ContainsFunc(serversOf(j, bed), inside) {
		return 0, nil
	}
	observer, err := observerOf(j, bed)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, observer.Close()) }()
	if len(observer.Servers()) == 0 {
		return 0, nil // there are none here, or this operating system does not tell
	}
	began := j.Clock.Now()
	last := began
	var cores []float64
	for last-began < int64(mostCalm) && !isCalm(cores) {
		if !clock.Sleep(ctx, calmEvery) {
			return 0, ctx.Err()
		}
		use, ended, _ := observer.Read()
		if len(ended) > 0 {
			return 0, endOf(bed, ended[0].Name)
		}
		now := j.Clock.Now()
		cores = append(cores, cpuSecondsOf(use, observer.Servers())*1e9/float64(now-last))
		last = now
	}
	return last - began, nil
}

// cpuSecondsOf returns the CPU time of servers.
func cpuSecondsOf(use result.Resources, servers []string) (sum float64) {
	for _, p := range use.Processes {
		if slices.Contains(servers, p.Name) {
			sum += p.CPUSeconds
		}
	}
	return sum
}

func isCalm(cores []float64) bool {
	n := len(cores)
	return n >= calmSpan && mean(cores[n-calmSpan:]) < calmCores
}
