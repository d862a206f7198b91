package mongodb

import (
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/description"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	needServer(t)
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	ssh := systemtest.Stranger(t, false, "SSH-2.0-OpenSSH_9.2p1 Debian\r\n")
	for name, c := range map[string]struct {
		encrypted bool
		change    func(o *system.Options)
		says      []string
	}{
		"a password where there are none": {false, func(o *system.Options) {
			o.Credentials = system.Credentials{User: "me", Password: "secret"}
		}, []string{"has no login", "remove the credentials"}},
		"level 1": {false, func(o *system.Options) { o.Durability = workload.SyncSync },
			[]string{"level 1 needs MongoDB's own server", "mongo-java-server", "take level 4"}},
		"level 2": {false, func(o *system.Options) { o.Durability = workload.SyncAsync },
			[]string{"level 2 needs MongoDB's own server"}},
		"level 3": {false, func(o *system.Options) { o.Durability = workload.AsyncSync },
			[]string{"level 3 needs MongoDB's own server"}},
		"TLS to a plaintext port": {false, func(o *system.Options) {
			o.TLS = stranger.ClientConfig()
		}, []string{"like a port without TLS", "remove tls from the target"}},
		"plaintext to a TLS port": {true, func(o *system.Options) { o.TLS = nil },
			[]string{"give the target tls or correct the port"}},
		"untrusted certificate": {true, func(o *system.Options) {
			o.TLS = o.TLS.Clone()
			o.TLS.RootCAs = x509.NewCertPool()
		}, []string{"without a trusted signature", "tls.ca_file"}},
		"another protocol": {false, func(o *system.Options) { o.Endpoints = []string{ssh} },
			[]string{"is not MongoDB's", "correct the port"}},
	} {
		t.Run(name, func(t *testing.T) {
			servers := shared
			if c.encrypted {
				servers = secured
			}
			o := systemtest.OptionsOf(t, mongoSystem{}, servers.Get(t), workload.AsyncAsync)
			// The first connection makes the server load its classes, which takes seconds on a full
			// machine.
			systemtest.Connect[*cluster](t, mongoSystem{}, o)
			c.change(&o)
			began, err := systemtest.TryConnect(t, mongoSystem{}, o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

// The test uses the library's known error, because no replica set can run here.
func TestSecondaryWithoutPrimary(t *testing.T) {
	c := &cluster{options: system.Options{Endpoints: []string{"b:27017"}}}
	for name, one := range map[string]struct {
		desc description.Topology
		says []string
	}{
		"a secondary": {description.Topology{Servers: []description.Server{
			{Addr: "a:27017", LastError: errors.New("gone")},
			{Addr: "b:27017", Kind: description.ServerKindRSSecondary},
		}}, []string{"b:27017 is a read-only secondary", "start a majority"}},
		"an old server": {description.Topology{CompatibilityErr: errors.New("version 3.4")},
			[]string{"take another version of the server"}},
		"login refused": {description.Topology{Servers: []description.Server{{
			Addr: "a:27017", LastError: mongo.CommandError{Code: codeLoginFailed}}}},
			[]string{"refuses the user or password", setAuthSource}},
		"no replica set": {description.Topology{}, []string{"no endpoint is a member",
			"name one server"}},
		"silence": {description.Topology{Servers: []description.Server{{Addr: "a:27017"}}},
			[]string{"does not answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := topology.ServerSelectionError{Desc: one.desc,
				Wrapped: errors.New("server selection timeout")}
			systemtest.Refused(t, time.Now(), c.explain(fmt.Errorf("hello: %w", err)), one.says...)
		})
	}
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// The documented answers of a replica set are compared with the levels.
func TestReplicaSetIsHeldAgainstTheLevel(t *testing.T) {
	mongod := server{kind: kindMongod, version: "8.0.4", set: "rs"}
	live := func(n int) (all []member) {
		for i := range n {
			all = append(all, member{fmt.Sprintf("m%d:27017", i), mongod, "wiredTiger", true})
		}
		return all
	}
	memory := live(3)
	memory[2].engine, memory[2].persistent = "inMemory", false
	for _, c := range []struct {
		name    string
		level   workload.Level
		journal *bool
		members []member
		arbiter bool
		says    string // empty: the level is given
	}{
		{"1", workload.SyncSync, yes(), live(3), false, ""},
		{"1 by default", workload.SyncSync, nil, live(3), false, ""},
		{"1 in memory", workload.SyncSync, no(), live(3), false, "asks for " +
			"writeConcernMajorityJournalDefault: true, and the replica set rs has false"},
		{"2", workload.SyncAsync, no(), live(3), false, ""},
		{"2 in journals", workload.SyncAsync, yes(), live(3), false,
			"writeConcernMajorityJournalDefault: false, and the replica set rs has true"},
		{"2 with two members", workload.SyncAsync, no(), live(2), false,
			"asks for 3 members (replication_factor), and the replica set rs has 2"},
		{"1 with an arbiter", workload.SyncSync, yes(), live(3), true, "arbiter"},
		{"3", workload.AsyncSync, yes(), live(1), false, ""},
		{"3 without a disk", workload.AsyncSync, yes(), memory, false, "m2:27017 has inMemory"},
		{"4", workload.AsyncAsync, yes(), live(3), true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var set configuration
			config := bson.D{{Key: "_id", Value: "rs"}}
			if c.journal != nil {
				config = append(config,
					bson.E{Key: "writeConcernMajorityJournalDefault", Value: *c.journal})
			}
			members := bson.A{bson.D{{Key: "host", Value: "m0:27017"}, {Key: "votes", Value: 1},
				{Key: "arbiterOnly", Value: c.arbiter}}}
			config = append(config, bson.E{Key: "members", Value: members})
			raw, err := bson.Marshal(bson.D{{Key: "config", Value: config}})
			if err == nil {
				err = bson.Unmarshal(raw, &set)
			}
			if err != nil {
				t.Fatal(err)
			}
			r := &driver.Reading{Level: c.level}
			err = checkSet(r, set, c.members, 3)
			if c.says != "" {
				systemtest.Refused(t, time.Now(), err, c.says)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// The answers are recorded from real servers, except those of mongod and mongos, which are from
// MongoDB's documentation.
func TestKindsOfServers(t *testing.T) {
	for _, c := range []struct {
		hello helloAnswer
		build buildAnswer
		want  string
	}{
		{helloAnswer{Set: "rs"}, buildAnswer{Version: "8.0.4", Git: "bc35ab4"},
			"mongod 8.0.4"},
		{helloAnswer{}, buildAnswer{Version: "5.0.0"},
			"mongo-java-server (not MongoDB; it announces version 5.0.0)"},
		{helloAnswer{}, buildAnswer{Version: "7.0.42", Git: "unknown",
			Ferret: "v1.24.2"}, "FerretDB v1.24.2 (not MongoDB; it announces version 7.0.42)"},
	} {
		if got := serverOf(c.hello, c.build).String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	router := serverOf(helloAnswer{Message: "isdbgrid"}, buildAnswer{Git: "x"})
	systemtest.Refused(t, time.Now(), router.gives(workload.AsyncAsync), "name the members")
	alone := server{kind: kindMongod}
	systemtest.Refused(t, time.Now(), alone.gives(workload.SyncAsync), "needs a replica set")
	if err := alone.gives(workload.AsyncSync); err != nil {
		t.Error(err)
	}
}

func TestTopicsThatDoNotFit(t *testing.T) {
	c := connect(t, optionsOf(t))
	topic := systemtest.Topic(t, c, "fits", 2)
	_, err := c.ReadDurability(t.Context(), []system.Topic{{Name: "fits", Partitions: 3}})
	systemtest.Refused(t, time.Now(), err, "topic fits has 2 partitions instead of 3")
	_, err = c.ReadDurability(t.Context(), []system.Topic{{Name: "nowhere", Partitions: 1}})
	systemtest.Refused(t, time.Now(), err, "there is no topic nowhere")
	_, err = c.OpenProducer(t.Context(), system.ProducerOptions{Topic: topic, InFlight: 1,
		MessageMax: 16 << 20})
	systemtest.Refused(t, time.Now(), err, "do not fit into documents")
	err = c.CreateTopic(t.Context(), topic)
	systemtest.Refused(t, time.Now(), err, "a topic of the name exists")
}
