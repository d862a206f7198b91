package omb

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type pulsarFile struct {
	head
	Client struct {
		ServiceURL      string `yaml:"serviceUrl"`
		HTTPURL         string `yaml:"httpUrl"`
		MemoryLimitMB   int64  `yaml:"clientMemoryLimitMB"`
		IOThreads       int64  `yaml:"ioThreads"`
		Connections     int64  `yaml:"connectionsPerBroker"`
		MaxLookups      int64  `yaml:"maxConcurrentLookupRequests"`
		NamespacePrefix string `yaml:"namespacePrefix"`
		ClusterName     string `yaml:"clusterName"`
		TopicType       string `yaml:"topicType"`
		Persistence     struct {
			Ensemble      int64 `yaml:"ensembleSize"`
			WriteQuorum   int64 `yaml:"writeQuorum"`
			AckQuorum     int64 `yaml:"ackQuorum"`
			Deduplication bool  `yaml:"deduplicationEnabled"`
		} `yaml:"persistence"`
		AllowInsecure  bool   `yaml:"tlsAllowInsecureConnection"`
		VerifyHostname bool   `yaml:"tlsEnableHostnameVerification"`
		TrustCerts     string `yaml:"tlsTrustCertsFilePath"`
		Authentication struct {
			Plugin string `yaml:"plugin"`
			Data   string `yaml:"data"`
		} `yaml:"authentication"`
	} `yaml:"client"`
	Producer struct {
		Batching     bool  `yaml:"batchingEnabled"`
		DelayMs      int64 `yaml:"batchingMaxPublishDelayMs"`
		MaxBytes     int64 `yaml:"batchingMaxBytes"`
		BlockIfFull  bool  `yaml:"blockIfQueueFull"`
		PendingQueue int64 `yaml:"pendingQueueSize"`
	} `yaml:"producer"`
	Consumer struct {
		ReceiverQueue    int64  `yaml:"receiverQueueSize"`
		SubscriptionType string `yaml:"subscriptionType"`
	} `yaml:"consumer"`
}

func (d *driver) pulsar() {
	var f pulsarFile
	c, p := &f.Client, &f.Producer
	c.MemoryLimitMB, c.Connections, c.TopicType = 256, 8, "persistent"
	c.Persistence.Ensemble, c.Persistence.WriteQuorum, c.Persistence.AckQuorum = 3, 3, 2
	p.Batching, p.DelayMs, p.MaxBytes, p.BlockIfFull = true, 1, 1<<20, true
	f.Consumer.ReceiverQueue, f.Consumer.SubscriptionType = 10_000, "Failover"
	if !d.decode(&f) {
		return
	}
	d.out.Target.System = "pulsar"
	d.pulsarClient(&f)
	d.set("batching_enabled", strconv.FormatBool(p.Batching))
	d.set("batching_max_publish_delay", fmt.Sprintf("%dms", max(p.DelayMs, 1)))
	d.set("batching_max_size", quantity.ExactBytes(max(p.MaxBytes, 1)))
	if p.PendingQueue > 0 {
		d.set("max_pending_messages", strconv.FormatInt(p.PendingQueue, 10))
	}
	if !p.BlockIfFull {
		d.note("blockIfQueueFull false has no effect: a producer that is full waits, and the wait is charged to the message")
	}
	d.set("receiver_queue_size", strconv.FormatInt(max(f.Consumer.ReceiverQueue, 1), 10))
	types := map[string]string{"exclusive": "exclusive", "failover": "failover", "shared": "shared", "key_shared": "key_shared"}
	if kind := types[strings.ToLower(f.Consumer.SubscriptionType)]; kind != "" {
		d.set("subscription_type", kind)
	} else {
		d.doc.Reject("consumer.subscriptionType", "must be Exclusive, Failover, Shared or Key_Shared")
	}
	d.pulsarLevel(&f)
}

