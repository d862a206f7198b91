package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// toy is a system whose servers are loops of the shell, which write their secret into their logs.
type toy struct {
	system.System
	more bool // its driver takes a step more than the coordinator's
}

func newToy() *toy { return &toy{System: sim.New(clock.Precise(), nil)} }

const toyPort = 20_123

func (s *toy) Describe() system.Description {
	d := s.System.Describe()
	d.Name, d.Spreads = "toy", true
	d.Settings = slices.Concat(d.Settings, system.MustSettings(driver.DeclarePrograms))
	return d
}

func (*toy) NodeNames(p system.Provision) []string { return driver.Numbered("n", p.Nodes) }

var toyServers = driver.Servers{StartWithin: 10 * time.Second, StopGrace: time.Second,
	AskEvery: time.Millisecond, LastComplaint: driver.LastLineWith("bad")}

func (s *toy) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	return toyServers.Provision(ctx, p, func(ctx context.Context, c *driver.Cluster) (
		system.Provisioned, error,
	) {
		hosts, err := c.Hosts(p.Nodes, toyPort)
		if err != nil {
			return nil, err
		}
		secret := c.Secret()
		for i, name := range s.NodeNames(p) {
			n := c.Add(name, driver.At(hosts[i], toyPort))
			if s.more {
				if err := c.Run(ctx, n, "nothing", shell("true")); err != nil {
					return nil, err
				}
			}
			if err := c.Furnish(n, map[string]string{"secret": secret + "\n"}); err != nil {
				return nil, err
			}
		}
		err = c.Launch(c.Members(), func(n *driver.Node) process.Spec {
			return shell("cat " + n.Path("secret") + "; while :; do sleep 0.01; done")
		})
		if err != nil {
			return nil, err
		}
		return c, c.AwaitEach(ctx, c.Members(), func(_ context.Context, n *driver.Node) error {
			if len(process.Tail(n.Log)) == 0 {
				return errors.New("it has not said its secret")
			}
			return nil
		})
	})
}

