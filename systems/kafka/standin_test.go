package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestServersThatAreNotKafkaAreNamed(t *testing.T) {
	for id, want := range map[string]string{
		"redpanda.5c2e2c8e-8b0e": "Redpanda", "vci_1d4930d7_8e6d": "WarpStream",
		"MkU3OEVBNTcwNTJENDM2Qg": "",
	} {
		if got := standInOf(id); got != want {
			t.Errorf("cluster %s is %q, want %q", id, got, want)
		}
	}
	for value, want := range map[string]bool{"true": true, "false": false} {
		configs := kadm.ResourceConfigs{{Configs: []kadm.Config{{Key: elasticStream,
			Value: kmsg.StringPtr(value)}}}}
		if isElasticStream(configs) != want {
			t.Errorf("%s %s: want %t", elasticStream, value, want)
		}
	}
}

func TestKafkaIsKafka(t *testing.T) {
	t.Parallel()
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync))
	var r reading
	if err := c.readStandIn(t.Context(), &r); err != nil || len(r.Evidence().Facts) > 0 {
		t.Errorf("%v, %+v", err, r.Evidence().Facts)
	}
}
