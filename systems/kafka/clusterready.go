package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/internal/process"
)

// How clients may show the password, as the setting has it.
const (
	mechanismPlain    = "plain"
	mechanismSCRAM256 = "scram-sha-256"
	mechanismSCRAM512 = "scram-sha-512"
	scramIterations   = 4096 // the least that Kafka takes
)

const (
	readyPoll = 50 * time.Millisecond
	askLimit  = 2 * time.Second
)

// awaitReady waits until every server says that all servers are there, and the
// controllers have a leader.
func (c *provisionedCluster) awaitReady(ctx context.Context) error {
	return c.awaitAnswers(ctx, mechanismPlain)
}

// awaitAnswers is awaitReady for clients that show the password in a given
// way.
func (c *provisionedCluster) awaitAnswers(ctx context.Context, mechanismName string) error {
	client, err := kgo.NewClient(append(c.clientOptions(mechanismName), kgo.RequestRetries(0), kgo.DialTimeout(askLimit), kgo.RetryTimeout(askLimit))...)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	defer client.Close()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		if err := c.ended(); err != nil {
			return err
		}
		err := c.ask(ctx, client)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the servers did not become a cluster (%w)%s: %w", err, c.complaints(), ctx.Err())
		case <-ticker.C:
		}
	}
}

// enrol gives plimsoll's user a SCRAM password too, when its clients are to
// show it that way, and waits until every server knows it.
func (c *provisionedCluster) enrol(ctx context.Context, name string) error {
	kinds := map[string]kadm.ScramMechanism{mechanismSCRAM256: kadm.ScramSha256, mechanismSCRAM512: kadm.ScramSha512}
	kind, is := kinds[name]
	if !is || c.credentials.User == "" {
		return nil
	}
	client, err := kgo.NewClient(c.clientOptions(mechanismPlain)...)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	defer client.Close()
	user := kadm.UpsertSCRAM{User: c.credentials.User, Password: c.credentials.Password, Mechanism: kind, Iterations: scramIterations}
	answers, err := kadm.NewClient(client).AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{user})
	if err == nil {
		err = answers.Error()
	}
	if err != nil {
		return fmt.Errorf("giving the user a SCRAM password: %w", err)
	}
	return c.awaitAnswers(ctx, name)
}

// clientOptions are how to reach the servers.
func (c *provisionedCluster) clientOptions(mechanismName string) []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(c.Endpoints()...)}
	if m := mechanism(mechanismName, c.credentials); m != nil {
		options = append(options, kgo.SASL(m))
	}
	if config := c.TLS(); config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	return options
}

// ended is why a server is not there any more.
func (c *provisionedCluster) ended() error {
	for _, n := range c.servers {
		select {
		case <-n.process.Exited():
		default:
			continue
		}
		said := maven.LastComplaint(n.log)
		if bytes.Contains(process.Tail(n.log), []byte("Address already in use")) {
			return fmt.Errorf("server %s: %w: %s", n.name, errAddressTaken, said)
		}
		return fmt.Errorf("server %s ended while it was started (%w): %s", n.name, n.process.Err(), said)
	}
	return nil
}

// ask asks every server whom it knows, and one who leads.
func (c *provisionedCluster) ask(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	seeds := client.SeedBrokers()
	for i, broker := range seeds {
		request := kmsg.NewPtrMetadataRequest()
		request.Topics = []kmsg.MetadataRequestTopic{} // nil would mean all
		response, err := request.RequestWith(ctx, broker)
		if err != nil {
			return fmt.Errorf("%s does not answer: %w", c.servers[i].name, err)
		}
		if len(response.Brokers) != len(seeds) {
			return fmt.Errorf("%s knows %d of %d servers", c.servers[i].name, len(response.Brokers), len(seeds))
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
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 || response.Topics[0].Partitions[0].LeaderID < 1 {
		return errors.New("the controllers have no leader")
	}
	return nil
}

// complaints is what the servers' logs complain of last, each in brackets: the
// logs may be gone when somebody looks for them.
func (c *provisionedCluster) complaints() string {
	var b strings.Builder
	for _, n := range c.servers {
		if said := maven.LastComplaint(n.log); said != "" {
			fmt.Fprintf(&b, " (%s: %s)", n.name, said)
		}
	}
	return b.String()
}
