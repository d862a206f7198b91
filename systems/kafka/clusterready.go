package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

const (
	readyPoll = 50 * time.Millisecond
	askLimit  = 2 * time.Second
	// maxComplaint bounds what of a server's log goes into an error, tailSize
	// how much of the log is looked at, in bytes.
	maxComplaint = 300
	tailSize     = 64 << 10
)

// awaitReady waits until every server says that all servers are there, and the
// controllers have a leader.
func (c *provisionedCluster) awaitReady(ctx context.Context) error {
	client, err := kgo.NewClient(append(c.clientOptions(), kgo.RequestRetries(0), kgo.DialTimeout(askLimit), kgo.RetryTimeout(askLimit))...)
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
			return fmt.Errorf("the servers did not become a cluster within %s (%w)%s: %w", startWithin, err, c.complaints(), ctx.Err())
		case <-ticker.C:
		}
	}
}

// clientOptions are how to reach the servers.
func (c *provisionedCluster) clientOptions() []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(c.Endpoints()...)}
	if c.credentials.User != "" {
		options = append(options, kgo.SASL(plain.Auth{User: c.credentials.User, Pass: c.credentials.Password}.AsMechanism()))
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
		said := lastComplaint(n.log)
		if strings.Contains(said, "Address already in use") {
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
		if said := lastComplaint(n.log); said != "" {
			fmt.Fprintf(&b, " (%s: %s)", n.name, said)
		}
	}
	return b.String()
}

// lastComplaint is the last error in a server's log with the cause that Java
// names for it, or the last line when there is none: what Java itself says
// before a server runs has no level.
func lastComplaint(path string) string {
	var complaint, last string
	for line := range bytes.Lines(tail(path)) {
		text := strings.TrimSpace(string(line))
		_, said, isError := strings.Cut(text, " ERROR ")
		switch {
		case text == "":
			continue
		case isError:
			complaint = said
		case complaint != "" && strings.HasPrefix(text, "Caused by: "):
			complaint += ": " + text
		}
		last = text
	}
	if complaint == "" {
		complaint = last
	}
	if len(complaint) > maxComplaint {
		complaint = complaint[:maxComplaint] + "…"
	}
	return strings.ToValidUTF8(complaint, "")
}

// tail is the end of a file, whole lines only.
func tail(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-tailSize)
	b := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(b, from)
	b = b[:n]
	if from > 0 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return b
}
