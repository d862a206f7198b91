package rabbitmq

import (
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func connect(t testing.TB, o system.Options) *cluster {
	t.Helper()
	return systemtest.Connect[*cluster](t, rabbitSystem{}, o)
}

func TestWrongPassword(t *testing.T) {
	right := optionsOf(t, sharedCluster(t), workload.SyncSync)
	for name, c := range map[string]struct {
		shown system.Credentials
		says  []string
	}{
		"wrong": {system.Credentials{User: right.Credentials.User, Password: "wrong"}, []string{
			"refuses the user or password", "check the target's credentials"}},
		"none":  {system.Credentials{}, []string{"credentials"}},
		"guest": {system.Credentials{User: "guest", Password: "guest"}, []string{"credentials"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the server answers after three seconds
			o := right
			o.Credentials = c.shown
			began, err := systemtest.TryConnect(t, rabbitSystem{}, o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

func TestWrongVirtualHost(t *testing.T) {
	began, err := systemtest.TryConnect(t, rabbitSystem{},
		optionsOf(t, sharedCluster(t), workload.SyncSync, setVhost, "elsewhere"))
	systemtest.Refused(t, began, err, "virtual host elsewhere", "correct vhost")
}

func TestTLSToAPortWithout(t *testing.T) {
	o := optionsOf(t, sharedCluster(t), workload.SyncSync)
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	o.TLS = stranger.ClientConfig()
	began, err := systemtest.TryConnect(t, rabbitSystem{}, o)
	systemtest.Refused(t, began, err, "remove tls from the target")
}

func TestManagementThatIsNotThere(t *testing.T) {
	servers := sharedCluster(t)
	c := connect(t,
		optionsOf(t, servers, workload.AsyncAsync, setManagement, "http://"+servers.Endpoints()[0]))
	began := time.Now()
	_, err := c.ServerVersions(t.Context())
	systemtest.Refused(t, began, err, "management API", setManagement)

	// Nobody could tell whether the queues of a topic are ready, so none is created.
	topic := system.Topic{Name: "nobody-tells", Partitions: 1}
	began = time.Now()
	systemtest.Refused(t, began, c.CreateTopic(t.Context(), topic), "management API", setManagement)
	if exists, err := c.exchangeExists(t.Context(), topic.Name); exists || err != nil {
		t.Errorf("an exchange is there: %v, %v", exists, err)
	}
}

// TestSecureListener connects to servers that require TLS: with correct options, and with one
// wrong option after another.
func TestSecureListener(t *testing.T) {
	servers := securedCluster(t)
	right := optionsOf(t, servers, workload.SyncAsync, setQueueType, quorum)
	systemtest.SendAndReceive(t, connect(t, right), "secure-quorum")
	streams := connect(t, optionsOf(t, servers, workload.SyncAsync, setQueueType, streamed))
	systemtest.SendAndReceive(t, streams, "secure-stream")
	// each on another node
	systemtest.Producer(t, streams, systemtest.Topic(t, streams, "secure-leaders", 3), 0,
		workload.AtLeastOnce)
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	misled := &cluster{cfg: streams.cfg, options: streams.options, dialer: streams.dialer}
	misled.options.TLS = stranger.ClientConfig()
	misled.dialer.Endpoints = misled.dialer.Endpoints[:1] // the library tries each for seconds
	if e, err := misled.streamEnvironment(0); err == nil {
		e.Close()
		t.Error("the stream library trusts a certificate without a trusted signature")
	}
	pem, err := os.ReadFile(servers.CAFile())
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(pem) {
		t.Errorf("the authority's file holds no certificate: %v", err)
	}
	for name, c := range map[string]struct {
		change func(o *system.Options)
		says   []string
	}{
		"untrusted certificate": {func(o *system.Options) { o.TLS.RootCAs = x509.NewCertPool() },
			[]string{"without a trusted signature", "tls.ca_file"}},
		"another name": {
			func(o *system.Options) { o.TLS.ServerName = "elsewhere.example" }, []string{
				"does not fit", "tls.server_name"}},
		"without TLS": {func(o *system.Options) { o.TLS = nil }, []string{"tls"}},
		"wrong password": {func(o *system.Options) { o.Credentials.Password = "wrong" },
			[]string{"refuses the user or password"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := right
			o.TLS = o.TLS.Clone()
			c.change(&o)
			began, err := systemtest.TryConnect(t, rabbitSystem{}, o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

// The real level of a queue that was created by hand is recognised.
func TestQueueMadeByHand(t *testing.T) {
	servers := sharedCluster(t)
	for name, made := range map[string]struct {
		kind      string
		level     workload.Level
		durable   bool
		arguments amqp.Table
		says      []string
	}{
		"another type": {quorum, workload.SyncSync, true, amqp.Table{argQueueType: classic},
			[]string{"queue_type quorum", "it is a classic queue"}},
		"too few copies": {quorum, workload.SyncSync, true,
			amqp.Table{argQueueType: quorum,
				"x-quorum-initial-group-size": int64(1)}, []string{"3 copies", "it has 1"}},
		"without mirrors": {mirrored, workload.SyncSync, true,
			amqp.Table{argQueueVersion: int32(1)}, []string{"needs 3 copies", "it has 1 copy"}},
		"not durable": {classic, workload.AsyncSync, false,
			amqp.Table{argQueueVersion: int32(1)}, []string{"durable queue", "it is not"}},
		"another version": {classic, workload.AsyncSync, true,
			amqp.Table{argQueueVersion: int32(2)}, []string{"x-queue-version 1", "it has 2"}},
		"lazy": {classic, workload.AsyncAsync, true,
			amqp.Table{argQueueVersion: int32(1), argQueueMode: lazy},
			[]string{"x-queue-mode not set", "it has lazy"}},
	} {
		t.Run(name, func(t *testing.T) {
			needLevel(t, made.kind, made.level)
			c := connect(t, optionsOf(t, servers, made.level, setQueueType, made.kind))
			topic := system.Topic{Name: "by-hand-" + strings.ReplaceAll(name, " ", "-"),
				Partitions: 1}
			if err := c.declareExchange(t.Context(), topic); err != nil {
				t.Fatal(err)
			}
			queue := queueName(topic, unread, 0)
			err := c.withChannel(t.Context(), 0, func(ch *amqp.Channel) error {
				if _, err := ch.QueueDeclare(queue, made.durable, false, false, false,
					made.arguments); err != nil {
					return err
				}
				return ch.QueueBind(queue, "0", topic.Name, false, nil)
			})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = c.ReadDurability(t.Context(), []system.Topic{topic})
			systemtest.Refused(t, began, err, made.says...)
		})
	}
}
