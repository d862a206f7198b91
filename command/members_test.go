package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
)

// allCurrent returns nil when every replica of every stream of NATS is online and current.
func allCurrent(t *testing.T, job *bench.Job) error {
	conn, err := nats.Connect(strings.Join(job.Target.Endpoints, ","),
		nats.UserInfo(job.Secrets.User, job.Secrets.Password))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	streams := 0
	all := js.ListStreams(ctx)
	for s := range all.Info() {
		streams++
		if s.Cluster == nil || s.Cluster.Leader == "" ||
			1+len(s.Cluster.Replicas) != len(job.Target.Endpoints) {
			return fmt.Errorf("stream %s is not everywhere: %+v", s.Config.Name, s.Cluster)
		}
		for _, r := range s.Cluster.Replicas {
			if !r.Current || r.Offline {
				return fmt.Errorf("of stream %s, %s is not current: %+v", s.Config.Name, r.Name, r)
			}
		}
	}
	if streams == 0 {
		return errors.Join(all.Err(), errors.New("the stream witness is not there"))
	}
	return all.Err()
}

// allInSync returns nil when every replica of every partition of Kafka is in sync.
func allInSync(t *testing.T, job *bench.Job) error {
	password := plain.Auth{User: job.Secrets.User, Pass: job.Secrets.Password}
	encrypted, err := job.Trust.Config()
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(job.Target.Endpoints...),
		kgo.DialTLSConfig(encrypted), kgo.SASL(password.AsMechanism()))
	if err != nil {
		return err
	}
	defer client.Close()
	topics, err := kadm.NewClient(client).ListTopicsWithInternal(t.Context())
	if err != nil {
		return err
	}
	if !topics.Has("witness") {
		return errors.New("the topic witness is not there")
	}
	for _, topic := range topics {
		for _, p := range topic.Partitions {
			if len(p.ISR) < len(p.Replicas) || len(p.Replicas) != len(job.Target.Endpoints) {
				return fmt.Errorf("%s %d has replicas %v, in sync %v", p.Topic, p.Partition,
					p.Replicas, p.ISR)
			}
		}
	}
	return nil
}

// allOnline returns nil when every member of every quorum queue of RabbitMQ is online.
func allOnline(t *testing.T, job *bench.Job) error {
	var queues []struct {
		Name            string
		Members, Online []string
	}
	if err := getJSON(t, job, job.Target.Endpoints[0], "15672", "/api/queues",
		&queues); err != nil {
		return err
	}
	if len(queues) < 3 {
		return fmt.Errorf("the queues of witness are not there: %+v", queues)
	}
	for _, q := range queues {
		if len(q.Members) != len(job.Target.Endpoints) || len(q.Online) != len(q.Members) {
			return fmt.Errorf("%s has members %v, online %v", q.Name, q.Members, q.Online)
		}
	}
	return nil
}

// allWritable returns nil when a bookie lists all bookies as writable.
func allWritable(t *testing.T, job *bench.Job) error {
	var bookies map[string]any
	if err := getJSON(t, job, job.Target.Endpoints[0], "8000",
		"/api/v1/bookie/list_bookies?type=rw", &bookies); err != nil {
		return err
	}
	started := 0
	for _, p := range job.Target.Processes {
		if strings.HasPrefix(p.Name, "bookie-") {
			started++
		}
	}
	if len(bookies) != started {
		return fmt.Errorf("of %d bookies these are writable: %v", started, bookies)
	}
	return nil
}

// getJSON sends a request to another port of an endpoint's host.
func getJSON(t *testing.T, job *bench.Job, endpoint, port, path string, into any) error {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return err
	}
	request.SetBasicAuth(job.Secrets.User, job.Secrets.Password)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
