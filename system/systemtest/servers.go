package systemtest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// stopWithin is longer than a cluster takes to be killed when it does not end.
const stopWithin = 60 * time.Second

// nodes is how many nodes a test's cluster has.
const nodes = 3

// Servers is a cluster of three nodes that the tests of one program share. The first test
// that asks for it starts it; TestMain stops it. P is the system's own type of a cluster
// that it started.
type Servers[P system.Provisioned] struct {
	System   system.System // a Provisioner
	Level    workload.Level
	Settings []string // name and value in turn
	Nodes    int      // 0: three
	// Mounted are nodes whose folders are there before the start, as when a file
	// system is mounted on each.
	Mounted []string

	mu      sync.Mutex
	dir     string
	cluster P
	tried   bool
	err     error
}

// Get returns the cluster. Topics are a test's own. A test that stops a server or changes
// its settings uses Take or Provision.
func (s *Servers[P]) Get(t testing.TB) P {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tried {
		s.tried = true
		began := time.Now()
		if s.dir, s.err = os.MkdirTemp("", "plimsoll-"+s.System.Describe().Name+"-"); s.err == nil {
			s.cluster, s.err = start[P](s.System, s.dir, s.Level, s.Settings,
				cmp.Or(s.Nodes, nodes), s.Mounted...)
		}
		t.Logf("the cluster for level %d took %s to start", s.Level,
			time.Since(began).Round(time.Millisecond))
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}

// Take returns the cluster for one test that breaks it, and stops it after that test. A
// later Get starts another cluster, so such a test belongs into the last file.
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

// Provision is a cluster of three nodes for one test, with settings as name and
// value in turn.
func Provision[P system.Provisioned](t testing.TB, s system.System, level workload.Level,
	settings ...string) P {
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
	settings, err := resolve(s, given)
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

func resolve(s system.System, given []string) (system.Settings, error) {
	if len(given)%2 != 0 {
		return system.Settings{}, fmt.Errorf("settings are name and value in turn: %q", given)
	}
	var all []target.Setting
	for i := 0; i < len(given); i += 2 {
		all = append(all, target.Setting{Name: given[i], Value: given[i+1]})
	}
	return system.Resolve(s.Describe().Settings, all)
}

// Settings returns a system's defaults with the given settings, name and value in turn.
func Settings(t testing.TB, s system.System, given ...string) system.Settings {
	t.Helper()
	settings, err := resolve(s, given)
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
