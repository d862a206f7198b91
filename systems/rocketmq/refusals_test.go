package rocketmq

import (
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		level  workload.Level // the cluster is encrypted at level 2
		change func(o *system.Options)
		says   []string
	}{
		"wrong password": {workload.SyncAsync, func(o *system.Options) {
			o.Credentials.Password = "wrong"
		}, []string{"refuses the user or password", "check the target's credentials"}},
		"no password": {workload.SyncAsync, func(o *system.Options) {
			o.Credentials = system.Credentials{}
		}, []string{"refuses the user or password"}},
		"unknown user": {workload.SyncAsync, func(o *system.Options) {
			o.Credentials.User = "nobody"
		}, []string{"refuses the user or password"}},
		"TLS to a plaintext port": {workload.AsyncSync, func(o *system.Options) {
			o.TLS = stranger.ClientConfig()
		}, []string{"remove tls from the target"}},
		"plaintext to a TLS port": {workload.SyncAsync, func(o *system.Options) { o.TLS = nil },
			[]string{"give the target tls or correct the port"}},
		"untrusted certificate": {workload.SyncAsync, func(o *system.Options) {
			o.TLS = o.TLS.Clone()
			o.TLS.RootCAs = x509.NewCertPool()
		}, []string{"without a trusted signature", "tls.ca_file"}},
		"a broker as the name server": {workload.SyncAsync, func(o *system.Options) {
			o.Endpoints = []string{shared.Get(t).Members()[0].Address}
		}, []string{"is a broker", "name servers"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, c.level)
			c.change(&o)
			began, err := systemtest.TryConnect(t, rocketSystem{}, o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

// The real level of brokers that were changed while they run is recognised.
func TestDurabilityIsReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		level             workload.Level
		key, value, reset string
		says              []string
	}{
		"waits for no slave": {workload.SyncAsync, confInSync, "1", "2",
			[]string{"level 2", "inSyncReplicas 2 on the master", "has inSyncReplicas 1"}},
		"waits for fewer slaves": {workload.SyncAsync, confAutoInSync, "true", "false",
			[]string{"level 2", "enableAutoInSyncReplicas false"}},
		"asynchronous master": {workload.SyncAsync, confRole, asyncMaster, syncMaster,
			[]string{"level 2", "brokerRole SYNC_MASTER on the master", "has brokerRole ASYNC"}},
		"does not sync": {workload.AsyncSync, confFlush, asyncFlush, syncFlush,
			[]string{"level 3", "flushDiskType SYNC_FLUSH on the master", "ASYNC_FLUSH"}},
		"syncs more than asked": {workload.AsyncAsync, confFlush, syncFlush, asyncFlush,
			[]string{"level 4", "flushDiskType ASYNC_FLUSH on the master"}},
	} {
		t.Run(name, func(t *testing.T) {
			connected := connect(t, optionsOf(t, c.level))
			topic := systemtest.Topic(t, connected, "read-back-"+c.key, 1)
			master := serversOf(c.level).Get(t).Members()[0].Address
			set := func(value string) {
				t.Helper()
				_, err := connected.ask(t.Context(), master, askSetConfig, nil,
					[]byte(c.key+"="+value+"\n"))
				if err != nil {
					t.Fatal(err)
				}
			}
			set(c.value)
			_, err := connected.ReadDurability(t.Context(), []system.Topic{topic})
			set(c.reset)
			systemtest.Refused(t, time.Now(), err, c.says...)
			if _, err = connected.ReadDurability(t.Context(), []system.Topic{topic}); err != nil {
				t.Error(err)
			}
		})
	}
}

const askSetConfig = 25

func TestFewerSlavesThanAsked(t *testing.T) {
	o := optionsOf(t, workload.SyncAsync, setReplication, "4")
	c := connect(t, o)
	err := c.CreateTopic(t.Context(), system.Topic{Name: "four-copies", Partitions: 1})
	systemtest.Refused(t, time.Now(), err, "needs 4 copies", "has 2 slaves in sync")
	c = connect(t, optionsOf(t, workload.SyncAsync))
	_, err = c.ReadDurability(t.Context(), []system.Topic{{Name: "nowhere", Partitions: 1}})
	systemtest.Refused(t, time.Now(), err, "topic nowhere: the masters have 0 of 1 queues")
	single := connect(t, optionsOf(t, workload.AsyncAsync, setReplication, "3"))
	topic := systemtest.Topic(t, single, "three", 1)
	_, err = single.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "asks for 3 copies", "has 0 slaves in sync")
}

// A broker that is alone gives the levels that need no copies, and only those.
func TestSingleCopy(t *testing.T) {
	c := connect(t, optionsOf(t, workload.AsyncAsync))
	topic := systemtest.SendAndReceive(t, c, "single")
	evidence, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil || evidence.Copies != 1 {
		t.Errorf("the durability is %+v, %v", evidence, err)
	}
	o := optionsOf(t, workload.AsyncAsync)
	o.Durability = workload.SyncAsync
	err = connect(t, o).CreateTopic(t.Context(), system.Topic{Name: "majority", Partitions: 1})
	systemtest.Refused(t, time.Now(), err, "durability level 2 needs 3 copies",
		"ask for --durability 3 or 4", "has 0 slaves in sync")
	versions, err := c.ServerVersions(t.Context())
	if err != nil || len(versions) != 1 || !strings.HasSuffix(versions[0], " "+rocketVersion) {
		t.Errorf("versions %v, %v", versions, err)
	}
}

func TestNamesAreChecked(t *testing.T) {
	c := connect(t, optionsOf(t, workload.AsyncAsync))
	err := c.CreateTopic(t.Context(), system.Topic{Name: "a.b", Partitions: 1})
	systemtest.Refused(t, time.Now(), err, `"a.b" is no name of a topic`)
	topic := systemtest.Topic(t, c, "names", 1)
	_, err = c.OpenConsumer(t.Context(), system.ConsumerOptions{Topic: topic, Subscription: "a b"})
	systemtest.Refused(t, time.Now(), err, `"a b" is no name of a subscription`)
}
