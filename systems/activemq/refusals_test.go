package activemq

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRefusals(t *testing.T) {
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		servers *testServers
		change  func(t *testing.T, o *system.Options)
		says    []string
	}{
		"wrong password": {alone, func(_ *testing.T, o *system.Options) {
			o.Credentials.Password = "wrong"
		}, []string{"refuses the user or password", "check the target's credentials"}},
		"no password": {alone, func(_ *testing.T, o *system.Options) {
			o.Credentials = system.Credentials{}
		}, []string{"refuses the user or password"}},
		"TLS to a plaintext port": {alone, func(_ *testing.T, o *system.Options) {
			o.TLS = stranger.ClientConfig()
		}, []string{"does not speak TLS", "remove tls from the target"}},
		"plaintext to a TLS port": {secured, func(_ *testing.T, o *system.Options) { o.TLS = nil },
			[]string{"correct the port"}},
		"untrusted certificate": {secured, func(_ *testing.T, o *system.Options) {
			o.TLS = o.TLS.Clone()
			o.TLS.RootCAs = x509.NewCertPool()
		}, []string{"without a trusted signature", "tls.ca_file"}},
		"port of another protocol": {alone, func(t *testing.T, o *system.Options) {
			o.Endpoints = []string{driver.At(alone.Get(t).Members()[0].Host, jolokiaPort)}
		}, []string{"does not answer", "correct the port"}},
		"a slave alone": {shared, func(t *testing.T, o *system.Options) {
			master, err := connect(t, *o).jolokia.master(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range o.Endpoints {
				if e != master.endpoint {
					o.Endpoints = []string{e}
					return
				}
			}
		}, []string{"is a slave", "name every broker"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, c.servers)
			c.change(t, &o)
			began, err := systemtest.TryConnect(t, activeSystem{}, o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
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
