package kafka

import (
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A topic is created when the last broker knows it: until then that broker refuses its messages.
// Only a broker that is made to lag shows it, so the brokers are kfake's.
func TestTopicsAreKnownToEveryBroker(t *testing.T) {
	brokers, err := kfake.NewCluster(kfake.NumBrokers(3))
	if err != nil {
		t.Fatal(err)
	}
	defer brokers.Close()
	const lagging, refusals, older = 2, 3, 3 // and then it knows an older topic of the name
	var asked atomic.Int64
	brokers.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		brokers.KeepControl()
		request := r.(*kmsg.MetadataRequest)
		if brokers.CurrentNode() != lagging || len(request.Topics) == 0 ||
			asked.Add(1) > refusals+older {
			return nil, nil, false
		}
		answer := request.ResponseKind().(*kmsg.MetadataResponse)
		for _, one := range request.Topics {
			unknown := kmsg.NewMetadataResponseTopic()
			unknown.Topic, unknown.TopicID = one.Topic, [16]byte{1}
			if asked.Load() <= refusals {
				unknown.ErrorCode = kerr.UnknownTopicOrPartition.Code
			}
			answer.Topics = append(answer.Topics, unknown)
		}
		return answer, nil, true
	})
	c, err := New().Connect(t.Context(), system.Options{
		Endpoints: brokers.ListenAddrs(), Durability: workload.SyncAsync,
		Settings: systemtest.Settings(t, kafkaSystem{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	topic := system.Topic{Name: "late", Partitions: 3}
	if err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n <= refusals+older {
		t.Errorf("broker %d was asked %d times, and lags for %d", lagging, n, refusals+older)
	}
}
