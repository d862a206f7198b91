package command

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

var partitions = flag.Int("partitions", 2, "how many times TestWorkerIsCutOff cuts a worker off")

const (
	cutWorkers = 3
	cutRate    = 1000 // messages a second, of all workers
	// cutJoinWait is how long a worker tries to join.
	cutJoinWait = 10 * time.Second
	// cutLoadLimit is how long a worker that is cut off lives: it ends its load within 10 s, and a
	// busy machine may take a while to end the process.
	cutLoadLimit = 10*time.Second + 5*time.Second
	// cutJoinLimit is how long one lives that was cut off before it had joined: what it waits for
	// its coordinator, and the last attempt.
	cutJoinLimit = cutJoinWait + 25*time.Second
	cutRunLimit  = cutJoinLimit + 2*cutPatience // of the command, since the cut
	cutPatience  = 15 * time.Second             // of somebody whose command waits for workers
	cutEndLimit  = 20 * time.Second             // of the other workers, since the command's end
)

// cutWorkload is a load of three topics, a worker's each.
var cutWorkload = map[string]string{
	"w.yaml": fmt.Sprintf("name: w\ntopics: %d\nproducers: 1\nload: {rate: %d/s}\nwarmup: 2s\n"+
		"duration: 4s\n", cutWorkers, cutRate),
	"t.yaml": "system: sim\nsettings: {service_time: 300ms, delivery_delay: 700ms}\n",
	"names":  "w0\nw1\nw2\n",
}

// stage is a part of a run. The cut comes at a random moment between two times after the command
// has written a line.
type stage struct {
	name, line  string
	least, most time.Duration
}

var stages = []stage{
	{"joining", "waiting for workers", 0, 300 * time.Millisecond}, // after its link is there
	{"readiness", "connect: ", 0, 1200 * time.Millisecond},
	{"warm-up", "warmup: ", 0, 2 * time.Second},
	{"window", "measure: ", 0, 4 * time.Second},
	{"drain", "drain: ", 0, time.Second},
	{"account", "drain: ", time.Second, 1300 * time.Millisecond},
}

// The link of one worker breaks at a random moment of a run. The run ends within a bound, and is
// marked or fails with a sentence that names the worker; what can be read of it is right. The
// worker that was cut off ends its load within ten seconds, and itself. No process, namespace or
// file is left. All run in network namespaces that live as long as their processes.
func TestWorkerIsCutOff(t *testing.T) {
	needNetworks(t)
	first := rand.IntN(len(stages))
	for i := range *partitions {
		at := stages[(first+i)%len(stages)]
		t.Run(fmt.Sprintf("%d-%s", i+1, at.name), func(t *testing.T) {
			t.Parallel()
			c := newCutFleet(t, at)
			c.cutOff(t)
			c.awaitEnd(t)
			c.checkRun(t)
			c.checkNothingLeft(t)
			if t.Failed() {
				c.tell(t)
			}
		})
	}
}

// needNetworks skips a test where processes cannot have networks of their own.
func needNetworks(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil || os.Geteuid() != 0 {
			t.Skip("needs root, ip and nsenter, to give processes networks of their own")
		}
	}
}

// cutFleet is a command and its workers, and what befell them.
type cutFleet struct {
	at          stage
	dir         string
	coordinator *apart
	workers     []*apart
	victim      int
	cutAt       time.Time
	cutIn       string // the last line that the command had written
}

// apart is a process in a network namespace of its own.
type apart struct {
	*exec.Cmd
	space   *os.File // its namespace, held open so that its number is not given again
	ended   chan struct{}
	endedAt time.Time

	mu    sync.Mutex
	lines []string
	said  chan struct{} // closed and replaced with each line
}

// setApart starts this program in a network namespace of its own.
func setApart(t *testing.T, dir string, args ...string) *apart {
	t.Helper()
	p := &apart{Cmd: self(t, dir, args...), ended: make(chan struct{}), said: make(chan struct{})}
	tmp := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	p.Env = append(os.Environ(), "TMPDIR="+tmp)
	p.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	talk, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("this machine gives processes no network of their own")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
	})
	go p.listen(talk)
	p.space, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.space.Close() })
	return p
}

