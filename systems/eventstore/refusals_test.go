package eventstore

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/gossip"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// webServer returns the address of an ordinary web server.
func webServer(t *testing.T) string {
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	return strings.TrimPrefix(web.URL, "http://")
}

// leaderless returns three nodes without a leader, the last of them a read-only replica.
func leaderless(t *testing.T) *servers {
	s := fresh(t, 3, false, true)
	s.nodes[0].kill()
	s.nodes[2].state = gossip.MemberInfo_ReadOnlyReplica
	return s
}

func TestRefusals(t *testing.T) {
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	web, alone := webServer(t), leaderless(t).endpoints()
	greets := systemtest.Stranger(t, false, "220 mail.example.org ready\r\n")
	for name, c := range map[string]struct {
		level  workload.Level // the servers are encrypted at level 3
		change func(o *system.Options)
		says   []string
	}{
		"no endpoints": {workload.SyncAsync, func(o *system.Options) { o.Endpoints = nil },
			[]string{"cannot start EventStoreDB", "name its endpoints"}},
		"level 1": {workload.SyncAsync, func(o *system.Options) { o.Durability = 1 },
			[]string{"only the leader flushes", "ask for durability level 2"}},
		"wrong password": {workload.AsyncSync, func(o *system.Options) {
			o.Credentials.Password = "wrong"
		}, []string{"refuses the user or password", "check the target's credentials"}},
		"no password": {workload.AsyncSync,
			func(o *system.Options) { o.Credentials = system.Credentials{} },
			[]string{"the user lacks rights", "$ops or $admins"}},
		"password without TLS": {workload.SyncAsync, func(o *system.Options) {
			o.Credentials = system.Credentials{User: "admin", Password: "secret"}
		}, []string{"over TLS only", "give the target tls"}},
		"TLS to a plaintext port": {workload.SyncAsync, func(o *system.Options) {
			o.TLS = stranger.ClientConfig()
		}, []string{"does not speak TLS", "remove tls from the target"}},
		"plaintext to a TLS port": {workload.AsyncSync, func(o *system.Options) {
			o.TLS, o.Credentials = nil, system.Credentials{}
		}, []string{"give the target tls or correct the port"}},
		"untrusted certificate": {workload.AsyncSync, func(o *system.Options) {
			o.TLS = o.TLS.Clone()
			o.TLS.RootCAs = x509.NewCertPool()
		}, []string{"without a trusted signature", "tls.ca_file"}},
		"another server name": {workload.AsyncSync, func(o *system.Options) {
			o.TLS = o.TLS.Clone()
			o.TLS.ServerName = "elsewhere"
		}, []string{"remove tls.server_name"}},
		"web server": {workload.SyncAsync, func(o *system.Options) { o.Endpoints = []string{web} },
			[]string{"is not EventStoreDB's", "correct the port"}},
		"a server that speaks first": {workload.SyncAsync, func(o *system.Options) {
			o.Endpoints = []string{greets}
		}, []string{"is not EventStoreDB's", "correct the port"}},
		"follower without a leader": {workload.SyncAsync, func(o *system.Options) {
			o.Endpoints = alone[1:2]
		}, []string{"knows no leader", "nothing can be written"}},
		"read-only replica without a leader": {workload.SyncAsync, func(o *system.Options) {
			o.Endpoints = alone[2:]
		}, []string{"knows no leader", "start the nodes that are missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := optionsOf(t, serversOf(t, c.level), c.level)
			c.change(&o)
			began, err := systemtest.TryConnect(t, New(), o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

func serversOf(t testing.TB, level workload.Level) *servers {
	if level == workload.AsyncSync {
		return single.get(t)
	}
	return shared3.get(t)
}

// A follower among the endpoints is enough to find the leader, and an unreachable endpoint does no
// harm.
func TestFollowerNamesTheLeader(t *testing.T) {
	s := fresh(t, 3, false, true)
	o := optionsOf(t, s, workload.SyncAsync)
	s.nodes[1].kill()
	o.Endpoints = o.Endpoints[1:]
	systemtest.SendAndReceive(t, connect(t, o), "by-a-follower")
}

// A user who may not manage groups gets the error when the consumer opens.
func TestUserWithoutRights(t *testing.T) {
	o := optionsOf(t, single.get(t), workload.AsyncSync)
	o.Credentials = system.Credentials{User: "clerk", Password: "letters"}
	c := connect(t, o)
	topic := systemtest.Topic(t, c, "clerk", 1)
	_, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{Topic: topic, Subscription: "s"})
	systemtest.Refused(t, time.Now(), err, "the user lacks rights", "$ops or $admins")
	evidence, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil {
		t.Fatal(err)
	}
	if f := fact(t, evidence, noFlush); !strings.HasPrefix(f.Source, "stated, not read: it needs") {
		t.Errorf("the flush is marked as %q", f.Source)
	}
	o.Credentials.AdminUser, o.Credentials.AdminPassword = "admin", "secret"
	evidence, err = connect(t, o).ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil {
		t.Fatal(err)
	}
	if f := fact(t, evidence, noFlush); f.Source != "GET /info/options" || f.Value != "False" {
		t.Errorf("the flush is %+v", f)
	}
}

func fact(t *testing.T, e system.Evidence, name string) system.Fact {
	t.Helper()
	for _, f := range e.Facts {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no fact %s in %+v", name, e.Facts)
	return system.Fact{}
}

// Servers of another kind than the level asks for are refused.
func TestDurabilityIsReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		level workload.Level
		nodes int
		flush string
		says  []string
	}{
		"one node": {workload.SyncAsync, 1, "False",
			[]string{"level 2", "three nodes or more", "gossip knows 1"}},
		"two nodes": {workload.SyncAsync, 2, "False",
			[]string{"level 2", "gossip knows 2"}},
		"a cluster": {workload.AsyncSync, 3, "False",
			[]string{"level 3", "one node", "gossip knows 3"}},
		"no flush": {workload.AsyncSync, 1, "True",
			[]string{"level 3", "UnsafeDisableFlushToDisk false", "has it true"}},
		"flushes": {workload.AsyncAsync, 1, "False",
			[]string{"level 4", "UnsafeDisableFlushToDisk true", "has it false"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, c.nodes, false, true)
			s.options = map[string]string{noFlush: c.flush}
			connected := connect(t, optionsOf(t, s, c.level))
			topic := systemtest.Topic(t, connected, "read-back", 1)
			_, err := connected.ReadDurability(t.Context(), []system.Topic{topic})
			systemtest.Refused(t, time.Now(), err, c.says...)
		})
	}
	c := connect(t, optionsOf(t, shared3.get(t), workload.SyncAsync))
	_, err := c.ReadDurability(t.Context(), []system.Topic{{Name: "nowhere", Partitions: 1}})
	systemtest.Refused(t, time.Now(), err, "topic nowhere: there is no such topic")
}

func TestCheck(t *testing.T) {
	systemtest.Checks(t, New(), []systemtest.Checked{
		{Level: workload.SyncAsync},
		{Level: workload.AsyncAsync, Given: []string{setReadBatch, "1000"}},
		{Level: workload.SyncSync, Says: []string{"cannot give durability level 1"}},
		{Level: 5, Says: []string{"the levels are 1 to 4"}},
		{Level: workload.SyncAsync, Given: []string{setBuffer, "0"}, Says: []string{"from 1 to 100000"}},
		{Level: workload.SyncAsync, Given: []string{setCheckMin, "2000"},
			Says: []string{"is more than checkpoint_max"}},
	})
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, New(), []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, After: 31 * time.Second, Why: "message_timeout (30s)"},
		{Delivery: workload.AtLeastOnce, Given: []string{setTimeout, "2s"},
			After: 3 * time.Second, Why: "message_timeout (2s)"},
	})
}

// The library panics when the answer to a deletion has no position; the driver returns an error.
func TestDeletionWithoutAPosition(t *testing.T) {
	s := fresh(t, 1, false, true)
	s.options, s.noPositions = map[string]string{noFlush: "True"}, true
	c := connect(t, optionsOf(t, s, workload.AsyncAsync))
	topic := system.Topic{Name: "positionless", Partitions: 1}
	if err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	systemtest.Refused(t, time.Now(), c.DeleteTopic(t.Context(), topic),
		"cannot read the answer to the deletion")
}
