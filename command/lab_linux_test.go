package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A run on hosts and workers: every machine has its own network, the servers run on the hosts
// only, and nothing is left.
func TestRunOnHosts(t *testing.T) {
	needLab(t)
	t.Parallel()
	l := newLab(t, map[string]string{"w.yaml": "name: w\ntopics: 2\npartitions: 3\n" +
		"load: {rate: 500/s}\nwarmup: 1s\nduration: 4s\ndurability: 1\n",
		"lab.yaml": "listen: 0.0.0.0:0\nhosts:\n- {name: h3, address: 10.9.0.13}\n" +
			"- {name: h1}\n- {name: h2, dir: h2}\nworkers: [{name: w1}, {name: w2}]\n"},
		"run", "-t", "nats", "-w", "w.yaml", "--warm", "1s")
	defer l.tell(t)
	<-l.coordinator.ended
	if code := l.coordinator.ProcessState.ExitCode(); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	r := &savedRun(t, l.dir).Run
	if total := r.Ledger.Total(); r.State != result.Complete || total.Lost != 0 ||
		r.Counters.Acked == 0 || r.Durability.Level != 1 ||
		!r.System.SharesHost { // the namespaces are of one machine
		t.Errorf("%s, %+v, level %d, shares its host: %t", r.State, total, r.Durability.Level,
			r.System.SharesHost)
	}
	for i, n := range r.System.Nodes {
		// in the order of the lab's file
		if want := fmt.Sprintf("10.9.0.%d:4222", []int{13, 11, 12}[i]); n.Address != want {
			t.Errorf("%s is at %s, want %s", n.Name, n.Address, want)
		}
		log, err := os.ReadFile(filepath.Join(l.dir, "runs", result.LatestLink, n.Log))
		if err != nil || !strings.Contains(string(log), "Server is ready") {
			t.Errorf("the log of %s was not copied: %v", n.Name, err)
		}
	}
	observed := map[string]bool{}
	for _, p := range r.Observation.Processes {
		observed[p.Name] = p.CPUSeconds > 0
		if strings.HasPrefix(p.Name, "n") && (p.Syncs == nil || *p.Syncs == 0) {
			t.Errorf("syncs of %s: %v", p.Name, p.Syncs)
		}
	}
	for _, name := range []string{"n1", "n2", "n3", "plimsoll host h1"} {
		if !observed[name] {
			t.Errorf("the use of %s is missing", name)
		}
	}
	if len(r.Workers) != labWorkers {
		t.Errorf("workers %+v", r.Workers)
	}
	l.checkNothingLeft(t, labEndLimit)
}

// Faults hit servers on hosts as they hit servers here. One host each has the partition, the power
// cut and the kill.
func TestFaultsOnHosts(t *testing.T) {
	needLab(t)
	needFaults(t)
	t.Parallel()
	l := newLab(t, map[string]string{"w.yaml": "name: w\ntopics: 2\npartitions: 3\n" +
		"load: {rate: 500/s}\nwarmup: 1s\nduration: 20s\ndurability: 1\n"},
		"run", "-t", "nats", "-w", "w.yaml", "--warm", "0s", "--fault", "partition n1 at 1s for 3s",
		"--fault", "power-cut n2 at 7s for 3s", "--fault", "kill n3 at 13s for 2s")
	defer l.tell(t)
	<-l.coordinator.ended
	r := &savedRun(t, l.dir).Run
	if total := r.Ledger.Total(); r.State != result.Complete || total.Lost != 0 ||
		len(r.Faults) != 3 {
		t.Fatalf("%s (%s), %+v, %d faults", r.State, r.StateReason, total, len(r.Faults))
	}
	for i, want := range []string{"cut n1 off from the other nodes", "cut the power of n2",
		"killed n3"} {
		if f := r.Faults[i]; f.HealedNs <= f.StartNs || !strings.Contains(f.Sentence, want) {
			t.Errorf("%s: %+v", want, f)
		}
	}
	l.checkNothingLeft(t, labEndLimit)
}

