package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/plimsoll-bench/plimsoll/system"
)

// This file recognises servers that speak Kafka's protocol and are not Kafka. It follows their
// documentation; none of them was tried.

// standIns are such servers by what the id of their cluster begins with.
var standIns = []struct{ begins, name string }{
	{"redpanda.", "Redpanda"},
	{"vci_", "WarpStream"}, // a virtual cluster
}

// elasticStream is a setting that only brokers of AutoMQ have.
const elasticStream = "elasticstream.enable"

// readStandIn adds a fact with the servers' name where they are not Kafka, and one where this user
// may not read the brokers' configuration.
func (c *cluster) readStandIn(ctx context.Context, r *reading) error {
	metadata, err := c.admin.BrokerMetadata(ctx)
	if err != nil {
		return fmt.Errorf("read the cluster's id: %w", c.explain(err))
	}
	if name := standInOf(metadata.Cluster); name != "" {
		r.Add("the servers", system.StandIn, name, "the cluster's id")
		return nil
	}
	var configs kadm.ResourceConfigs
	if len(metadata.Brokers) > 0 {
		configs, err = c.admin.DescribeBrokerConfigs(ctx, metadata.Brokers[0].NodeID)
	}
	for _, broker := range configs {
		err = errors.Join(err, broker.Err)
	}
	switch {
	case errors.Is(err, kerr.ClusterAuthorizationFailed):
		r.Add("the servers", elasticStream, "not known: this user may not read it",
			"the brokers' configuration")
		return nil
	case err != nil:
		return fmt.Errorf("read the brokers' configuration: %w", c.explain(err))
	}
	if isElasticStream(configs) {
		r.Add("the servers", system.StandIn, "AutoMQ", elasticStream)
	}
	return nil
}

// standInOf returns the servers of a cluster with that id; empty: it may be Kafka.
func standInOf(cluster string) string {
	for _, s := range standIns {
		if strings.HasPrefix(cluster, s.begins) {
			return s.name
		}
	}
	return ""
}

func isElasticStream(configs kadm.ResourceConfigs) bool {
	for _, broker := range configs {
		for _, c := range broker.Configs {
			if c.Key == elasticStream && c.MaybeValue() == "true" {
				return true
			}
		}
	}
	return false
}
