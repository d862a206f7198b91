package kafka

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
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

// A user who may not read the brokers' configuration can measure, and the result says so.
func TestUnreadableConfigurationIsAFact(t *testing.T) {
	brokers, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer brokers.Close()
	brokers.ControlKey(int16(kmsg.DescribeConfigs), func(r kmsg.Request) (kmsg.Response, error,
		bool) {
		answer := r.ResponseKind().(*kmsg.DescribeConfigsResponse)
		refused := kmsg.NewDescribeConfigsResponseResource()
		refused.ResourceType, refused.ResourceName = kmsg.ConfigResourceTypeBroker, "0"
		refused.ErrorCode = kerr.ClusterAuthorizationFailed.Code
		answer.Resources = append(answer.Resources, refused)
		return answer, nil, true
	})
	c := systemtest.Connect[*cluster](t, kafkaSystem{}, system.Options{
		Endpoints: brokers.ListenAddrs(), Durability: workload.SyncAsync,
		Settings: systemtest.Settings(t, kafkaSystem{})})
	var r reading
	err = c.readStandIn(t.Context(), &r)
	if facts := r.Evidence().Facts; err != nil || len(facts) != 1 ||
		!strings.Contains(facts[0].Value, "may not read") {
		t.Errorf("%v, %+v", err, facts)
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
