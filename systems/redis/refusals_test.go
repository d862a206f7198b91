package redis

import (
	"context"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	plain := func(t testing.TB) system.Options { return optionsOf(t, workload.SyncAsync) }
	all := systemtest.UsualRefusals(t, plain, func(t testing.TB) system.Options {
		return optionsOf(t, workload.SyncSync)
	})
	all["read-only replica"] = systemtest.Refusal{Of: plain, Change: func(o *system.Options) {
		o.Endpoints = o.Endpoints[1:2]
	}, Says: []string{"is a read-only replica of", "name the primary"}}
	systemtest.Refusals(t, redisSystem{}, all)
}

// The real level of servers that were changed by hand is recognised.
func TestDurabilityIsReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		level             workload.Level
		on                int // the server that is changed
		key, value, reset string
		says              []string
	}{
		"primary does not sync": {workload.SyncSync, 0, appendFsync, "everysec", "always",
			[]string{"level 1", "appendfsync always on the primary", "appendfsync everysec"}},
		"a replica does not sync": {workload.SyncSync, 2, appendFsync, "no", "always",
			[]string{"level 1", "appendfsync always on the replica"}},
		"not during a rewrite": {workload.AsyncSync, 0, noFsyncAmid, "yes", "no",
			[]string{"level 3", "no-appendfsync-on-rewrite no", "no-appendfsync-on-rewrite yes"}},
		"syncs more than asked": {workload.AsyncAsync, 0, appendFsync, "always", "everysec",
			[]string{"level 4", "everysec or no", "appendfsync always"}},
		"no file": {workload.AsyncAsync, 1, appendOnly, "no", "yes",
			[]string{"level 4", "appendonly yes on the replica", "appendonly no"}},
		"evicts": {workload.SyncAsync, 0, maxMemory, "allkeys-lru", "noeviction",
			[]string{"level 2", "evicts them"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, c.level)
			connected := connect(t, o)
			topic := systemtest.Topic(t, connected, "read-back-"+c.key+"-"+c.value, 1)
			server := connected.dial(o.Endpoints[c.on], askWithin)
			defer server.Close()
			if err := server.ConfigSet(t.Context(), c.key, c.value).Err(); err != nil {
				t.Fatal(err)
			}
			_, err := connected.ReadDurability(t.Context(), []system.Topic{topic})
			systemtest.Refused(t, time.Now(), err, c.says...)
			if err := server.ConfigSet(t.Context(), c.key, c.reset).Err(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// If the user may not read the configuration, the administrator reads it.
func TestAdministratorReadsTheConfiguration(t *testing.T) {
	o := optionsOf(t, workload.SyncAsync)
	admin := connect(t, o)
	for _, endpoint := range o.Endpoints {
		server := admin.dial(endpoint, askWithin)
		t.Cleanup(func() {
			server.Do(context.Background(), "acl", "deluser", "clerk")
			server.Close()
		})
		err := server.Do(t.Context(),
			"acl", "setuser", "clerk", "on", ">letters", "~*", "+@all", "-config").Err()
		if err != nil {
			t.Fatal(err)
		}
	}
	limited := o
	limited.Credentials = system.Credentials{User: "clerk", Password: "letters"}
	clerk := connect(t, limited)
	topic := systemtest.SendAndReceive(t, clerk, "clerk")
	_, err := clerk.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "the right to CONFIG GET")
	limited.Credentials.AdminUser = o.Credentials.User
	limited.Credentials.AdminPassword = o.Credentials.Password
	_, err = connect(t, limited).ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil {
		t.Error(err)
	}
}

func TestFewerReplicasThanAsked(t *testing.T) {
	c := connect(t, optionsOf(t, workload.SyncAsync, setReplication, "4"))
	topic := systemtest.Topic(t, c, "four-copies", 1)
	_, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "needs 4 copies", "has 2 replicas online")
	_, err = c.ReadDurability(t.Context(), []system.Topic{{Name: "nowhere", Partitions: 1}})
	systemtest.Refused(t, time.Now(), err, "topic nowhere: the primary has 0 of 1 streams")
}

func TestSingleCopy(t *testing.T) {
	needServer(t)
	for _, level := range []workload.Level{workload.AsyncSync, workload.AsyncAsync} {
		systemtest.SingleCopy(t, redisSystem{}, level, "has 0 replicas online")
	}
}