func (d *driver) pulsarClient(f *pulsarFile) {
	c := &f.Client
	scheme, hosts, has := strings.Cut(c.ServiceURL, "://")
	if !has {
		scheme, hosts = "pulsar", c.ServiceURL
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host = strings.TrimSpace(host); host != "" {
			d.endpoint(scheme + "://" + host)
		}
	}
	if admin, err := url.Parse(c.HTTPURL); err == nil && admin.Host != "" && (admin.Port() != "8080" || !strings.Contains(c.ServiceURL, admin.Hostname())) {
		host := admin.Host
		if admin.Port() == "" {
			host = net.JoinHostPort(admin.Hostname(), map[bool]string{true: "443", false: "80"}[admin.Scheme == "https"])
		}
		d.set("admin_endpoints", host)
	}
	d.set("connections_per_broker", strconv.FormatInt(max(c.Connections, 1), 10))
	d.set("memory_limit", quantity.ExactBytes(max(c.MemoryLimitMB, 0)<<20))
	d.note("clientMemoryLimitMB bounds all producers of a client in OMB, and each producer here")
	if tenant, namespace, ok := strings.Cut(c.NamespacePrefix, "/"); ok && tenant != "" && namespace != "" {
		d.set("tenant", tenant)
		d.set("namespace", namespace)
	}
	for _, key := range []string{"ioThreads", "maxConcurrentLookupRequests", "clusterName"} {
		if d.doc.Has("client." + key) {
			d.note("%s is left out: plimsoll's client has no such setting", key)
		}
	}
	if c.TopicType != "persistent" {
		d.note("topicType %.20q is left out: topics are persistent, because no durability level is given without", c.TopicType)
	}
	if scheme == "pulsar+ssl" {
		d.encrypted()
		d.out.Target.TLS.CAFile = c.TrustCerts
	} else if c.TrustCerts != "" {
		d.note("tlsTrustCertsFilePath is left out, because serviceUrl is not pulsar+ssl")
	}
	if c.AllowInsecure || (scheme == "pulsar+ssl" && !c.VerifyHostname) {
		d.note("certificates and the names in them are always checked here; server_name under tls gives another name")
	}
	if c.Persistence.Deduplication {
		d.note("deduplicationEnabled is left out: plimsoll has no setting for it")
	}
	d.pulsarLogin(c.Authentication.Plugin, c.Authentication.Data)
}

func (d *driver) pulsarLogin(plugin, data string) {
	if plugin == "" && data == "" {
		return
	}
	if !strings.Contains(strings.ToLower(plugin), "token") {
		d.note("the authentication plugin is none that plimsoll has: it shows a token, from the environment variable")
	}
	d.secret("client.authentication.data", false)
}

func (d *driver) pulsarLevel(f *pulsarFile) {
	q := f.Client.Persistence
	for _, copies := range []struct {
		key, name string
		n         int64
	}{{"ensembleSize", "ensemble", q.Ensemble}, {"writeQuorum", "write_quorum", q.WriteQuorum}} {
		if copies.n >= 3 {
			d.set(copies.name, strconv.FormatInt(copies.n, 10))
		} else {
			d.note("%s %d cannot be had: every durability level has 3 copies or more, so 3 are asked for", copies.key, copies.n)
		}
	}
	level, unsynced := workload.AsyncSync, workload.AsyncAsync
	if q.AckQuorum > q.WriteQuorum/2 && q.AckQuorum >= 2 {
		level, unsynced = workload.SyncSync, workload.SyncAsync
		if q.AckQuorum != q.WriteQuorum/2+1 {
			d.note("ackQuorum %d waits for more than a majority, which no durability level does", q.AckQuorum)
		}
	}
	d.level(level, fmt.Sprintf("ackQuorum is %d of %d, and bookies sync their journal unless they are told otherwise", q.AckQuorum, q.WriteQuorum))
	d.note("what bookies are told is not in a driver file: with journalSyncData=false it is level %d", unsynced)
}

type rabbitFile struct {
	head
	URIs          []string `yaml:"amqpUris"`
	Persistent    bool     `yaml:"messagePersistence"`
	QueueType     string   `yaml:"queueType"`
	ProducerDelay int64    `yaml:"producerCreationDelay"`
	ProducerBatch int64    `yaml:"producerCreationBatchSize"`
	ConsumerDelay int64    `yaml:"consumerCreationDelay"`
	ConsumerBatch int64    `yaml:"consumerCreationBatchSize"`
}

func (d *driver) rabbitmq() {
	f := rabbitFile{QueueType: "CLASSIC"}
	if !d.decode(&f) {
		return
	}
	d.out.Target.System = "rabbitmq"
	for _, uri := range f.URIs {
		d.rabbitURI(uri)
	}
	kind := strings.ToLower(f.QueueType)
	switch kind {
	case "classic":
		d.set("queue_type", kind)
		mode, level := "transient", workload.AsyncAsync
		if f.Persistent {
			mode, level = "persistent", workload.AsyncSync
		}
		d.set("delivery_mode", mode)
		d.level(level, "queueType is CLASSIC and messages are "+mode)
	case "quorum":
		d.set("queue_type", kind)
		d.level(workload.SyncSync, "queueType is QUORUM, whose members sync their log before they count")
		d.note("on servers whose wal_sync_method is none it is level 2")
		if !f.Persistent {
			d.note("messagePersistence false has no effect: a quorum queue writes every message")
		}
	case "stream":
		d.set("queue_type", kind)
		d.level(workload.SyncAsync, "queueType is STREAM, which waits for a majority and never syncs")
	default:
		d.doc.Reject("queueType", "must be CLASSIC, QUORUM or STREAM")
	}
	d.set("exchange_type", "fanout")
	d.note("OMB's exchange is a fanout, so that topics have one partition: partitionsPerTopic must be 1, or remove exchange_type")
	d.note("OMB's consumers acknowledge automatically and without a bound, which is delivery: at_most_once in a workload; at_least_once acknowledges what was handled")
	for _, key := range []string{"producerCreationDelay", "producerCreationBatchSize", "consumerCreationDelay", "consumerCreationBatchSize"} {
		if d.doc.Has(key) {
			d.note("%s is left out: the load begins when all clients are there", key)
		}
	}
}

