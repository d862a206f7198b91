package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Each side offers 1 KB messages for the warm-up and the window with one producer and, unless the
// load has no subscriptions, one consumer. CPU is measured over the window, when both are warm.
const (
	duelWarmup = 10 * time.Second
	duelWindow = 15 * time.Second
	duelTail   = 2 * time.Second // of load beyond the window
	duelTrials = 5               // at least; -benchtime 7x makes it 7
	duelBytes  = 1024            // of a message

	stallTrials = 3
)

// duel compares plimsoll with a system's own tools on one cluster, in turns.
type duel struct {
	system system.System
	rival  string            // name of the system's tools
	server map[string]string // the servers' settings
	client string            // plimsoll's settings, as in a target; the rival has the same
	load   string            // further lines of plimsoll's workload, in place of rate and burst
	level  workload.Level    // of durability; 0: SyncAsync
	rate   int               // messages a second; 0: as many as the servers answer
	// count returns the messages that the servers have taken so far; nil: the rate says how many.
	count      func(r *ring) int64
	natives    bool // neither servers nor the rival need Java
	burst      int  // messages that the rival sends at a time; 0: one
	partitions int
	unanswered int           // most messages in flight; 0: plimsoll's default
	stall      time.Duration // how long all servers are stopped in the middle of the window
	// start starts the rival's processes on an unused topic.
	start func(r *ring, topic string) []*exec.Cmd
	// figures reads the latency that the rival printed; an endOfPart follows each process's
	// output.
	figures func(printed string) reported
	killed  bool // start has the rival killed when it has printed its figures
	endless bool // the rival goes on until it is stopped
}

const endOfPart = "\x00"

// reported is the latency that one side reports: median and 99th percentile, in milliseconds. 0:
// not reported.
type reported struct{ publish50, publish99, endToEnd50, endToEnd99 float64 }

func (r reported) String() string {
	return fmt.Sprintf("publish %.3f / %.3f ms, end to end %.3f / %.3f ms", r.publish50,
		r.publish99, r.endToEnd50, r.endToEnd99)
}

// side holds one side's CPU and reported latency in each trial.
type side struct {
	spent   []float64 // us of CPU for a message
	servers []float64 // the same, of all servers
	told    []reported
}

// run lets both sides take turns and reports the medians over the trials: the CPU that each uses
// for a message, from producing to receiving it, and the latency that each reports.
func (d duel) run(b *testing.B) {
	if err := maven.Available(); err != nil && !d.natives {
		b.Skipf("%s needs Java and Maven: %v", b.Name(), err)
	}
	d.level = cmp.Or(d.level, workload.SyncAsync)
	r := &ring{B: b, duel: d, dir: b.TempDir()}
	r.startCluster()
	var ours, theirs side
	trials := duelTrials
	if d.stall > 0 {
		trials = stallTrials
	}
	r.plimsoll(&side{}) // the servers' virtual machines compile what they run often
	for trial := range max(b.N, trials) {
		// The servers become faster with time, so neither side is always the first.
		turns := []func(){
			func() { r.plimsoll(&ours) },
			func() { r.tools(&theirs, fmt.Sprintf("duel-%d", trial)) },
		}
		turns[trial%2]()
		turns[1-trial%2]()
		// One line: the testing package prints ten of a benchmark.
		b.Logf("trial %d: plimsoll %.2f us of CPU per message (servers %.2f), %v; %s %.2f (%.2f), %v",
			trial+1, ours.spent[trial], ours.servers[trial], ours.told[trial],
			d.rival, theirs.spent[trial], theirs.servers[trial], theirs.told[trial])
	}
	b.ReportMetric(0, "ns/op")
	ours.report(b, "plimsoll")
	theirs.report(b, "tools")
	if d.stall > 0 {
		return // the CPU of waiting is not of interest
	}
	b.ReportMetric(medianRatio(ours.spent, theirs.spent), "ratio")
	b.ReportMetric(medianRatio(ours.servers, theirs.servers), "servers-ratio")
}

// medianRatio is the median over trials of one side's figure divided by the other's. Figures of
// different trials are not compared, because the servers become faster from trial to trial.
func medianRatio(one, other []float64) float64 {
	var ratios []float64
	for trial := range one {
		ratios = append(ratios, one[trial]/other[trial])
	}
	return median(ratios)
}

func (s *side) add(spent use, told reported) {
	s.spent, s.servers = append(s.spent, spent.client), append(s.servers, spent.servers)
	s.told = append(s.told, told)
}