// listen keeps what the process says until it ends.
func (p *apart) listen(talk io.Reader) {
	defer close(p.ended)
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		close(p.said)
		p.said = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.Wait()
	p.endedAt = time.Now()
}

func (p *apart) words() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// awaitLine returns the first line that begins like that; "": the process ended without it.
func (p *apart) awaitLine(begins string) string {
	for {
		p.mu.Lock()
		lines, said := p.lines, p.said
		p.mu.Unlock()
		for _, line := range lines {
			if strings.HasPrefix(line, begins) {
				return line
			}
		}
		select {
		case <-said:
		case <-p.ended:
			return ""
		}
	}
}

// endsWithin reports whether the process ends before a time.
func (p *apart) endsWithin(until time.Time) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(time.Until(until)):
		return false
	}
}

// others returns the processes that are in the namespace of the process, by their files.
func (p *apart) others(t *testing.T) (all []string) {
	t.Helper()
	ours, err := p.space.Stat()
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range spaces {
		if space, err := os.Stat(path); err == nil && os.SameFile(ours, space) {
			all = append(all, path)
		}
	}
	return all
}

// inside runs commands of ip in the namespace of the process.
func (p *apart) inside(t *testing.T, commands ...string) {
	t.Helper()
	cmd := exec.Command("nsenter", "--net=/proc/self/fd/3", "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	cmd.ExtraFiles = []*os.File{p.space}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(commands, "; "), err, out)
	}
}

// invitation returns the file of the join token that a command printed, and its port.
func (p *apart) invitation(t *testing.T) (token, port string) {
	t.Helper()
	line := p.awaitLine("waiting for ") + p.awaitLine("  plimsoll ")
	said := regexp.MustCompile(`copy (\S+) to .* --join (\S+) `).FindStringSubmatch(line)
	if said == nil {
		t.Fatalf("it does not say how others join:\n%s", p.words())
	}
	_, port, err := net.SplitHostPort(said[2])
	if err != nil {
		t.Fatal(err)
	}
	return said[1], port
}

// link connects the namespace of a process, where the link has a name, with eth0 of another one's.
func link(t *testing.T, owner int, name string, other *apart) {
	t.Helper()
	execute(t, "ip", "link", "add", name, "netns", fmt.Sprint(owner), "type", "veth", "peer", "name",
		"eth0", "netns", fmt.Sprint(other.Process.Pid))
}

// newCutFleet starts a command and its workers, each with a link to it.
func newCutFleet(t *testing.T, at stage) *cutFleet {
	t.Helper()
	c := &cutFleet{at: at, dir: inDir(t, cutWorkload), victim: rand.IntN(cutWorkers)}
	if at == stages[0] {
		c.victim = cutWorkers - 1 // whose link is the last one
	}
	c.coordinator = setApart(t, c.dir, "run", "-t", "t.yaml", "-w", "w.yaml", "--workers-from",
		"names", "--fleet-listen", "0.0.0.0:0")
	token, port := c.coordinator.invitation(t)
	for i := range cutWorkers {
		w := setApart(t, c.dir, "worker", "--join", fmt.Sprintf("10.9.%d.1:%s", i, port),
			"--token-file", token, "--name", c.name(i), "--wait", cutJoinWait.String())
		c.workers = append(c.workers, w)
		link(t, c.coordinator.Process.Pid, c.name(i), w)
		c.coordinator.inside(t, fmt.Sprintf("addr add 10.9.%d.1/24 dev %s", i, c.name(i)),
			"link set "+c.name(i)+" up")
		w.inside(t, "link set lo up", fmt.Sprintf("addr add 10.9.%d.2/24 dev eth0", i),
			"link set eth0 up")
	}
	return c
}

func (c *cutFleet) name(i int) string { return fmt.Sprintf("w%d", i) }