// A server joins on a host that waited for it, and leaves again. Its host observes it meanwhile,
// and has no part in the partitions before and after.
func TestResizeOnHosts(t *testing.T) {
	needLab(t)
	needFaults(t)
	for name := range strings.SplitSeq(*resizeOnHosts, ",") {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"run", "-t", name, "-w", "w.yaml", "--warm", "0s"},
				resizeFaults(name)...)
			if name == "nats" {
				args = append(args, "--fault", "partition n1 at 1s for 2s", "--fault",
					"partition n2 at 42s for 2s")
			}
			l := newLabOf(t, labHosts+1, map[string]string{"w.yaml": resizeLoad}, args...)
			defer l.tell(t)
			<-l.coordinator.ended
			checkResized(t, &savedRun(t, l.dir).Run)
			l.checkNothingLeft(t, labEndLimit)
		})
	}
}

// A host that is lost in the window of a run that was warmed up ends the run, although the other
// servers carry the load.
func TestHostIsLost(t *testing.T) {
	needLab(t)
	t.Parallel()
	l := newLab(t, map[string]string{"w.yaml": "name: w\ntopics: 2\npartitions: 3\n" +
		"load: {rate: 200/s}\nwarmup: 1s\nduration: 60s\n"},
		"run", "-t", "nats", "-w", "w.yaml", "--warm", "1s")
	defer l.tell(t)
	if l.coordinator.awaitLine("measure: every message counts") == "" {
		t.Fatal("the run did not begin")
	}
	if err := l.hosts[2].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !l.coordinator.endsWithin(time.Now().Add(cutRunLimit)) {
		t.Fatal("the command goes on")
	}
	r := &savedRun(t, l.dir).Run
	if r.State != result.Failed || !strings.Contains(r.StateReason, "the host is lost: h3") {
		t.Errorf("the run is %s: %s", r.State, r.StateReason)
	}
	l.checkNothingLeft(t, labEndLimit)
}

// Whatever is killed at whatever moment: ten seconds later no server, no mount and no data is left,
// and the run is readable and marked.
func TestLabIsKilled(t *testing.T) {
	needLab(t)
	needFaults(t)
	victims := []func(l *lab) *apart{
		func(l *lab) *apart { return l.coordinator },
		func(l *lab) *apart { return l.hosts[rand.IntN(labHosts)] },
		func(l *lab) *apart { return l.workers[rand.IntN(labWorkers)] },
	}
	for i := range *labKills {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"w.yaml": "name: w\ntopics: 2\npartitions: 3\n" +
				"load: {rate: 200/s}\nwarmup: 1s\nduration: 6s\ndurability: 1\n"},
				"run", "-t", "nats", "-w", "w.yaml", "--warm", fmt.Sprintf("%ds", i%2),
				"--fault", "partition n1 at 1s for 3s", "--fault", "power-cut n2 at 5s for 1s")
			defer l.tell(t)
			if l.coordinator.awaitLine("connect: ") == "" {
				t.Fatal("the run did not begin")
			}
			time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Second))))
			words := l.coordinator.words()
			victim := victims[i%len(victims)](l)
			pid := victim.Process.Pid
			if children := process.Family(pid); len(children) > 1 && rand.IntN(2) == 0 {
				pid = children[1] // the host's second process, or a server's owner
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killedAt := time.Now()
			t.Logf("killed %s (%d) after %q", victim.Args[1], pid,
				words[strings.LastIndex(words, "\n")+1:])
			if victim != l.coordinator {
				if !l.coordinator.endsWithin(killedAt.Add(cutRunLimit)) {
					t.Fatal("the command goes on")
				}
				early := !strings.Contains(words, "drain: ")
				if code := l.coordinator.ProcessState.ExitCode(); early && code != exitFailed {
					t.Errorf("exit code %d", code)
				}
			}
			l.checkNothingLeft(t, labEndLimit)
			checkMarked(t, l)
		})
	}
}

// checkMarked holds that what a killed run left can be read, and is not taken for a whole one.
func checkMarked(t *testing.T, l *lab) {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.Join(l.dir, "runs", "2*"))
	for _, dir := range dirs {
		saved, err := result.Read(dir)
		if err != nil {
			t.Error(err)
			continue
		}
		words := l.coordinator.words()
		if saved.Run.State == result.Complete && strings.Contains(words, "is lost") {
			t.Errorf("a run that lost a machine is complete:\n%s", words)
		}
	}
}

