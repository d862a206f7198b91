package postgres

import (
	"os"
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
	for i, n := range c.Members() {
		if _, err := os.Stat(n.Path(firstPass)); err == nil {
			t.Errorf("%s keeps the password of initdb", n.Name)
		}
		if i > 0 && !strings.Contains(systemtest.IsPrivate(t, n.Path(passFile)), password) {
			t.Errorf("%s: the password is not where this test looks", n.Name)
		}
	}
	encrypted := clusterOf(t, workload.SyncSync)
	systemtest.IsPrivate(t, filepath.Join(encrypted.Members()[0].Dir, "key.pem"))
	if encrypted.TLS() == nil || c.TLS() != nil {
		t.Error("the wrong cluster is encrypted")
	}
	// The standbys' connections are encrypted as well.
	rows, err := connect(t, optionsOf(t, workload.SyncSync)).ask(t.Context(),
		"SELECT ssl::text FROM pg_stat_ssl JOIN pg_stat_replication USING (pid)")
	if err != nil || len(rows) != 2 || rows[0][0] != "true" || rows[1][0] != "true" {
		t.Errorf("the standbys' connections: %v, %v", rows, err)
	}
}

func TestStartEndsWhenToldTo(t *testing.T) {
	needServer(t)
	if err := systemtest.FailedStart(t, postgresSystem{}, 50*time.Millisecond); err != nil {
		t.Log(err)
	}
}

// On a machine without the server the error names its package.
func TestServerIsMissing(t *testing.T) {
	elsewhere := programs
	elsewhere.Folders = []string{t.TempDir()}
	_, err := elsewhere.Find(system.Settings{})
	systemtest.Refused(t, time.Now(), err, "install the package postgresql")
}
