package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestProvisionedCluster(t *testing.T) {
	c := sharedCluster(t)
	if len(c.Nodes()) != 3 || len(c.Endpoints()) != 3 || c.TLS() != nil || c.CAFile() != "" {
		t.Errorf("nodes %v, endpoints %v", c.Nodes(), c.Endpoints())
	}
	hosts := map[string]bool{}
	for _, n := range c.Nodes() {
		host, _, err := net.SplitHostPort(n.Address)
		if err != nil || !net.ParseIP(host).IsLoopback() {
			t.Errorf("%s listens on %s", n.Name, n.Address)
		}
		hosts[host] = true
		if err := syscall.Kill(n.PID, 0); err != nil {
			t.Errorf("%s: process %d: %v", n.Name, n.PID, err)
		}
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", n.PID)); err != nil || !strings.HasPrefix(string(name), "beam") {
			t.Errorf("%s: process %d is %q: %v", n.Name, n.PID, name, err)
		}
		if info, err := os.Stat(n.Log); err != nil || info.Size() == 0 {
			t.Errorf("%s: log: %v", n.Name, err)
		}
	}
	if len(hosts) != 3 {
		t.Errorf("the servers share hosts: %v", hosts)
	}
}

// The password and the servers' own secret are nowhere but in files that their
// owner alone may read.
func TestSecretsStayInTheirFiles(t *testing.T) {
	c := sharedCluster(t)
	cookie := filepath.Join(filepath.Dir(c.Members()[0].Dir), "epmd", cookieFile)
	shared, err := os.ReadFile(cookie)
	if err != nil || len(shared) == 0 {
		t.Fatalf("no cookie: %v", err)
	}
	if info, err := os.Stat(cookie); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v %v", cookie, info.Mode(), err)
	}
	for _, n := range c.Members() {
		config := n.Path(configFile)
		raw, err := os.ReadFile(config)
		if err != nil || !strings.Contains(string(raw), c.Credentials().Password) {
			t.Errorf("%s: the password is not where this test looks: %v", n.Name, err)
		}
		if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", config, info.Mode(), err)
		}
		for _, open := range []string{
			fmt.Sprintf("/proc/%d/cmdline", n.PID()), fmt.Sprintf("/proc/%d/environ", n.PID()), n.Log,
		} {
			raw, err := os.ReadFile(open)
			if err != nil || strings.Contains(string(raw), c.Credentials().Password) || strings.Contains(string(raw), string(shared)) {
				t.Errorf("%s shows a secret, or cannot be read: %v", open, err)
			}
		}
	}
}

// A start that is told to end leaves nothing behind.
func TestProvisionEndsWhenItIsToldTo(t *testing.T) {
	needServer(t)
	dir := t.TempDir()
	s := systemtest.Settings(t, rabbitSystem{})
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	began := time.Now()
	_, err := rabbitSystem{}.Provision(ctx, system.Provision{
		Nodes: 3, DataDir: dir, LogDir: filepath.Join(dir, "logs"), Durability: workload.SyncSync, Settings: s,
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "[^l]*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLastComplaint(t *testing.T) {
	const stamp = "2026-11-21 16:27:48.181600+00:00 [error] <0.132.0> "
	for _, c := range []struct{ log, want string }{
		{"", ""},
		{"epmd: node name already occupied\n\n", "epmd: node name already occupied"},
		{stamp + "\n" + stamp + "BOOT FAILED\n" + stamp + "===========\n" + stamp + "ERROR: could not bind\n" + stamp + "    supervisor: x\nlast\n", "could not bind"},
		{stamp + "Supervisor x had child y\n" + stamp + "    reason: z\n", "<0.132.0> Supervisor x had child y"},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lastComplaint(path); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
