package rabbitmq

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

func TestProvisionedCluster(t *testing.T) {
	c := sharedCluster(t)
	systemtest.RunsOnLoopback(t, c, 3, 3)
	if len(c.Endpoints()) != 3 || c.TLS() != nil || c.CAFile() != "" {
		t.Errorf("endpoints %v, authority %q", c.Endpoints(), c.CAFile())
	}
	for _, n := range c.Nodes() {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", n.PID))
		if err != nil || !strings.HasPrefix(string(name), "beam") {
			t.Errorf("%s: process %d is %q: %v", n.Name, n.PID, name, err)
		}
	}
}

// The password and the servers' own secret are only in files that only their owner may read.
func TestSecretsStayInTheirFiles(t *testing.T) {
	c := sharedCluster(t)
	home := filepath.Join(filepath.Dir(c.Members()[0].Dir), "epmd")
	password := c.Credentials().Password
	cookie := systemtest.IsPrivate(t, filepath.Join(home, cookieFile))
	systemtest.KeepsSecrets(t, c.Nodes(), password, cookie)
	for _, n := range c.Members() {
		if !strings.Contains(systemtest.IsPrivate(t, n.Path(configFile)), password) {
			t.Errorf("%s: the password is not where this test looks", n.Name)
		}
	}
}

func TestProvisionEndsWhenItIsToldTo(t *testing.T) {
	needServer(t)
	systemtest.StartEndsWhenToldTo(t, rabbitSystem{})
}

func TestLastComplaint(t *testing.T) {
	const stamp = "2026-11-21 16:27:48.181600+00:00 [error] <0.132.0> "
	for _, c := range []struct{ log, want string }{
		{"", ""},
		{"epmd: node name already occupied\n\n", "epmd: node name already occupied"},
		{stamp + "\n" + stamp + "BOOT FAILED\n" + stamp + "===========\n" + stamp +
			"ERROR: could not bind\n" + stamp + "    supervisor: x\nlast\n", "could not bind"},
		{stamp + "Supervisor x had child y\n" + stamp + "    reason: z\n",
			"<0.132.0> Supervisor x had child y"},
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

// A server of version 4 is not software for mirrored queues, and is for the other types.
func TestMirroredQueuesNeedVersion3(t *testing.T) {
	needServer(t)
	for plugin, want := range map[string]bool{"rabbit-3.13.7": true, "rabbit-4.0.5": false} {
		dir := t.TempDir()
		programs := filepath.Join(dir, "sbin")
		for _, folder := range []string{programs, filepath.Join(dir, "plugins", plugin)} {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		script := filepath.Join(programs, serverScript)
		if err := os.WriteFile(script, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		for kind, found := range map[string]bool{mirrored: want, quorum: true} {
			err := rabbitSystem{}.FindSoftware(systemtest.Settings(t, rabbitSystem{},
				driver.SetPrograms, programs, setQueueType, kind))
			if (err == nil) != found {
				t.Errorf("%s, %s queues: %v", plugin, kind, err)
			}
		}
	}
}

// How often a server looks for the others depends on its version, which stands in the name of a
// folder beside the script.
func TestLooksOf(t *testing.T) {
	often := int(servers.StartWithin / lookAfter)
	for plugin, want := range map[string]int{
		"rabbit-3.10.8": 1, "rabbit-3.12.14.ez": 1, "rabbit-3.13.0": often,
		"rabbit-4.0.5": often, "rabbit-next": often, "": often,
	} {
		dir := t.TempDir()
		script := filepath.Join(dir, "sbin", "rabbitmq-server")
		for _, folder := range []string{filepath.Dir(script), filepath.Join(dir, "plugins", plugin)} {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(script, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(dir, "link")
		if err := os.Symlink(script, link); err != nil {
			t.Fatal(err)
		}
		if got := looksOf(link); got != want {
			t.Errorf("%q: looks %d times again, want %d", plugin, got, want)
		}
	}
}
