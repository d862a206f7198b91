package systemtest

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

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// RunsOnLoopback checks that a cluster has so many nodes on so many hosts, all on
// the loopback interface, and that each runs and writes a log.
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

// IsPrivate checks that a file is its owner's alone, and returns its content.
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
// and holds that it fails and leaves nothing behind.
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

// StartEndsWhenToldTo checks that a start whose context ends is over soon after.
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
