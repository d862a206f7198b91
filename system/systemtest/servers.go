package systemtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// stopWithin exceeds the time after which a cluster that does not end is killed.
const stopWithin = 60 * time.Second

// nodes is the number of nodes of a test's cluster.
const nodes = 3

// Servers is a cluster of three nodes that the tests of one program share. The first test
// that asks for it starts it; TestMain stops it. P is the system's own type of a cluster
// that it started.
type Servers[P system.Provisioned] struct {
	System   system.System // a Provisioner
	Level    workload.Level
	Settings []string // name and value in turn
	Nodes    int      // 0: three
	// Mounted are nodes whose folders exist before the start, as with a file system mounted on
	// each.
	Mounted []string

	mu      sync.Mutex
	dir     string
	cluster P
	tried   bool
	took    time.Duration // duration of the start
	err     error
	told    atomic.Bool // a test has said err
}

// starting counts the starts by Ahead. Main waits for them.
var starting sync.WaitGroup

// Ahead starts clusters in the background, because starting is mostly waiting. Get waits for a
// start that is under way.
func Ahead(all ...interface{ Start() error }) {
	for _, one := range all {
		starting.Go(func() { _ = one.Start() }) // Get returns the error
	}
}

// Start starts the cluster, unless a start was tried before.
func (s *Servers[P]) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried {
		return s.err
	}
	s.tried = true
	began := time.Now()
	if s.dir, s.err = os.MkdirTemp("", "plimsoll-"+s.System.Describe().Name+"-"); s.err == nil {
		s.cluster, s.err = start[P](s.System, s.dir, s.Level, s.Settings,
			cmp.Or(s.Nodes, nodes), s.Mounted...)
	}
	s.took = time.Since(began)
	return s.err
}

// Get returns the cluster. Each test uses its own topics. A test that stops a server or changes
// its settings uses Take or Provision.
func (s *Servers[P]) Get(t testing.TB) P {
	t.Helper()
	if err := s.Start(); err != nil {
		if s.told.Swap(true) {
			t.Fatal("the servers did not start: another test of this package says why")
		}
		t.Fatal(err)
	}
	t.Logf("the cluster for level %d took %s to start", s.Level, s.took.Round(time.Millisecond))
	return s.cluster
}