// Each system passes the conformance suite with its servers on hosts.
func TestConformanceOnHosts(t *testing.T) {
	needLab(t)
	if os.Getenv(labVariable) == "" {
		t.Parallel()
		inNetwork(t)
		return
	}
	ip(t, bridge()...)
	for name := range strings.SplitSeq(*onHosts, ",") {
		t.Run(name, func(t *testing.T) { conformOnHosts(t, name) })
	}
}

// inNetwork runs the test by itself in a process with a network of its own.
func inNetwork(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.run=^"+t.Name()+"$", "-on-hosts="+*onHosts)
	cmd.Env = append(os.Environ(), labVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET,
		Pdeathsig: syscall.SIGTERM}
	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
}

// labSystem says how the conformance suite tries a system on hosts.
type labSystem struct {
	given  []target.Setting
	levels []workload.Level // that its topics can have; nil: all
	// cluster is the level at which the servers of a level are started.
	cluster func(workload.Level) workload.Level
}

func labSystemOf(name string) labSystem {
	one := func(workload.Level) workload.Level { return workload.SyncAsync }
	switch name {
	case "nats":
		return labSystem{cluster: func(l workload.Level) workload.Level { return l }}
	case "pulsar":
		return labSystem{cluster: func(l workload.Level) workload.Level {
			if l.Synced() {
				return workload.SyncSync
			}
			return workload.SyncAsync
		}}
	case "rabbitmq":
		return labSystem{given: []target.Setting{{Name: "queue_type", Value: "quorum"}},
			levels:  []workload.Level{workload.SyncSync},
			cluster: func(workload.Level) workload.Level { return workload.SyncSync }}
	}
	return labSystem{cluster: one}
}

// conformOnHosts starts the servers of a system on hosts, and runs the suite.
func conformOnHosts(t *testing.T, name string) {
	of, err := systems.Registry().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	tries := labSystemOf(name)
	settings, err := system.Resolve(of.Describe().Settings, tries.given)
	if err != nil {
		t.Fatal(err)
	}
	if err := system.FindSoftware(of, settings); err != nil {
		t.Skip(err)
	}
	up := map[workload.Level]system.Provisioned{}
	systemtest.Run(t, systemtest.Harness{System: of, Levels: tries.levels,
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			at := tries.cluster(level)
			if up[at] == nil {
				up[at] = startOnHosts(t, of, settings, at)
			}
			c := up[at]
			return system.Options{Endpoints: c.Endpoints(), Credentials: c.Credentials(),
				TLS: c.TLS(), Settings: settings, Durability: level}, c.Nodes()
		}})
}

// startOnHosts starts servers on hosts of their own.
func startOnHosts(t *testing.T, of system.System, s system.Settings, level workload.Level,
) system.Provisioned {
	t.Helper()
	hosts, dir := joinHosts(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	bed, err := testbed.Up(ctx, testbed.Options{Base: dir, Hosts: hosts,
		Provisioner: of.(system.Provisioner),
		Provision: system.Provision{Nodes: labHosts, Durability: level, Settings: s,
			Breakable: true, Site: hosts, LogDir: filepath.Join(dir, "logs")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bed.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return bed.Cluster()
}

// joinHosts returns hosts of which this process is the coordinator.
func joinHosts(t *testing.T) testbed.Hosts {
	t.Helper()
	coordinator, err := fleet.Listen(fleet.Options{Address: labGateway + ":0", Hosts: labHosts,
		Version: build().Version, Clock: clock.Precise()})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{dir: t.TempDir(), before: labHosts * int(labs.Add(1))}
	l.token = filepath.Join(l.dir, "token")
	if err := os.WriteFile(l.token, []byte(coordinator.Token().Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, l.port, err = net.SplitHostPort(coordinator.Address())
	if err != nil {
		t.Fatal(err)
	}
	for range labHosts {
		l.addHost(t)
	}
	t.Cleanup(func() {
		_ = coordinator.Close()
		l.checkNothingLeft(t, labEndLimit)
		l.tell(t)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := coordinator.Await(ctx); err != nil {
		t.Fatal(err)
	}
	return coordinator.Hosts()
}