func (s side) report(b *testing.B, name string) {
	b.ReportMetric(median(s.spent), name+"-us/msg")
	b.ReportMetric(median(s.servers), name+"-servers-us/msg")
	for what, of := range map[string]func(reported) float64{
		"publish-p50": func(r reported) float64 { return r.publish50 },
		"publish-p99": func(r reported) float64 { return r.publish99 },
		"e2e-p50":     func(r reported) float64 { return r.endToEnd50 },
		"e2e-p99":     func(r reported) float64 { return r.endToEnd99 },
	} {
		var all []float64
		for _, told := range s.told {
			all = append(all, of(told))
		}
		if m := median(all); m > 0 {
			b.ReportMetric(m, name+"-"+what+"-ms")
		}
	}
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// ring is the setting of a duel.
type ring struct {
	*testing.B
	duel
	dir         string
	endpoints   []string
	credentials system.Credentials
	nodes       []system.Node
	cluster     system.Cluster
	topics      []system.Topic // made for the rival and not deleted yet
}

func (r *ring) startCluster() {
	r.Helper()
	var given []target.Setting
	for name, value := range r.server {
		given = append(given, target.Setting{Name: name, Value: value})
	}
	settings, err := system.Resolve(r.system.Describe().Settings, given)
	if err != nil {
		r.Fatal(err)
	}
	if f, able := r.system.(system.Fetcher); able {
		if err := f.Fetch(r.Context(), settings, func(s string) { r.Log(s) }); err != nil {
			r.Fatal(err)
		}
	}
	bed, err := testbed.Up(r.Context(), testbed.Options{
		Base: r.dir, Provisioner: r.system.(system.Provisioner),
		Provision: system.Provision{Nodes: 3, LogDir: filepath.Join(r.dir, "logs"),
			Durability: r.level, Settings: settings},
	})
	if err != nil {
		r.Fatal(err)
	}
	r.endpoints, r.credentials, r.nodes = bed.Cluster().Endpoints(), bed.Cluster().Credentials(), bed.Cluster().Nodes()
	r.cluster, err = r.system.Connect(r.Context(), system.Options{
		Endpoints: r.endpoints, Credentials: r.credentials, Settings: settings,
		Durability: r.level,
	})
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.cluster.Close(ctx); err != nil {
			r.Error(err)
		}
		if err := bed.Close(ctx); err != nil {
			r.Error(err)
		}
	})
}

// makeTopic makes a topic for the rival, which is deleted after its run.
func (r *ring) makeTopic(name string) {
	r.Helper()
	t := system.Topic{Name: name, Partitions: r.partitions}
	if err := r.cluster.CreateTopic(r.Context(), t); err != nil {
		r.Fatal(err)
	}
	r.topics = append(r.topics, t)
}

// plimsoll runs the load with plimsoll.
func (r *ring) plimsoll(s *side) {
	r.Helper()
	asked := fmt.Sprintf("name: duel\npartitions: %d\nproducers: 1\nconsumers: 1\n"+
		"message: {size: %d}\nwarmup: %s\nduration: %s\ndurability: %d\n%s", r.partitions,
		duelBytes, duelWarmup, duelWindow+duelTail, r.level, r.load)
	if !strings.Contains(r.load, "load:") {
		asked += fmt.Sprintf("load: {rate: %d/s, burst: %d}\n", r.rate, max(r.burst, 1))
	}
	if r.unanswered > 0 {
		asked += fmt.Sprintf("max_in_flight: %d\n", r.unanswered)
	}
	whom := fmt.Sprintf("system: %s\nendpoints: [%s]\nsettings: {%s}\n", r.system.Describe().Name,
		strings.Join(r.endpoints, ", "), r.client)
	if r.credentials.User != "" {
		whom += "credentials: {user_env: DUEL_USER, password_env: DUEL_PASSWORD}\n"
	}
	writeIn(r, r.dir, map[string]string{"load.yaml": asked, "whom.yaml": whom})
	cmd := self(r, r.dir, "run", "-w", "load.yaml", "-t", "whom.yaml")
	cmd.Env = append(os.Environ(), "DUEL_USER="+r.credentials.User,
		"DUEL_PASSWORD="+r.credentials.Password)
	var out bytes.Buffer
	cmd.Stdout = &out
	var spent use
	for lines := linesOf(r, cmd); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "measure: every message") {
			spent = r.spentOver(cmd.Process.Pid)
		}
	}
	if err := cmd.Wait(); err != nil || spent.client == 0 {
		r.Fatalf("plimsoll run: %v\n%s", err, out.String())
	}
	s.add(spent, toldBy(savedRun(r, r.dir).Run.Summary))
}

// toldBy returns plimsoll's own report.
func toldBy(s result.Summary) reported {
	ms := func(series result.Series, percentile float64) float64 {
		ns, _ := s.Series(series).At(percentile)
		return float64(ns) / 1e6
	}
	return reported{
		ms(result.Publish, 50), ms(result.Publish, 99), ms(result.EndToEnd, 50), ms(result.EndToEnd,
			99),
	}
}