// Take returns the cluster for one test that breaks it, and stops it after that test. A later Get
// starts another cluster, so such a test belongs in the last file.
func (s *Servers[P]) Take(t testing.TB) P {
	t.Helper()
	c := s.Get(t)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Stop ends the cluster, if it was started.
func (s *Servers[P]) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried && s.err == nil {
		s.tried = false
		ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		if err := s.cluster.Stop(ctx); err != nil {
			return err
		}
	}
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// Provision starts a cluster of three nodes for one test, with alternating names and values of
// settings.
func Provision[P system.Provisioned](t testing.TB, s system.System, level workload.Level,
	settings ...string) P {
	t.Helper()
	return provision[P](t, s, level, nodes, settings...)
}

func provision[P system.Provisioned](t testing.TB, s system.System, level workload.Level,
	nodes int, settings ...string) P {
	t.Helper()
	c, err := start[P](s, t.TempDir(), level, settings, nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

func start[P system.Provisioned](s system.System, dir string, level workload.Level, given []string,
	count int, mounted ...string) (none P, err error) {
	settings, err := resolve(s, given, target.Place{})
	if err != nil {
		return none, err
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		return none, err
	}
	for _, node := range mounted {
		if err := os.MkdirAll(filepath.Join(data, node, "lost+found"), 0o755); err != nil {
			return none, err
		}
	}
	p, err := s.(system.Provisioner).Provision(context.Background(), system.Provision{
		Nodes: count, DataDir: data, LogDir: filepath.Join(dir,
			"logs"), Durability: level, Settings: settings,
	})
	if err != nil {
		return none, err
	}
	return p.(P), nil
}

func resolve(s system.System, given []string, at target.Place) (system.Settings, error) {
	if len(given)%2 != 0 {
		return system.Settings{}, fmt.Errorf("settings are name and value in turn: %q", given)
	}
	var all []target.Setting
	for i := 0; i < len(given); i += 2 {
		all = append(all, target.Setting{Name: given[i], Value: given[i+1], At: at})
	}
	return system.Resolve(s.Describe().Settings, all)
}

// Settings returns a system's defaults with the given settings, name and value in turn.
func Settings(t testing.TB, s system.System, given ...string) system.Settings {
	t.Helper()
	settings, err := resolve(s, given, target.Place{})
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

// OptionsOf returns the options that connect to a started cluster.
func OptionsOf(t testing.TB, s system.System, c system.Provisioned, level workload.Level,
	settings ...string) system.Options {
	t.Helper()
	return system.Options{
		Endpoints: c.Endpoints(), Credentials: c.Credentials(), TLS: c.TLS(),
		Settings: Settings(t, s, settings...), Durability: level,
	}
}

// RunsOnLoopback checks a cluster's numbers of nodes and hosts, that all are on the loopback
// interface, and that each node runs and writes a log.
func RunsOnLoopback(t *testing.T, c system.Provisioned, nodes, hosts int) {
	t.Helper()
	found := map[string]bool{}
	for _, n := range c.Nodes() {
		host, _, err := net.SplitHostPort(n.Address)
		if err != nil || !net.ParseIP(host).IsLoopback() {
			t.Errorf("%s listens on %s", n.Name, n.Address)
		}
		found[host] = true
		if err := syscall.Kill(n.PID, 0); err != nil {
			t.Errorf("%s: process %d: %v", n.Name, n.PID, err)
		}
		if info, err := os.Stat(n.Log); err != nil || info.Size() == 0 {
			t.Errorf("%s: log: %v", n.Name, err)
		}
	}
	if len(c.Nodes()) != nodes || len(found) != hosts {
		t.Errorf("nodes %v, hosts %v", c.Nodes(), found)
	}
}

// KeepsSecrets checks that no node shows any of the secrets on its command line,
// in its environment or in its log.
func KeepsSecrets(t *testing.T, nodes []system.Node, secrets ...string) {
	t.Helper()
	if len(secrets) == 0 || slices.Contains(secrets, "") {
		t.Fatal("there is nothing to look for")
	}
	for _, n := range nodes {
		process := fmt.Sprintf("/proc/%d/", n.PID)
		for _, open := range []string{process + "cmdline", process + "environ", n.Log} {
			raw, err := os.ReadFile(open)
			if err != nil {
				t.Error(err)
			}
			for _, secret := range secrets {
				if strings.Contains(string(raw), secret) {
					t.Errorf("%s of %s shows a secret", open, n.Name)
				}
			}
		}
	}
}

// IsPrivate checks that only the owner may read a file, and returns its content.
func IsPrivate(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(raw)
}

// FailedStart tries to start a cluster of three nodes at level 2 within a limit,
// and checks that it fails and leaves nothing behind.
func FailedStart(t *testing.T, s system.System, within time.Duration, settings ...string) error {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_, err := s.(system.Provisioner).Provision(ctx, system.Provision{
		Nodes: nodes, DataDir: filepath.Join(dir, "data"), LogDir: filepath.Join(dir, "logs"),
		Durability: workload.SyncAsync, Settings: Settings(t, s, settings...),
	})
	if err == nil {
		t.Fatal("it started")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "data", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return err
}

// StartEndsWhenToldTo checks that a start ends soon after its context.
func StartEndsWhenToldTo(t *testing.T, s system.System) {
	t.Helper()
	const limit, grace = time.Second, 8 * time.Second
	began := time.Now()
	if err := FailedStart(t, s, limit); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > limit+grace {
		t.Errorf("it took %s", took)
	}
}