// cutOff takes the victim's link down, at a random moment of the stage.
func (c *cutFleet) cutOff(t *testing.T) {
	t.Helper()
	if c.coordinator.awaitLine(c.at.line) == "" {
		t.Fatalf("the run ended before %s:\n%s", c.at.name, c.coordinator.words())
	}
	time.Sleep(c.at.least + time.Duration(rand.Int64N(int64(c.at.most-c.at.least))))
	if cut := c.workers[c.victim]; cut.endsWithin(time.Now()) {
		t.Skip("the run was over before its worker was cut off")
	}
	// The worker's end lives as long as its namespace, which the test holds.
	c.workers[c.victim].inside(t, "link set eth0 down")
	words := c.coordinator.words()
	c.cutAt, c.cutIn = time.Now(), words[strings.LastIndex(words, "\n")+1:]
}

// awaitEnd waits until all processes have ended, within their bounds.
func (c *cutFleet) awaitEnd(t *testing.T) {
	t.Helper()
	cut := c.workers[c.victim]
	limit := cutLoadLimit
	if !strings.Contains(cut.words(), "joined ") {
		limit = cutJoinLimit // there is no load yet
	}
	if !cut.endsWithin(c.cutAt.Add(limit)) {
		t.Errorf("%s goes on %s after it was cut off", c.name(c.victim), limit)
		return
	}
	c.stopWaiting(t)
	if !c.coordinator.endsWithin(c.cutAt.Add(cutRunLimit)) {
		t.Errorf("the command goes on %s after the cut", cutRunLimit)
		return
	}
	for i, w := range c.workers {
		if !w.endsWithin(time.Now().Add(cutEndLimit)) {
			t.Errorf("%s goes on when the command has ended", c.name(i))
		}
	}
}

// stopWaiting interrupts a command that waits for a worker which never joined.
func (c *cutFleet) stopWaiting(t *testing.T) {
	t.Helper()
	if c.at.line != stages[0].line || c.coordinator.endsWithin(time.Now().Add(cutPatience)) {
		return
	}
	if strings.Contains(c.coordinator.words(), "connect: ") {
		return // all had joined
	}
	c.cutIn += ", and was awaited in vain"
	if err := c.coordinator.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if !c.coordinator.endsWithin(time.Now().Add(cutPatience)) {
		t.Error("the command cannot be interrupted")
	}
}

