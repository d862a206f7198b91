package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	costMessages   = 1_000_000 // of each worker
	costPartitions = 100
	costLength     = 15 * time.Second
	// costSettled is how long workers ask for the time eagerly when they have joined.
	costSettled = 6 * time.Second
)

// BenchmarkCoordinator runs a whole run of bench.Run with workers that are simulated in another
// process, and reports what the coordinator's process spends: of a core, in the middle of a run
// with an interval a second, and of memory; what an interval of a worker, and a million messages of
// the account, weigh on the wire; and the CPU time of a million messages, merged and judged.
func BenchmarkCoordinator(b *testing.B) {
	for _, workers := range []int{2, 10, 100} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				measureCost(b, workers)
			}
		})
	}
}

func measureCost(b *testing.B, workers int) {
	debug.FreeOSMemory()
	// The greatest resident size is counted anew from here on.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200); err != nil {
		b.Skip("this kernel does not reset the greatest resident size: " + err.Error())
	}
	c := listen(b, workers)
	crowd := startCrowd(b, c, workers)
	within, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	if err := c.Await(within); err != nil {
		b.Fatal(err)
	}
	job := jobOn(b, newCommon(), costLength)
	job.Crew = c
	costWorkload(job.Workload, workers)
	time.Sleep(costSettled)
	watch := &costWatch{crowd: crowd, of: c}
	if dir, err := bench.Run(b.Context(), job, watch); err != nil {
		b.Fatal(dir, err)
	}
	seconds := watch.last.at.Sub(watch.first.at).Seconds()
	b.ReportMetric(100*(watch.last.cpu-watch.first.cpu).Seconds()/seconds, "%core")
	b.ReportMetric(float64(watch.last.wire-watch.first.wire)/seconds/float64(workers)/1e3,
		"kB/worker/s")
	b.ReportMetric(greatestRSS(b), "MB")
	b.ReportMetric((watch.last.exchanges-watch.first.exchanges)/seconds, "exchanges/worker/s")
	costAccount(b, c, job, crowd, workers)
	b.ReportMetric(0, "ns/op")
}

// exchanges is how many exchanges of time a worker made until the last sample.
func exchanges(c *Coordinator) float64 {
	sum, team := 0.0, c.team()
	for _, m := range team {
		m.mu.Lock()
		if m.clock != nil {
			sum += float64(m.clock.Exchanges)
		}
		m.mu.Unlock()
	}
	return sum / float64(len(team))
}

// costAccount reports what the account costs, without a run around it.
func costAccount(b *testing.B, c *Coordinator, job *bench.Job, crowd *crowd, workers int) {
	d := bench.Deal{Plan: load.Plan{Workload: *job.Workload}, Target: job.Target}
	team, dismiss, err := c.Deal(b.Context(), d)
	if err != nil {
		b.Fatal(err)
	}
	before := crowd.look()
	all := make([]load.Account, workers)
	err = load.Together(team, func(i int) (err error) {
		all[i], err = team[i].Account()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	carried := crowd.look()
	merged, err := load.MergeAccounts(all...)
	if err != nil {
		b.Fatal(err)
	}
	ledger, arrived := d.Plan.Judge(merged, load.Evidence{Passed: true})
	after := crowd.look()
	of := ledger.Subscriptions[0]
	if n := int64(workers) * costMessages; arrived != n || of.Acked != n || of.Lost != 0 {
		b.Fatalf("%d of %d messages arrived: %+v", arrived, n, of)
	}
	b.ReportMetric(float64(carried.wire-before.wire)/float64(workers)/1e3, "kB/M")
	b.ReportMetric((after.cpu-before.cpu).Seconds()*1e3/float64(workers), "ms/M")
	if err := dismiss(); err != nil {
		b.Fatal(err)
	}
}

// costWorkload is a workload of a producer and a consumer for each worker, and a million messages.
func costWorkload(w *workload.Workload, workers int) {
	w.Topics, w.Partitions, w.Subscriptions = 1, costPartitions, 1
	w.Producers, w.Consumers = workers, min(workers, costPartitions)
	rate := float64(workers) * costMessages / costLength.Seconds()
	w.Load.Segments = []workload.Segment{{From: rate, To: rate, For: costLength}}
}

// costWatch looks at what was spent from the third interval to the last.
type costWatch struct {
	silent
	crowd       *crowd
	of          *Coordinator
	seen        int
	first, last costLook
}

func (w *costWatch) Interval(i result.Interval) {
	if i.Phase != result.PhaseMeasure {
		return
	}
	w.last = w.crowd.look()
	w.last.exchanges = exchanges(w.of)
	if w.seen++; w.seen == 3 {
		w.first = w.last
	}
}

// costLook is what this process spent, and what the wire carried, until a time.
type costLook struct {
	at   time.Time
	cpu  time.Duration
	wire int64
	// exchanges of time of a worker, on average
	exchanges float64
}

// crowd is the process of the simulated workers.
type crowd struct {
	ask    io.Writer
	answer *bufio.Reader
	fail   func(args ...any)
}

// startCrowd has this binary run as a process of simulated workers.
func startCrowd(b *testing.B, c *Coordinator, workers int) *crowd {
	b.Helper()
	self := exec.Command(os.Args[0])
	self.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", crowdVariable, workers, c.Address(),
		c.Token().Text()))
	self.Stderr = os.Stderr
	in, err := self.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := self.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := self.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close() // which ends it
		if err := self.Wait(); err != nil {
			b.Error(err)
		}
	})
	return &crowd{in, bufio.NewReader(out), b.Fatal}
}

func (c *crowd) look() (l costLook) {
	_, _ = fmt.Fprintln(c.ask)
	if _, err := fmt.Fscanln(c.answer, &l.wire); err != nil {
		c.fail("asking the simulated workers what they sent: ", err)
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		c.fail(err)
	}
	l.at, l.cpu = time.Now(), time.Duration(u.Utime.Nano()+u.Stime.Nano())
	return l
}

// greatestRSS is in MB.
func greatestRSS(b *testing.B) float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		b.Fatal(err)
	}
	return kib * 1024 / 1e6
}
