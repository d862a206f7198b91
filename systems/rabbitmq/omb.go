package rabbitmq

import (
	"net"
	"net/url"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type ombFile struct {
	omb.Head
	URIs          []string `yaml:"amqpUris"`
	Persistent    bool     `yaml:"messagePersistence"`
	QueueType     string   `yaml:"queueType"`
	ProducerDelay int64    `yaml:"producerCreationDelay"`
	ProducerBatch int64    `yaml:"producerCreationBatchSize"`
	ConsumerDelay int64    `yaml:"consumerCreationDelay"`
	ConsumerBatch int64    `yaml:"consumerCreationBatchSize"`
}

func translateOMB(d *omb.DriverFile) {
	f := ombFile{QueueType: "CLASSIC"}
	if !d.Decode(&f) {
		return
	}
	for _, uri := range f.URIs {
		ombURI(d, uri)
	}
	kind := strings.ToLower(f.QueueType)
	switch kind {
	case "classic":
		d.Set("queueType", "queue_type", kind)
		mode, level := "transient", workload.AsyncAsync
		if f.Persistent {
			mode, level = "persistent", workload.AsyncSync
		}
		d.Set("messagePersistence", "delivery_mode", mode)
		d.SetLevel(level, "queueType is CLASSIC and messages are "+mode)
	case "quorum":
		d.Set("queueType", "queue_type", kind)
		d.SetLevel(workload.SyncSync, "queueType is QUORUM, whose members sync their log before "+
			"they count")
		d.Note("on servers whose wal_sync_method is none it is level 2")
		if !f.Persistent || d.Has("messagePersistence") {
			d.Note("messagePersistence %t has no effect: a quorum queue writes every message",
				f.Persistent)
		}
	case "stream":
		d.Set("queueType", "queue_type", kind)
		d.SetLevel(workload.SyncAsync, "queueType is STREAM, which waits for a majority and "+
			"never syncs")
		if d.Has("messagePersistence") {
			d.Note("messagePersistence has no effect: a stream writes every message")
		}
	default:
		d.Reject("queueType", "must be CLASSIC, QUORUM or STREAM")
	}
	d.Set("driverClass", "exchange_type", "fanout")
	d.Note("OMB's exchange is a fanout, so that topics have one partition: partitionsPerTopic " +
		"must be 1, or remove exchange_type")
	d.Note("OMB's consumers acknowledge automatically and without a bound, which is delivery: " +
		"at_most_once in a workload; at_least_once acknowledges handled messages")
	for _, key := range []string{"producerCreationDelay", "producerCreationBatchSize",
		"consumerCreationDelay", "consumerCreationBatchSize"} {
		if d.Has(key) {
			d.Note("%s is left out: the load begins when all clients are open", key)
		}
	}
}

// ombURI takes host, port and virtual host of amqp://user:password@host:port/vhost.
func ombURI(d *omb.DriverFile, uri string) {
	scheme, rest, has := strings.Cut(uri, "://")
	if !has {
		scheme, rest = "amqp", uri
	}
	if scheme == "amqps" {
		d.Encrypt("")
	}
	// A password may hold a slash, so the user is cut off first.
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		d.Secret("amqpUris", true)
		rest = rest[i+1:]
	}
	host, path, _ := strings.Cut(rest, "/")
	vhost, parameters, _ := strings.Cut(path, "?")
	if parameters != "" {
		d.Note("the parameters of amqpUris are left out: plimsoll systems rabbitmq lists the " +
			"settings of a connection")
	}
	if name, err := url.PathUnescape(vhost); err != nil {
		d.Note("the virtual host of amqpUris is left out: its %% signs are no escapes")
	} else if name != "" && !d.IsSet("vhost") {
		d.Set("amqpUris", "vhost", name)
	} else if name != "" {
		d.Note("the virtual host of the first of amqpUris is taken for all")
	}
	if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
		host = net.JoinHostPort(host, map[bool]string{true: "5671",
			false: "5672"}[scheme == "amqps"])
	}
	d.Endpoint(host)
}

// OMB says how to translate OMB's driver of RabbitMQ.
func (rabbitSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title:   "RabbitMQ",
		Drivers: map[string]func(*omb.DriverFile){"rabbitmq.RabbitMqBenchmarkDriver": translateOMB},
		Caveats: []omb.Caveat{
			{Driver: "rabbit", Upstream: true, Note: "the end-to-end latency of OMB's RabbitMQ " +
				"driver has a resolution of 1 s, because it begins at a timestamp of whole " +
				"seconds: it reads up to 1 s too long, and half of that on average"},
			{Driver: "rabbit", Upstream: true, Note: "OMB's RabbitMQ driver acknowledges " +
				"automatically: a consumer that fails loses what it has fetched"},
		},
	}
}