// rabbitURI takes host, port and virtual host of amqp://user:password@host:port/vhost.
func (d *driver) rabbitURI(uri string) {
	scheme, rest, has := strings.Cut(uri, "://")
	if !has {
		scheme, rest = "amqp", uri
	}
	if scheme == "amqps" {
		d.encrypted()
	}
	// A password may hold a slash, so the user is cut off first.
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		d.secret("amqpUris", true)
		rest = rest[i+1:]
	}
	host, vhost, _ := strings.Cut(rest, "/")
	if vhost, _, _ = strings.Cut(vhost, "?"); vhost != "" {
		if name, err := url.PathUnescape(vhost); err == nil && !d.has("vhost") {
			d.set("vhost", name)
		}
	}
	if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
		host = net.JoinHostPort(host, map[bool]string{true: "5671", false: "5672"}[scheme == "amqps"])
	}
	d.endpoint(host)
}

func (d *driver) has(setting string) bool {
	for _, s := range d.out.Target.Settings {
		if s.Name == setting {
			return true
		}
	}
	return false
}

type natsFile struct {
	head
	HostURL     string `yaml:"natsHostUrl"`
	Replication int64  `yaml:"replicationFactor"`
	Storage     string `yaml:"storageType"`
	MaxBytes    int64  `yaml:"maxBytes"`
}

func (d *driver) nats() {
	f := natsFile{Storage: "File", MaxBytes: -1}
	if !d.decode(&f) {
		return
	}
	d.out.Target.System = "nats"
	for host := range strings.SplitSeq(f.HostURL, ",") {
		if strings.HasPrefix(strings.TrimSpace(host), "tls://") {
			d.encrypted()
		}
		d.endpoint(host)
	}
	storage := strings.ToLower(f.Storage)
	if storage != "file" && storage != "memory" {
		d.doc.Reject("storageType", "must be File or Memory")
		return
	}
	d.set("storage", storage)
	if f.MaxBytes > 0 {
		d.set("max_bytes", quantity.ExactBytes(f.MaxBytes))
	}
	level, synced := workload.SyncAsync, workload.SyncSync
	if f.Replication >= 3 && f.Replication <= 5 {
		d.set("num_replicas", strconv.FormatInt(f.Replication, 10))
	} else {
		d.note("replicationFactor %d cannot be had: every durability level has 3 to 5 copies, so 3 are asked for", f.Replication)
		if f.Replication < 3 {
			level, synced = workload.AsyncAsync, workload.AsyncSync
		}
	}
	d.level(level, fmt.Sprintf("replicationFactor is %d, and servers sync every two minutes unless they are told otherwise", f.Replication))
	if storage == "file" {
		d.note("what servers are told is not in a driver file: with sync_interval always it is level %d", synced)
	}
}

type redisFile struct {
	head
	Host     string `yaml:"redisHost"`
	Port     int64  `yaml:"redisPort"`
	User     string `yaml:"redisUser"`
	Password string `yaml:"redisPass"`
	MaxTotal int64  `yaml:"jedisPoolMaxTotal"`
	MaxIdle  int64  `yaml:"jedisPoolMaxIdle"`
}

func (d *driver) redis() {
	if d.decode(&redisFile{}) {
		d.undriven()
	}
}

type artemisFile struct {
	head
	Address string `yaml:"brokerAddress"`
}

func (d *driver) artemis() {
	if d.decode(&artemisFile{}) {
		d.undriven()
	}
}

// undriven refuses the driver of a system that plimsoll does not have.
func (d *driver) undriven() {
	class := strings.TrimPrefix(d.head.DriverClass, classPrefix)
	name, _, _ := strings.Cut(class, ".")
	d.refusal = fmt.Sprintf("this is a driver file for %s, a system that plimsoll does not drive yet, so there is no target to write: "+
		"those that it drives are Kafka, Pulsar, RabbitMQ and NATS", map[string]string{
		"redis": "Redis", "artemis": "ActiveMQ Artemis", "jms": "JMS", "mqtt5": "MQTT", "rocketmq": "RocketMQ", "pravega": "Pravega",
		"bookkeeper": "DistributedLog on BookKeeper", "kop": "Kafka on Pulsar", "nsq": "NSQ"}[name])
}
