package rabbitmq

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

func TestLeaderAmongQueues(t *testing.T) {
	topic := system.Topic{Name: "t", Partitions: 12}
	queues := []queueReport{
		{Name: "t.b.1", Leader: "n2@127.0.0.2", Online: []string{"n1@127.0.0.1", "n2@127.0.0.2"}},
		{Name: "t.a.1", Leader: "n3@127.0.0.3", Node: "n1@127.0.0.1",
			Online: []string{"n3@127.0.0.3"}},
		{Name: "t.a.11", Node: "n1@127.0.0.1"},
		{Name: "t.a.2", Leader: "n2@127.0.0.2", Online: []string{"n1@127.0.0.1"}},
		{Name: "t.a.3"},
	}
	for partition, want := range map[int]string{1: "n3@127.0.0.3", 11: "n1@127.0.0.1", 2: "", 3: "",
		4: ""} {
		got, err := leaderAmong(queues, topic, partition)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("partition %d: got %q, %v, want %q", partition, got, err, want)
		}
	}
}

func TestEndpointOfANode(t *testing.T) {
	endpoints := []string{"127.0.0.1:5672", "127.0.0.2:5672", "[::1]:5673"}
	for node, want := range map[string]string{
		"n1@127.0.0.1": "127.0.0.1:5672", "127.0.0.2": "127.0.0.2:5672", "rabbit@::1": "[::1]:5673",
		"n4@127.0.0.4": "",
	} {
		got, err := endpointOf(node, endpoints)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", node, got, err, want)
		}
	}
}