// checkNothingLeft holds that no process is left in the namespaces, which so are gone too, and no
// file in the folder of temporary files.
func (c *cutFleet) checkNothingLeft(t *testing.T) {
	t.Helper()
	for _, p := range append(c.workers, c.coordinator) {
		if left := p.others(t); len(left) > 0 {
			t.Errorf("left in a namespace of this test: %v", left)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(c.dir, "tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// tell logs what all processes said.
func (c *cutFleet) tell(t *testing.T) {
	t.Logf("%s was cut off; the command said:\n%s", c.name(c.victim), c.coordinator.words())
	for i, w := range c.workers {
		t.Logf("%s said:\n%s", c.name(i), w.words())
	}
}

// checkRun holds that the command says what happened, and that what it kept is right.
func (c *cutFleet) checkRun(t *testing.T) {
	t.Helper()
	select {
	case <-c.coordinator.ended:
	default:
		return // which is reported
	}
	victim, words := c.name(c.victim), c.coordinator.words()
	last := words[strings.LastIndex(words, "\n")+1:]
	code := c.coordinator.ProcessState.ExitCode()
	cut := c.workers[c.victim]
	t.Logf("%s was cut off after %q. It ended after %s with exit code %d, and the command after "+
		"%s with %d: %s", victim, c.cutIn, took(c.cutAt, cut.endedAt), cut.ProcessState.ExitCode(),
		took(c.cutAt, c.coordinator.endedAt), code, last)
	if code != exitDone && cut.ProcessState.ExitCode() != exitFailed {
		t.Errorf("%s does not say that it failed", victim)
	}
	dirs, _ := filepath.Glob(filepath.Join(c.dir, "runs", "2*"))
	switch {
	case len(dirs) == 0:
		if code == exitDone || !strings.Contains(words, "these have not joined: "+victim) &&
			!strings.Contains(last, victim) {
			t.Errorf("exit code %d, and no run: %s", code, last)
		}
	case code == exitDone:
		checkWhole(t, savedRun(t, c.dir))
	default:
		if code != exitFailed || strings.Count(words, "the worker is lost: "+victim) != 1 {
			t.Errorf("exit code %d:\n%s", code, words)
		}
		checkCut(t, savedRun(t, c.dir), victim)
		out, err := self(t, dirs[0], "report", "-f", "table", ".").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "the worker is lost: "+victim) {
			t.Errorf("the report: %v:\n%s", err, out)
		}
	}
}

func took(from, to time.Time) time.Duration { return to.Sub(from).Round(100 * time.Millisecond) }

// checkWhole holds that a run is complete to the last message: all was told before the cut.
func checkWhole(t *testing.T, s *result.Saved) {
	t.Helper()
	r := &s.Run
	checkCounts(t, s)
	if l := r.Ledger.Total(); r.State != result.Complete || !r.Ledger.Accounted || l.Lost != 0 ||
		l.Acked != r.Counters.Scheduled+r.Warmup.Scheduled || r.Counters.Scheduled != 4*cutRate {
		t.Errorf("%s: counters %+v, ledger %+v", r.State, r.Counters, r.Ledger)
	}
}

// checkCut holds that a run is marked, names the worker and claims nothing that it cannot know.
func checkCut(t *testing.T, s *result.Saved, victim string) {
	t.Helper()
	r := &s.Run
	checkCounts(t, s)
	if r.State != result.Failed || !strings.Contains(r.StateReason, "the worker is lost: "+victim) {
		t.Errorf("state %s: %s", r.State, r.StateReason)
	}
	if r.Ledger.Accounted || len(r.Ledger.Subscriptions) > 0 {
		t.Errorf("without the account of a worker: %+v", r.Ledger)
	}
	for _, v := range r.Verdicts {
		if v.Outcome != result.Unknown && v.Name != verdict.Generator &&
			v.Name != verdict.Durability {
			t.Errorf("it claims that %s %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
	for _, w := range r.Workers {
		if (w.Lost != "") != (w.Name == victim) {
			t.Errorf("worker %s: %q", w.Name, w.Lost)
		}
	}
}

// checkCounts holds that counters, intervals and workers of a run count the same messages.
func checkCounts(t *testing.T, s *result.Saved) {
	t.Helper()
	r := &s.Run
	var all, sum result.Counters
	for _, c := range []result.Counters{r.Warmup, r.Counters} {
		all.Scheduled += c.Scheduled
		all.Acked += c.Acked
		all.Failed += c.Failed
		all.Received += c.Received
		if c.Scheduled != c.Acked+c.Failed+c.Unknown+c.Unsent || c.Unknown < 0 {
			t.Errorf("the counters do not add up: %+v", c)
		}
	}
	end := int64(0)
	for _, i := range s.Intervals {
		sum.Acked += i.Acked
		sum.Failed += i.Failed
		sum.Received += i.Received
		if i.StartNs < end || i.EndNs < i.StartNs {
			t.Errorf("an interval from %d to %d begins before %d", i.StartNs, i.EndNs, end)
		}
		end = i.EndNs
	}
	if all.Acked != sum.Acked || all.Failed != sum.Failed || all.Received != sum.Received {
		t.Errorf("counters %+v, and the sum of intervals %+v", all, sum)
	}
	if most := int64(6 * cutRate); all.Scheduled > most || all.Acked > most {
		t.Errorf("more than %d messages: %+v", most, all)
	}
	var scheduled int64
	for _, w := range r.Workers {
		scheduled += w.Scheduled
	}
	if len(r.Workers) != cutWorkers || scheduled != r.Counters.Scheduled {
		t.Errorf("%d workers scheduled %d of %d", len(r.Workers), scheduled, r.Counters.Scheduled)
	}
}
