package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// How clients may show the password, as the setting has it.
const (
	mechanismPlain    = "plain"
	mechanismSCRAM256 = "scram-sha-256"
	mechanismSCRAM512 = "scram-sha-512"
	scramIterations   = 4096 // the least that Kafka takes
)

// awaitAnswers waits until every server answers clients that show the password
// in a given way, and says that all servers are there, and the controllers have
// a leader.
func awaitAnswers(ctx context.Context, c *driver.Cluster, mechanismName string) error {
	options := append(clientOptions(c, mechanismName), kgo.RequestRetries(0),
		kgo.DialTimeout(servers.AskWithin), kgo.RetryTimeout(servers.AskWithin))
	client, err := kgo.NewClient(options...)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	defer client.Close()
	return c.Await(ctx, func(ctx context.Context) error { return ask(ctx, client) })
}

// enrol gives plimsoll's user a SCRAM password too, when its clients are to
// show it that way, and waits until every server knows it.
func enrol(ctx context.Context, c *driver.Cluster, name string) error {
	kinds := map[string]kadm.ScramMechanism{mechanismSCRAM256: kadm.ScramSha256,
		mechanismSCRAM512: kadm.ScramSha512}
	kind, is := kinds[name]
	if !is || c.Credentials().User == "" {
		return nil
	}
	client, err := kgo.NewClient(clientOptions(c, mechanismPlain)...)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	defer client.Close()
	user := kadm.UpsertSCRAM{
		User: c.Credentials().User, Password: c.Credentials().Password,
		Mechanism: kind, Iterations: scramIterations,
	}
	answers, err := kadm.NewClient(client).AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{user})
	if err == nil {
		err = answers.Error()
	}
	if err != nil {
		return fmt.Errorf("giving the user a SCRAM password: %w", err)
	}
	return awaitAnswers(ctx, c, name)
}

// clientOptions are how to reach the servers.
func clientOptions(c *driver.Cluster, mechanismName string) []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(c.Endpoints()...)}
	if m := mechanism(mechanismName, c.Credentials()); m != nil {
		options = append(options, kgo.SASL(m))
	}
	if config := c.TLS(); config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	return options
}

// ask asks every server for the servers that it knows, and one for the leader.
func ask(ctx context.Context, client *kgo.Client) error {
	seeds := client.SeedBrokers()
	for i, broker := range seeds {
		request := kmsg.NewPtrMetadataRequest()
		request.Topics = []kmsg.MetadataRequestTopic{} // nil would mean all
		response, err := request.RequestWith(ctx, broker)
		if err != nil {
			return fmt.Errorf("n%d does not answer: %w", i+1, err)
		}
		if len(response.Brokers) != len(seeds) {
			return fmt.Errorf("n%d knows %d of %d servers", i+1, len(response.Brokers), len(seeds))
		}
	}
	request := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = "__cluster_metadata"
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, seeds[0])
	if err != nil {
		return fmt.Errorf("asking who leads the controllers: %w", err)
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 ||
		response.Topics[0].Partitions[0].LeaderID < 1 {
		return errors.New("the controllers have no leader")
	}
	return nil
}
