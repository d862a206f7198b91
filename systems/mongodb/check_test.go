package mongodb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Without a mongod, auto is mongo-java-server, and levels 1 to 3 are refused before
// anything starts.
func TestCheck(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	lacking := []systemtest.Checked{
		{Level: workload.SyncAsync, Nodes: 3, Says: []string{
			"level 2 is not available: this machine lacks mongod", "gives level 4 only"}},
		{Level: workload.AsyncAsync, Nodes: 3, Given: []string{setServer, kindMongod},
			Says: []string{"install the package mongodb-org-server"}},
	}
	systemtest.Checks(t, mongoSystem{}, lacking)
	for _, c := range lacking {
		err := mongoSystem{}.Check(system.Check{Durability: c.Level, Nodes: c.Nodes,
			Settings: systemtest.Settings(t, mongoSystem{}, c.Given...)})
		var wrong strict.Violations
		if err == nil || errors.As(err, &wrong) {
			t.Errorf("%+v: a study would take it for a mistake: %v", c, err)
		}
	}
	systemtest.Checks(t, mongoSystem{}, []systemtest.Checked{
		{Level: workload.SyncSync}, // endpoints
		{Level: workload.AsyncAsync, Nodes: 3},
		{Level: workload.AsyncAsync, Nodes: 1, Given: []string{setServer, serverJava}},
		{Level: 5, Nodes: 3, Says: []string{"the levels are 1 to 4"}},
		{Level: workload.SyncSync, Nodes: 3, Given: []string{setServer, serverJava},
			Says: []string{"level 1 is not available: the target asks for server: java-server"}},
		{Level: workload.SyncSync, Nodes: 5, Given: []string{setServer, kindMongod},
			Says: []string{"asks for 3 members, and the testbed has 5 nodes"}},
		{Level: workload.AsyncAsync, Given: []string{setHeap, "2GB"},
			Says: []string{"these run already"}},
		{Level: workload.AsyncAsync, Nodes: 3, Given: []string{setLinger, "2m", setBatch, "0",
			setPoll, "0s", setReplication, "2", setHeap, "1MB"}, Says: []string{
			"from 0s to 1m", "from 1 to 100k", "from 1ms to 1m", "from 3 to 7", "at least 64MB"}},
	})
}

// On a machine without the server, the error comes before anything starts.
func TestServerIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	began := time.Now()
	err := systemtest.FailedStart(t, mongoSystem{}, time.Second, setServer, kindMongod)
	systemtest.Refused(t, began, err, "this machine lacks mongod, MongoDB's server")
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, mongoSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "findOneAndDelete"},
		{Delivery: workload.AtLeastOnce, After: 31 * time.Second, Why: "lease (30s)"},
		{Delivery: workload.AtLeastOnce, Given: []string{setLease, "200ms"},
			After: 400 * time.Millisecond, Why: "lease (200ms)"},
	})
}

// Message ids grow, within a second and from one second to the next.
func TestSequence(t *testing.T) {
	var s sequence
	s.begin()
	last := s.next()
	s.last.Store(s.last.Load() | (1<<countBits - 10)) // the count is about to be full
	for range 100 {
		id := s.next()
		if id.Hex() <= last.Hex() {
			t.Fatalf("%s comes after %s", id, last)
		}
		last = id
	}
}

func TestProvisionedServer(t *testing.T) {
	c := clusterOf(t)
	systemtest.RunsOnLoopback(t, c, 1, 1)
	versions, err := connect(t, optionsOf(t)).ServerVersions(t.Context())
	if err != nil || len(versions) != 1 || !strings.Contains(versions[0], kindJava) {
		t.Errorf("%q, %v", versions, err)
	}
	encrypted := secured.Get(t)
	o := systemtest.OptionsOf(t, mongoSystem{}, encrypted, workload.AsyncAsync)
	if o.TLS == nil || c.TLS() != nil {
		t.Error("the wrong server is encrypted")
	}
	systemtest.SendAndReceive(t, connect(t, o), "encrypted")
	systemtest.IsPrivate(t, encrypted.Members()[0].Path("key.pem"))
}

// The configuration of mongod, which has not been tried against a real one.
func TestConfigurationOfMongod(t *testing.T) {
	needServer(t)
	c := secured.Get(t)
	s := &starter{"mongod", system.Provision{
		Settings: systemtest.Settings(t, mongoSystem{}, setCache, "512MB")}}
	got := s.config(c, c.Members()[0])
	for _, line := range []string{"cacheSizeGB: 0.500", "replSetName: plimsoll",
		"bindIp: 127.", "port: 27017", "mode: requireTLS"} {
		if !strings.Contains(got, line) {
			t.Errorf("%s lacks %s", got, line)
		}
	}
}
