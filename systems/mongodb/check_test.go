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
	withoutMongod := func(err error) bool {
		var wrong strict.Violations
		return err != nil && !errors.As(err, &wrong)
	}
	for _, c := range []struct {
		level    workload.Level
		nodes    int
		settings []string
		want     []string
	}{
		{level: workload.SyncSync}, // endpoints
		{level: workload.AsyncAsync, nodes: 3},
		{level: workload.AsyncAsync, nodes: 1, settings: []string{setServer, serverJava}},
		{level: 5, nodes: 3, want: []string{"the levels are 1 to 4"}},
		{level: workload.SyncAsync, nodes: 3, want: []string{
			"level 2 is not available: this machine lacks mongod", "gives level 4 only"}},
		{level: workload.SyncSync, nodes: 3, settings: []string{setServer, serverJava},
			want: []string{"level 1 is not available: the target asks for server: java-server"}},
		{level: workload.AsyncAsync, nodes: 3, settings: []string{setServer, kindMongod},
			want: []string{"install the package mongodb-org-server"}},
		{level: workload.SyncSync, nodes: 5, settings: []string{setServer, kindMongod},
			want: []string{"asks for 3 members, and the testbed has 5 nodes"}},
		{level: workload.AsyncAsync, settings: []string{setHeap, "2GB"},
			want: []string{"these run already"}},
		{level: workload.AsyncAsync, nodes: 3, settings: []string{setLinger, "2m", setBatch, "0",
			setPoll, "0s", setReplication, "2", setHeap, "1MB"}, want: []string{
			"from 0s to 1m", "from 1 to 100k", "from 1ms to 1m", "from 3 to 7", "at least 64MB"}},
	} {
		err := mongoSystem{}.Check(system.Check{
			Settings:   systemtest.Settings(t, mongoSystem{}, c.settings...),
			Durability: c.level, Nodes: c.nodes,
		})
		if len(c.want) == 0 && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if len(c.want) > 0 && strings.Contains(c.want[0], "mongod") &&
			!withoutMongod(err) {
			t.Errorf("%+v: a study would take it for a mistake: %v", c, err)
		}
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %q", c, err, part)
			}
		}
	}
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
