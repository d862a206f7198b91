package activemq

import (
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	of := func(servers *testServers) func(testing.TB) system.Options {
		return func(t testing.TB) system.Options { return optionsOf(t, servers) }
	}
	all := systemtest.UsualRefusals(t, of(alone), of(secured))
	all["port of another protocol"] = systemtest.Refusal{Of: func(t testing.TB) system.Options {
		o := optionsOf(t, alone)
		o.Endpoints = []string{driver.At(alone.Get(t).Members()[0].Host, jolokiaPort)}
		return o
	}, Says: []string{"does not answer", "correct the port"}}
	all["a slave alone"] = systemtest.Refusal{Of: func(t testing.TB) system.Options {
		o := optionsOf(t, shared)
		master, err := connect(t, o).jolokia.master(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o.Endpoints = slices.DeleteFunc(slices.Clone(o.Endpoints), func(e string) bool {
			return e == master.endpoint
		})[:1]
		return o
	}, Says: []string{"is a slave", "name every broker"}}
	systemtest.Refusals(t, activeSystem{}, all)
}

// Brokers that give another level than requested are refused before a topic is created.
func TestDurabilityIsReadBack(t *testing.T) {
	for name, one := range map[string]struct {
		servers *testServers
		change  func(o *system.Options)
		says    []string
	}{
		"local_mem is not level 1": {shared, func(o *system.Options) {
			o.Durability = workload.SyncSync
		}, []string{"level 1", "sync=quorum_disk", "sync=local_mem"}},
		"periodic is not level 3": {alone, func(o *system.Options) {
			o.Durability = workload.AsyncSync
		}, []string{"level 3", "always", "periodic"}},
		"always is not level 4": {secured, func(o *system.Options) {
			o.Durability = workload.AsyncAsync
		}, []string{"level 4", "periodic or never", "always"}},
		"the other store": {alone, func(o *system.Options) {
			o.Settings = systemtest.Settings(t, activeSystem{})
		}, []string{"has no replicated LevelDB"}},
		"no KahaDB": {shared, func(o *system.Options) {
			o.Settings = systemtest.Settings(t, activeSystem{}, setStore, storeKahaDB)
		}, []string{"does not show how its journal syncs", storeBean}},
		"no Jolokia": {alone, func(o *system.Options) {
			o.Settings = systemtest.Settings(t, activeSystem{}, setStore, storeKahaDB,
				setJolokiaPort, "9")
		}, []string{"Jolokia", "web console", setJolokiaPort}},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, one.servers)
			one.change(&o)
			began := time.Now()
			err := connect(t, o).CreateTopic(t.Context(),
				system.Topic{Name: "refused", Partitions: 1})
			systemtest.Refused(t, began, err, one.says...)
		})
	}
}
