package redis

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestProvisionedCluster(t *testing.T) {
	c := clusterOf(t, workload.SyncAsync)
	systemtest.RunsOnLoopback(t, c, 3, 3)
	password := c.Credentials().Password
	systemtest.KeepsSecrets(t, c.Nodes(), password)
	for _, n := range c.Members() {
		if !strings.Contains(systemtest.IsPrivate(t, n.Path(configFile)), password) {
			t.Errorf("%s: the password is not where this test looks", n.Name)
		}
	}
	encrypted := clusterOf(t, workload.SyncSync)
	systemtest.IsPrivate(t, filepath.Join(encrypted.Members()[0].Dir, "key.pem"))
	if encrypted.TLS() == nil || c.TLS() != nil {
		t.Error("the wrong cluster is encrypted")
	}
}

func TestStartEndsWhenToldTo(t *testing.T) {
	needServer(t)
	if err := systemtest.FailedStart(t, redisSystem{}, time.Millisecond); err != nil {
		t.Log(err)
	}
}

// On a machine without the server the error names its package.
func TestServerIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := systemtest.FailedStart(t, redisSystem{}, time.Second)
	systemtest.Refused(t, time.Now(), err, "install the package redis-server")
}

// Valkey carries messages as Redis does, and every result says that it is not Redis.
func TestValkeyIsAStandIn(t *testing.T) {
	s := systemtest.Settings(t, redisSystem{}, setServer, serverValkey)
	if err := (redisSystem{}).FindSoftware(s); err != nil {
		t.Skip(err)
	}
	servers := systemtest.Provision[system.Provisioned](t, redisSystem{}, workload.SyncAsync,
		setServer, serverValkey)
	c := connect(t, systemtest.OptionsOf(t, redisSystem{}, servers, workload.SyncAsync,
		setServer, serverValkey))
	topic := systemtest.SendAndReceive(t, c, "stand-in")
	evidence, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil {
		t.Fatal(err)
	}
	standIns := 0
	for _, f := range evidence.Facts {
		if f.Name == system.StandIn && strings.HasPrefix(f.Value, "Valkey ") {
			standIns++
		}
	}
	if standIns != len(servers.Nodes()) {
		t.Errorf("%d of %d servers are named as stand-ins", standIns, len(servers.Nodes()))
	}
}
