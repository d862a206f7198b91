package sqs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// answering returns an HTTP server that gives each request the same answer.
func answering(t *testing.T, status int, body string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// refusing answers like SQS when it refuses a request.
func refusing(t *testing.T, code string) (address string) {
	t.Helper()
	return answering(t, http.StatusForbidden,
		fmt.Sprintf(`{"__type":"com.amazon.coral.service#%s","message":"no"}`, code))
}

// A request with a truncated answer is sent once more, and then explained.
func TestBrokenAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		broken int
		says   string
	}{"once": {broken: 1}, "always": {2, "closes the connection at once"}} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked <= c.broken {
				w.Header().Set("Content-Length", "100") // more than follows
			}
			fmt.Fprint(w, "{}")
		}))
		a, err := newAPI(t.Context(), system.Options{
			Endpoints: []string{s.Listener.Addr().String()},
			Settings:  systemtest.Settings(t, sqsSystem{})})
		if err != nil {
			t.Fatal(err)
		}
		err = a.ping(t.Context())
		if asked != 2 || (err == nil) != (c.says == "") ||
			err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: asked %d times: %v", name, asked, err)
		}
		a.close()
		s.Close()
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		says    []string
	}{
		"unknown key": {refusing(t, "InvalidClientTokenId"),
			[]string{"refuses the user or password", "check the target's credentials"}},
		"wrong secret": {refusing(t, "SignatureDoesNotMatch"),
			[]string{"refuses the user or password"}},
		"expired session": {refusing(t, "ExpiredTokenException"),
			[]string{"the AWS session has expired", "aws sso login"}},
		"expired token": {refusing(t, "ExpiredToken"), []string{"the AWS session has expired"}},
		"no right":      {refusing(t, "AccessDeniedException"), []string{"allow sqs:*"}},
		"a web server":  {answering(t, http.StatusOK, "<html>"), []string{"not like SQS"}},
		"no such page":  {answering(t, http.StatusNotFound, "<html>"), []string{"not like SQS"}},
		"Redis": {systemtest.Stranger(t, true, "-ERR unknown command\r\n"),
			[]string{"is not SQS's"}},
		"Kafka": {systemtest.Stranger(t, true, ""), []string{"closes the connection at once"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := system.Options{Endpoints: []string{c.address}, Durability: workload.AsyncAsync,
				Settings: systemtest.Settings(t, sqsSystem{})}
			began, err := systemtest.TryConnect(t, sqsSystem{}, o)
			systemtest.Refused(t, began, err, c.says...)
		})
	}
}

func TestOptionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		endpoints []string
		level     workload.Level
		settings  []string
		says      string
	}{
		"nothing":        {nil, workload.AsyncAsync, nil, "neither endpoints nor a region"},
		"two":            {[]string{"a:1", "b:1"}, workload.AsyncAsync, nil, "SQS has one address"},
		"no port":        {[]string{"a"}, workload.AsyncAsync, nil, "is not host:port"},
		"imitation at 2": {[]string{"a:1"}, workload.SyncAsync, nil, "is level 4: ask for that"},
		"Amazon at 4": {nil, workload.AsyncAsync, []string{setRegion, "eu-central-1"},
			"Amazon SQS is level 2"},
		"not a region": {nil, workload.SyncAsync, []string{setRegion, "here"}, "name of a region"},
	} {
		o := system.Options{Endpoints: c.endpoints, Durability: c.level,
			Settings: systemtest.Settings(t, sqsSystem{}, c.settings...)}
		began, err := systemtest.TryConnect(t, sqsSystem{}, o)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		systemtest.Refused(t, began, err)
	}
}

// Amazon's service without credentials: nothing is sent.
func TestNoCredentials(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"} {
		t.Setenv(name, "")
	}
	o := system.Options{Durability: workload.SyncAsync,
		Settings: systemtest.Settings(t, sqsSystem{}, setRegion, "eu-central-1")}
	began, err := systemtest.TryConnect(t, sqsSystem{}, o)
	systemtest.Refused(t, began, err, "no AWS credentials were found", "set AWS_PROFILE")
}

