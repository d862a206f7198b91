package rocketmq

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	secured := func(t testing.TB) system.Options { return optionsOf(t, workload.SyncAsync) }
	all := systemtest.UsualRefusals(t, func(t testing.TB) system.Options {
		return optionsOf(t, workload.AsyncSync)
	}, secured)
	blind := all["TLS to a plaintext port"]
	blind.Says = []string{"like a port without TLS", "remove tls from the target"}
	all["TLS to a plaintext port"] = blind
	maps.Copy(all, map[string]systemtest.Refusal{
		"unknown user": {Of: secured, Change: func(o *system.Options) {
			o.Credentials.User = "nobody"
		}, Says: []string{"refuses the user or password"}},
		"a broker as the name server": {Of: func(t testing.TB) system.Options {
			o := secured(t)
			o.Endpoints = []string{shared.Get(t).Members()[0].Address}
			return o
		}, Says: []string{"is a broker", "name servers"}},
	})
	systemtest.Refusals(t, rocketSystem{}, all)
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