// tools runs the load with the system's own tools, in parallel.
func (r *ring) tools(s *side, topic string) {
	r.Helper()
	processes := r.start(r, topic)
	time.Sleep(duelWarmup)
	var pids []int
	for _, cmd := range processes {
		pids = append(pids, cmd.Process.Pid)
	}
	spent := r.spentOver(pids...)
	var printed strings.Builder
	for _, cmd := range processes {
		if r.endless {
			_ = cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil && !r.killed && !r.endless {
			r.Fatalf("%s: %v\n%s", cmd.Path, err, cmd.Stdout)
		}
		fmt.Fprint(&printed, cmd.Stdout, endOfPart)
	}
	for _, t := range r.topics {
		if err := r.cluster.DeleteTopic(r.Context(), t); err != nil {
			r.Fatal(err)
		}
	}
	r.topics = nil
	s.add(spent, r.figures(printed.String()))
}

// native starts one of the rival's processes, a program of this machine.
func (r *ring) native(env []string, path string, args ...string) *exec.Cmd {
	r.Helper()
	return r.startTo(new(bytes.Buffer), env, path, args...)
}

// java starts one of the rival's processes. Secrets go into the environment, which others cannot
// read.
func (r *ring) java(env []string, args ...string) *exec.Cmd {
	r.Helper()
	return r.javaTo(new(bytes.Buffer), env, args...)
}

// javaTo starts one of the rival's processes in the folder of the duel, whose output goes to out.
func (r *ring) javaTo(out io.Writer, env []string, args ...string) *exec.Cmd {
	r.Helper()
	path, err := maven.Java()
	if err != nil {
		r.Fatal(err)
	}
	return r.startTo(out, env, path, args...)
}

func (r *ring) startTo(out io.Writer, env []string, path string, args ...string) *exec.Cmd {
	r.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// use is the CPU time in us, user and system, per message.
type use struct{ client, servers float64 }

// spentOver returns the CPU time per message of these processes, the clients, and of the servers
// over the window that begins now.
func (r *ring) spentOver(pids ...int) use {
	r.Helper()
	client, servers, before := r.spent(pids...), r.spentByServers(), r.taken()
	time.Sleep(duelWindow/2 - r.stall/2)
	r.standStill()
	time.Sleep(duelWindow/2 - r.stall/2)
	messages := float64(r.rate) * duelWindow.Seconds()
	if r.count != nil {
		messages = float64(r.taken() - before)
	}
	perMessage := 1e6 / messages
	spent := use{client: (r.spent(pids...) - client) * perMessage}
	for pid, now := range r.spentByServers() {
		// A process that began since is not in servers.
		spent.servers += (now - servers[pid]) * perMessage
	}
	return spent
}

// taken returns the messages that the servers have taken so far; 0: the rate says how many.
func (r *ring) taken() int64 {
	if r.count == nil {
		return 0
	}
	return r.count(r)
}

// standStill pauses all servers and resumes them.
func (r *ring) standStill() {
	r.Helper()
	if r.stall == 0 {
		return
	}
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		for _, n := range r.nodes {
			if err := syscall.Kill(n.PID, signal); err != nil {
				r.Error(err)
			}
		}
		if signal == syscall.SIGSTOP {
			time.Sleep(r.stall)
		}
	}
}

// spent returns the CPU time of processes in seconds.
func (r *ring) spent(pids ...int) float64 {
	r.Helper()
	total := 0.0
	for _, pid := range pids {
		of, err := cpuTime(pid)
		if err != nil {
			r.Fatal(err)
		}
		total += of
	}
	return total
}

// spentByServers returns the CPU time of each process of the servers in seconds. RabbitMQ's
// programs that look at the disk run for an instant, and may have ended before they are read.
func (r *ring) spentByServers() map[int]float64 {
	r.Helper()
	all := map[int]float64{}
	for _, n := range r.nodes {
		all[n.PID] = r.spent(n.PID)
		for _, pid := range process.Family(n.PID)[1:] {
			if of, err := cpuTime(pid); err == nil {
				all[pid] = of
			}
		}
	}
	return all
}

// cpuTime returns the CPU time of a process in seconds.
func cpuTime(pid int) (float64, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := proc.Stat()
	return stat.CPUTime(), err
}

// rivalMessages returns the number of messages that the rival must send in all.
func (r *ring) rivalMessages() string {
	return strconv.Itoa(int(float64(r.rate) * rivalTime.Seconds()))
}

const rivalTime = duelWarmup + duelWindow + duelTail

// numbers returns the numbers that the last match of a pattern captured, in the pattern's order.
func numbers(pattern *regexp.Regexp, text string) []float64 {
	all := pattern.FindAllStringSubmatch(text, -1)
	got := make([]float64, pattern.NumSubexp())
	if len(all) == 0 {
		return got
	}
	for i, s := range all[len(all)-1][1:] {
		got[i], _ = strconv.ParseFloat(s, 64) // digits
	}
	return got
}
