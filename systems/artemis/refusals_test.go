package artemis

import (
	"net"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	plain := func(t testing.TB) system.Options { return optionsOf(t, shared, workload.SyncAsync) }
	all := systemtest.UsualRefusals(t, plain, func(t testing.TB) system.Options {
		return optionsOf(t, secured, workload.SyncSync)
	})
	all["a backup alone"] = systemtest.Refusal{Of: plain, Change: func(o *system.Options) {
		o.Endpoints = o.Endpoints[1:2]
	}, Says: []string{"nothing listens there"}}
	all["the port of the core protocol"] = systemtest.Refusal{Of: plain,
		Change: func(o *system.Options) {
			host, _, _ := net.SplitHostPort(o.Endpoints[0])
			o.Endpoints = []string{net.JoinHostPort(host, "61616")}
		}, Says: []string{"correct the port"}}
	systemtest.Refusals(t, artemisSystem{}, all)
}

// Servers that do not give the level are recognised.
func TestDurabilityIsReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		servers  *systemtest.Servers[*driver.Cluster]
		asked    workload.Level
		change   func(o *system.Options)
		settings []string
		says     []string
	}{
		"NIO, asked for level 1": {unsynced, workload.SyncSync, nil, nil,
			[]string{"level 1", "journal-type=ASYNCIO", "has NIO"}},
		"NIO, asked for level 3": {unsynced, workload.AsyncSync, nil, nil,
			[]string{"level 3", "journal-type=ASYNCIO", "has NIO"}},
		"synced, asked for level 3": {secured, workload.AsyncSync, nil, nil,
			[]string{"level 3", "mirror sync=false", "mirror sync=true"}},
		"synced, asked for level 4": {secured, workload.AsyncAsync, nil, nil,
			[]string{"level 4", "journal-datasync=false", "journal-datasync=true"}},
		"mirrors, asked for a pair": {secured, workload.SyncAsync, nil,
			[]string{setReplication, pair}, []string{"level 2", "no backup in sync"}},
		"pair, asked for a mirror": {shared, workload.SyncAsync, nil,
			[]string{setReplication, mirror}, []string{"an AMQP mirror", "0 broker connections"}},
		"a mirror that is not named": {secured, workload.SyncSync,
			func(o *system.Options) { o.Endpoints = o.Endpoints[:1] }, nil,
			[]string{"name it as the second one"}},
		"the mirror for the first server": {secured, workload.SyncSync,
			func(o *system.Options) { o.Endpoints = []string{o.Endpoints[1], o.Endpoints[0]} },
			nil,
			[]string{"0 broker connections"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, c.servers, c.asked, c.settings...)
			if c.change != nil {
				c.change(&o)
			}
			connected := connect(t, o)
			began := time.Now()
			topic := system.Topic{Name: "read-back", Partitions: 1}
			err := connected.CreateTopic(t.Context(), topic)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
	c := connect(t, optionsOf(t, shared, workload.SyncAsync))
	_, err := c.ReadDurability(t.Context(), []system.Topic{{Name: "nowhere", Partitions: 1}})
	systemtest.Refused(t, time.Now(), err, "topic nowhere", "partition 0")
}

func TestSingleCopy(t *testing.T) {
	needServer(t)
	systemtest.SingleCopy(t, artemisSystem{}, workload.AsyncAsync, "has no backup in sync")
}