func shell(script string) process.Spec {
	return process.Spec{Path: "/bin/sh", Args: []string{"-c", script},
		Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// toyLab is a coordinator and hosts in this process.
type toyLab struct {
	coordinator *Coordinator
	hosts       []*hired
	dirs        []string
	needBytes   int64 // of all servers
}

// newToyLab starts hosts of a system at loopback addresses.
func newToyLab(t *testing.T, n int, of system.System) *toyLab {
	t.Helper()
	c, err := Listen(Options{Address: "127.0.0.1:0", Hosts: n, Version: version,
		Clock: clock.Precise()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	l := &toyLab{coordinator: c}
	addresses, err := process.Addresses(n, toyPort)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range addresses {
		host, _, err := net.SplitHostPort(a[0])
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		l.dirs = append(l.dirs, dir)
		l.hosts = append(l.hosts, hireWith(t, WorkerOptions{Coordinator: c.Address(),
			Token: c.Token(), Name: fmt.Sprintf("h%d", i+1), Host: "here", Version: version,
			Cores: 1, Systems: system.NewRegistry(of), Clock: clock.Precise(),
			Hosting: &Hosting{Address: host, Base: dir}}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := c.Await(ctx); err != nil {
		t.Fatal(err)
	}
	return l
}

// up starts servers on the hosts.
func (l *toyLab) up(t *testing.T, nodes int, given ...target.Setting) (*testbed.Testbed, error) {
	t.Helper()
	dir, of, hosts := t.TempDir(), newToy(), l.coordinator.Hosts()
	settings, err := system.Resolve(of.Describe().Settings, given)
	if err != nil {
		t.Fatal(err)
	}
	return testbed.Up(t.Context(), testbed.Options{Base: dir, Provisioner: of, Hosts: hosts,
		NeedBytes: l.needBytes,
		Provision: system.Provision{Nodes: nodes, Durability: workload.SyncSync, Breakable: true,
			Settings: settings, LogDir: filepath.Join(dir, "logs"), Site: hosts}})
}

// left returns what is left of servers in the hosts' folders.
func (l *toyLab) left() (all []string) {
	for _, dir := range l.dirs {
		found, _ := filepath.Glob(filepath.Join(dir, ".testbed", "p*"))
		all = append(all, found...)
	}
	return all
}

// The servers of a cluster start on their hosts with one secret, their logs come to the
// coordinator, each can be killed and started again, and nothing is left of them.
func TestServersOnHosts(t *testing.T) {
	t.Parallel()
	l := newToyLab(t, 3, newToy())
	bed, err := l.up(t, 3)
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]bool{}
	for i, n := range bed.Cluster().Nodes() {
		secrets[string(process.Tail(n.Log))] = true
		made, _ := filepath.Glob(filepath.Join(l.dirs[i], ".testbed", "p*", "data", "*"))
		if len(made) != 1 || filepath.Base(made[0]) != n.Name {
			t.Errorf("host %d has %v, want the folder of %s only", i+1, made, n.Name)
		}
	}
	if len(secrets) != 1 {
		t.Errorf("%d secrets, want one: %v", len(secrets), secrets)
	}
	nodes := bed.Cluster().(system.Restarter)
	before := bed.Cluster().Nodes()[1].PID
	if err := nodes.Restart("n2"); err == nil || !strings.Contains(err.Error(), "still runs") {
		t.Errorf("a server that runs was started again: %v", err)
	}
	if err := errors.Join(nodes.Kill("n2"), nodes.Restart("n2")); err != nil {
		t.Fatal(err)
	}
	after := bed.Cluster().Nodes()[1].PID
	if after == before || syscall.Kill(after, 0) != nil || syscall.Kill(before, 0) == nil {
		t.Errorf("n2 was process %d and is %d", before, after)
	}
	if err := nodes.Kill("n9"); err == nil {
		t.Error("a node that is not there was killed")
	}
	all := bed.Cluster().Nodes()
	if err := bed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		if syscall.Kill(n.PID, 0) == nil {
			t.Errorf("%s still runs", n.Name)
		}
	}
	if left := l.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	again, err := l.up(t, 2)
	if err != nil {
		t.Fatalf("the hosts start nothing after they were cleared: %v", err)
	}
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A host whose coordinator ends, without a word to its servers, kills them and removes their data.
func TestHostsWithoutCoordinator(t *testing.T) {
	t.Parallel()
	l := newToyLab(t, 2, newToy())
	bed, err := l.up(t, 2)
	if err != nil {
		t.Fatal(err)
	}
	all := bed.Cluster().Nodes()
	if err := l.coordinator.Close(); err != nil {
		t.Fatal(err)
	}
	for i, h := range l.hosts {
		err := <-h.ended
		if err == nil || !strings.Contains(err.Error(), "so the servers have been ended") {
			t.Errorf("host %d ended with %v", i+1, err)
		}
	}
	for _, n := range all {
		if syscall.Kill(n.PID, 0) == nil {
			t.Errorf("%s still runs", n.Name)
		}
	}
	if left := l.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_ = bed.Close(t.Context()) // its hosts are lost
}

// What a host refuses is one sentence with its name, and starts nothing.
func TestHostsRefuse(t *testing.T) {
	t.Parallel()
	l := newToyLab(t, 2, newToy())
	taken, err := net.Listen("tcp", net.JoinHostPort(
		l.coordinator.hosts()[1].hello.Address, fmt.Sprint(toyPort)))
	if err != nil {
		t.Fatal(err)
	}
	folder := target.Setting{Name: driver.SetPrograms, Value: "/usr/local/bin"}
	for want, start := range map[string]func() error{
		"need 3 machines, and there are 2 hosts": func() error { _, err := l.up(t, 3); return err },
		"host h2 on here: port 20123 of 127.":    func() error { _, err := l.up(t, 2); return err },
		"programs names a folder": func() error {
			_, err := l.up(t, 2, folder)
			return err
		},
	} {
		if err := start(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if left := l.left(); len(left) > 0 {
			t.Errorf("%s: left behind: %v", want, left)
		}
	}
	_ = taken.Close()
	free, err := testbed.FreeBytes(l.dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	l.needBytes = 4 * free // each of two hosts has half of its part
	if _, err := l.up(t, 2); err == nil || !strings.Contains(err.Error(), "host h1 on here: ") ||
		!strings.Contains(err.Error(), "free and the run may fill") {
		t.Errorf("with half the disk: %v", err)
	}
	l.needBytes = 0
	bed, err := l.up(t, 2)
	if err != nil {
		t.Fatalf("after all refusals: %v", err)
	}
	if err := bed.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A host whose driver takes other steps than the coordinator's fails the start by the step's name.
func TestDriversOfOtherSteps(t *testing.T) {
	t.Parallel()
	other := newToy()
	other.more = true
	l := newToyLab(t, 1, other)
	const soon = 2 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	hosts := l.coordinator.Hosts()
	settings, err := system.Resolve(other.Describe().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = testbed.Up(ctx, testbed.Options{Base: t.TempDir(), Provisioner: newToy(), Hosts: hosts,
		Provision: system.Provision{Nodes: 1, Durability: workload.SyncSync, Breakable: true,
			Settings: settings, LogDir: t.TempDir(), Site: hosts}})
	if err == nil || !strings.Contains(err.Error(), "furnish n1") {
		t.Errorf("got %v", err)
	}
	if left := l.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A server that its host started again, after a fault, is the coordinator's again: its process, its
// log and its end.
func TestServersThatAHostRevives(t *testing.T) {
	t.Parallel()
	l := newToyLab(t, 2, newToy())
	bed, err := l.up(t, 2)
	if err != nil {
		t.Fatal(err)
	}
	injector := fault.New(bed, 1)
	kill := workload.Fault{Do: workload.FaultKill, Target: "n2"}
	before := bed.Cluster().Nodes()[1]
	if _, err := injector.Inject(t.Context(), kill, ""); err != nil {
		t.Fatal(err)
	}
	for !bed.Cluster().Nodes()[1].Ended {
		time.Sleep(time.Millisecond)
	}
	if err := injector.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := bed.Cluster().Nodes()[1]
	if after.Ended || after.PID == before.PID || syscall.Kill(after.PID, 0) != nil {
		t.Errorf("it was process %d, and is %+v", before.PID, after)
	}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		said := strings.Count(string(process.Tail(after.Log)), "\n")
		if said == 2 {
			break
		}
		if time.Now().After(until) {
			t.Errorf("its log has %d secrets, want one of each start", said)
			break
		}
	}
	if err := bed.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A cluster that ends with a fault under way does not start the broken servers again.
func TestBrokenServersEnd(t *testing.T) {
	t.Parallel()
	l := newToyLab(t, 2, newToy())
	bed, err := l.up(t, 2)
	if err != nil {
		t.Fatal(err)
	}
	kill := workload.Fault{Do: workload.FaultKill, Target: "n2"}
	if _, err := fault.New(bed, 1).Inject(t.Context(), kill, ""); err != nil {
		t.Fatal(err)
	}
	broken := bed.Cluster().Nodes()[1]
	if err := bed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := bed.Cluster().Nodes()[1]; now.PID != broken.PID || !now.Ended {
		t.Errorf("it was %+v, and is %+v", broken, now)
	}
	if left := l.left(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Hosts of one address, of no address, and of another version do not join.
func TestHostsThatDoNotJoin(t *testing.T) {
	t.Parallel()
	c, err := Listen(Options{Address: "127.0.0.1:0", Hosts: 2, Version: version,
		Clock: clock.Precise()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	join := func(name, address, of string) *hired {
		return hireWith(t, WorkerOptions{Coordinator: c.Address(), Token: c.Token(), Name: name,
			Host: "here", Version: of, Cores: 1, Systems: system.NewRegistry(newToy()),
			Clock: clock.Precise(), Hosting: &Hosting{Address: address, Base: t.TempDir()}})
	}
	for want, h := range map[string]*hired{
		"is not an IPv4 address": join("h8", "::1", version),
		"install one version":    join("h9", "127.0.0.1", "v0"),
	} {
		if err := <-h.ended; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	join("h1", "127.1.1.1", version)
	for len(c.hosts()) == 0 {
		time.Sleep(time.Millisecond)
	}
	want := "host h1 has the address 127.1.1.1 already"
	if err := <-join("h2", "127.1.1.1", version).ended; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	want = "servers cannot reach a loopback address from another machine"
	if err := <-join("h3", "10.0.0.1", version).ended; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	worker := hire(t, c, newToy(), "w1")
	if err := <-worker.ended; err == nil || !strings.Contains(err.Error(), "all 0 workers") {
		t.Errorf("a worker that nobody expects: %v", err)
	}
}
