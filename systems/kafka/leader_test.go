package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func TestLeaderInMetadata(t *testing.T) {
	m := kadm.Metadata{
		Brokers: kadm.BrokerDetails{{NodeID: 1, Host: "127.0.0.1", Port: 9092},
			{NodeID: 3, Host: "::1", Port: 9093}},
		Topics: kadm.TopicDetails{
			"gone": {Err: kerr.UnknownTopicOrPartition},
			"t": {Partitions: kadm.PartitionDetails{
				0: {Leader: 1}, 1: {Leader: 3}, 2: {Leader: 2},
				3: {Leader: -1, Err: kerr.LeaderNotAvailable}, 4: {Leader: -1},
			}},
		},
	}
	for _, c := range []struct {
		topic     string
		partition int32
		want      string // empty: an error
	}{
		{"t", 0, "127.0.0.1:9092"}, {"t", 1, "[::1]:9093"},
		{"t", 2, ""}, {"t", 3, ""}, {"t", 4, ""}, {"t", 5, ""}, {"gone", 0, ""}, {"other", 0, ""},
	} {
		got, err := leaderIn(m, c.topic, c.partition)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %d: got %q, %v, want %q", c.topic, c.partition, got, err, c.want)
		}
	}
}