// A region that does not exist has no host.
func TestUnknownRegion(t *testing.T) {
	a, err := newAPI(t.Context(), system.Options{
		Credentials: system.Credentials{User: "a", Password: "b"},
		Settings:    systemtest.Settings(t, sqsSystem{}, setRegion, "xx-nowhere-1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	dns := &net.DNSError{Name: "sqs.xx-nowhere-1.amazonaws.com", IsNotFound: true}
	err = a.explain(fmt.Errorf("send: %w", dns))
	systemtest.Refused(t, time.Now(), err, "correct the region (xx-nowhere-1)")
}

// Connections to an endpoint are encrypted if the target asks for it. ElasticMQ has no TLS, so the
// test puts a TLS server in front of it.
func TestTLS(t *testing.T) {
	o := optionsOf(t)
	front := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(
		&url.URL{Scheme: "http", Host: o.Endpoints[0]}))
	t.Cleanup(front.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(front.Certificate())
	encrypted := o
	encrypted.Endpoints = []string{front.Listener.Addr().String()}
	encrypted.TLS = &tls.Config{RootCAs: trusted}
	c := systemtest.Connect[*cluster](t, sqsSystem{}, encrypted)
	systemtest.SendAndReceive(t, c, "encrypted")
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]struct {
		endpoint string
		tls      *tls.Config
		says     string
	}{
		"untrusted":        {encrypted.Endpoints[0], stranger.ClientConfig(), "tls.ca_file"},
		"TLS to plaintext": {o.Endpoints[0], encrypted.TLS, "does not speak TLS"},
		"plaintext to TLS": {encrypted.Endpoints[0], nil, "give the target tls"},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Endpoints, o.TLS = []string{refused.endpoint}, refused.tls
			began, err := systemtest.TryConnect(t, sqsSystem{}, o)
			systemtest.Refused(t, began, err, refused.says)
		})
	}
}

func TestQueuesWithOtherAttributes(t *testing.T) {
	c := connect(t)
	topic := system.Topic{Name: "other", Partitions: 2}
	name := c.queueName(topic, 1, "")
	_, err := c.client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: &name,
		Attributes: map[string]string{"VisibilityTimeout": "7"}})
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Refused(t, time.Now(), c.CreateTopic(t.Context(), topic),
		"exists with attributes that differ", "delete it, or choose another name")
	read := systemtest.Topic(t, c, "read-back", 1)
	url, err := c.queueURL(t.Context(), c.queueName(read, 0, ""))
	if err == nil {
		_, err = c.client.SetQueueAttributes(t.Context(), &awssqs.SetQueueAttributesInput{
			QueueUrl: &url, Attributes: map[string]string{"VisibilityTimeout": "7"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.ReadDurability(t.Context(), []system.Topic{read})
	systemtest.Refused(t, time.Now(), err, "VisibilityTimeout 30", "has VisibilityTimeout 7")
	_, err = c.OpenProducer(t.Context(), system.ProducerOptions{
		Topic: system.Topic{Name: "nowhere", Partitions: 1}, InFlight: 1})
	systemtest.Refused(t, time.Now(), err, "there is no such queue")
	_, err = c.OpenProducer(t.Context(), system.ProducerOptions{Topic: read, InFlight: 1,
		MessageMax: 200 << 10})
	systemtest.Refused(t, time.Now(), err, "in base64", "batch_bytes")
}

// A successful answer may refuse single messages: SQS refuses empty ones.
func TestEntriesOfABatchAreRefused(t *testing.T) {
	c := connect(t, setLinger, "50ms")
	topic := systemtest.Topic(t, c, "entries", 1)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	empty, full := systemtest.NewTestMessage(""), systemtest.NewTestMessage("full")
	p.(system.BatchSender).SendBatch([]*system.Message{&empty.Message, &full.Message})
	if err := full.Await(t); err != nil {
		t.Error(err)
	}
	err := empty.Await(t)
	systemtest.Refused(t, time.Now(), err, "refuses the message", "MessageBody")
	if errors.Is(err, system.ErrUnknown) {
		t.Error("its outcome is known")
	}
}

// A failure of the server leaves the outcome unknown, and a throttled request is sent again.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		code    string
		unknown bool
	}{
		"refused":   {http.StatusBadRequest, "UnsupportedOperation", false},
		"failed":    {http.StatusInternalServerError, "InternalFailure", true},
		"throttled": {http.StatusBadRequest, "RequestThrottled", false},
	} {
		t.Run(name, func(t *testing.T) {
			address := answering(t, c.status, fmt.Sprintf(
				`{"__type":"com.amazonaws.sqs#%s","message":"no"}`, c.code))
			a, err := newAPI(t.Context(), system.Options{Endpoints: []string{address},
				Settings: systemtest.Settings(t, sqsSystem{}, setDelivery, "100ms")})
			if err != nil {
				t.Fatal(err)
			}
			one := &cluster{api: a, level: workload.AsyncAsync, queues: queuesOf(address)}
			defer one.Close(t.Context())
			topic := system.Topic{Name: "t", Partitions: 1}
			one.queues.keep(topic, []string{"http://" + address + "/0/t"})
			m := systemtest.NewTestMessage("x")
			systemtest.Producer(t, one, topic, 0, workload.AtLeastOnce).Send(&m.Message)
			err = m.Await(t)
			if err == nil || errors.Is(err, system.ErrUnknown) != c.unknown {
				t.Errorf("it ended with %v", err)
			}
			b, _ := one.Spent()
			if again := b.Requests > 1; again != (c.code == "RequestThrottled") {
				t.Errorf("%d requests were sent", b.Requests)
			}
		})
	}
}
