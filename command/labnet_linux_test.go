package command

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
)

const (
	labHosts   = 3
	labWorkers = 2
	labGateway = "10.9.0.1" // the coordinator's address
	// labVariable is set in a test process that is the coordinator, in a network of its own.
	labVariable = "PLIMSOLL_TEST_LAB"
	// labEndLimit is how long what a killed process left may last.
	labEndLimit = 10 * time.Second
)

// links numbers the links that were made, whose names end with their namespaces, some time later.
var links atomic.Int32

// labs numbers the labs of which this process is the coordinator.
var labs atomic.Int32

var onHosts = flag.String("on-hosts", "nats", "the systems that TestConformanceOnHosts tries")

var resizeOnHosts = flag.String("resize-on-hosts", "nats",
	"the systems that TestResizeOnHosts tries")

var labKills = flag.Int("lab-kills", 3, "how often TestLabIsKilled kills a process")

// needLab skips a test where processes cannot have networks of their own with a bridge.
func needLab(t *testing.T) {
	t.Helper()
	needNetworks(t)
	try := exec.Command("ip", strings.Fields("link add br0 type bridge")...)
	try.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("this machine makes no bridge in a network of its own: %v: %s", err, out)
	}
}

// needFaults skips a test where hosts cannot have all faults.
func needFaults(t *testing.T) {
	t.Helper()
	all := testbed.Preparation{Disks: true, Groups: true}
	if err := fault.CheckMachine(t.Context(), all, t.TempDir()); err != nil {
		t.Skip(err)
	}
}

// lab is a coordinator, hosts and workers, each in a network namespace of its own. They are
// connected by a bridge of the coordinator's.
type lab struct {
	dir         string
	coordinator *apart // nil: this process
	hosts       []*apart
	workers     []*apart
	before      int // hosts of other labs on the same bridge
	port, token string
}

// newLab starts a command with hosts and workers, which the file lab.yaml names if it is given.
func newLab(t *testing.T, files map[string]string, args ...string) *lab {
	t.Helper()
	return newLabOf(t, labHosts, files, args...)
}

// newLabOf is newLab with a number of hosts.
func newLabOf(t *testing.T, hosts int, files map[string]string, args ...string) *lab {
	t.Helper()
	l := &lab{dir: inDir(t, files)}
	machines := []string{"--hosts", fmt.Sprint(hosts), "--workers", fmt.Sprint(labWorkers),
		"--fleet-listen", "0.0.0.0:0"}
	if files["lab.yaml"] != "" {
		machines = []string{"--lab", "lab.yaml"}
	}
	l.coordinator = setApart(t, l.dir, append(args, machines...)...)
	l.token, l.port = l.coordinator.invitation(t)
	l.coordinator.inside(t, bridge()...)
	for range hosts {
		l.addHost(t)
	}
	for i := range labWorkers {
		w := setApart(t, l.dir, "worker", "--join", labGateway+":"+l.port, "--token-file", l.token,
			"--name", fmt.Sprintf("w%d", i+1))
		l.workers = append(l.workers, w)
		l.connect(t, w, fmt.Sprintf("w%d", i+1), fmt.Sprintf("10.9.0.%d", 20+i))
	}
	return l
}

// bridge returns the commands of ip that make the bridge.
func bridge() []string {
	return []string{"link set lo up", "link add br0 type bridge",
		"addr add " + labGateway + "/24 dev br0", "link set br0 up"}
}

// addHost starts the next host.
func (l *lab) addHost(t *testing.T) {
	t.Helper()
	n := l.before + len(l.hosts) + 1
	name, address := fmt.Sprintf("h%d", n), fmt.Sprintf("10.9.0.%d", 10+n)
	h := setApart(t, l.dir, "host", "--join", labGateway+":"+l.port, "--token-file", l.token,
		"--name", name, "--dir", name, "--address", address)
	l.hosts = append(l.hosts, h)
	l.connect(t, h, name, address)
}

// connect gives a process an address and a link to the bridge.
func (l *lab) connect(t *testing.T, p *apart, name, address string) {
	t.Helper()
	owner := os.Getpid()
	if l.coordinator != nil {
		owner = l.coordinator.Process.Pid
	}
	name = fmt.Sprintf("%s-%d", name, links.Add(1))
	link(t, owner, name, p)
	up := []string{"link set " + name + " master br0", "link set " + name + " up"}
	if l.coordinator != nil {
		l.coordinator.inside(t, up...)
	} else {
		ip(t, up...)
	}
	p.inside(t, "link set lo up", "addr add "+address+"/24 dev eth0", "link set eth0 up")
}

func execute(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// ip runs commands of ip in the namespace of this process.
func ip(t *testing.T, commands ...string) {
	t.Helper()
	for _, c := range commands {
		execute(t, "ip", strings.Fields(c)...)
	}
}

// all returns the processes of the lab.
func (l *lab) all() []*apart {
	all := append(append([]*apart{}, l.hosts...), l.workers...)
	if l.coordinator != nil {
		all = append(all, l.coordinator)
	}
	return all
}

// tell logs what all processes said, when the test has failed.
func (l *lab) tell(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, p := range l.all() {
		t.Logf("%s:\n%s", strings.Join(p.Args, " "), p.words())
	}
}

// checkNothingLeft holds that within a time no process is in the lab's namespaces, nothing is
// mounted below its folder, and hosts have no data.
func (l *lab) checkNothingLeft(t *testing.T, within time.Duration) {
	t.Helper()
	var left []string
	for until := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		if left = l.left(t); len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Errorf("left behind after %s: %v", within, left)
			return
		}
	}
}

// left returns what is left of the lab.
func (l *lab) left(t *testing.T) (all []string) {
	t.Helper()
	for _, p := range l.all() {
		all = append(all, p.others(t)...)
	}
	data, _ := filepath.Glob(filepath.Join(l.dir, "h*", ".testbed", "p*"))
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || strings.Contains(string(mounts), l.dir) {
		all = append(all, "a mount")
	}
	return append(all, data...)
}
