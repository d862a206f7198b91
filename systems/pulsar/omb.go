package pulsar

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type ombFile struct {
	omb.Head
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

func translateOMB(d *omb.DriverFile) {
	var f ombFile
	c, p := &f.Client, &f.Producer
	c.MemoryLimitMB, c.Connections, c.TopicType = 256, 8, "persistent"
	c.Persistence.Ensemble, c.Persistence.WriteQuorum, c.Persistence.AckQuorum = 3, 3, 2
	p.Batching, p.DelayMs, p.MaxBytes, p.BlockIfFull = true, 1, 1<<20, true
	f.Consumer.ReceiverQueue, f.Consumer.SubscriptionType = 10_000, "Failover"
	if !d.Decode(&f) {
		return
	}
	ombClient(d, &f)
	d.Set("batchingEnabled", "batching_enabled", strconv.FormatBool(p.Batching))
	d.Set("batchingMaxPublishDelayMs", "batching_max_publish_delay", fmt.Sprintf("%dms", p.DelayMs))
	d.Set("batchingMaxBytes", "batching_max_size", quantity.ExactBytes(p.MaxBytes))
	if p.PendingQueue != 0 {
		d.Set("pendingQueueSize", "max_pending_messages", strconv.FormatInt(p.PendingQueue, 10))
	}
	if !p.BlockIfFull {
		d.Note("blockIfQueueFull false has no effect: a producer that is full waits, and the " +
			"wait is charged to the message")
	}
	d.Set("receiverQueueSize", "receiver_queue_size",
		strconv.FormatInt(f.Consumer.ReceiverQueue, 10))
	types := map[string]string{"exclusive": "exclusive", "failover": "failover", "shared": "shared",
		"key_shared": "key_shared"}
	if kind := types[strings.ToLower(f.Consumer.SubscriptionType)]; kind != "" {
		d.Set("subscriptionType", "subscription_type", kind)
	} else {
		d.Reject("consumer.subscriptionType", "must be Exclusive, Failover, Shared or Key_Shared")
	}
	ombLevel(d, &f)
}

func ombClient(d *omb.DriverFile, f *ombFile) {
	c := &f.Client
	scheme, hosts, has := strings.Cut(c.ServiceURL, "://")
	if !has {
		scheme, hosts = "pulsar", c.ServiceURL
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host = strings.TrimSpace(host); host != "" {
			d.Endpoint(scheme + "://" + host)
		}
	}
	if admin, err := url.Parse(c.HTTPURL); err == nil && admin.Host != "" &&
		(admin.Port() != "8080" || !strings.Contains(c.ServiceURL, admin.Hostname())) {
		host := admin.Host
		if admin.Port() == "" {
			host = net.JoinHostPort(admin.Hostname(), map[bool]string{true: "443",
				false: "80"}[admin.Scheme == "https"])
		}
		d.Set("httpUrl", "admin_endpoints", host)
	}
	d.Set("connectionsPerBroker", "connections_per_broker", strconv.FormatInt(c.Connections, 10))
	d.Set("clientMemoryLimitMB", "memory_limit", quantity.ExactBytes(c.MemoryLimitMB<<20))
	d.Note("clientMemoryLimitMB bounds all producers of a client in OMB, and each producer here")
	if tenant, namespace, ok := strings.Cut(c.NamespacePrefix, "/"); ok && tenant != "" &&
		namespace != "" {
		d.Set("namespacePrefix", "tenant", tenant)
		d.Set("namespacePrefix", "namespace", namespace)
	} else if c.NamespacePrefix != "" {
		d.Note("namespacePrefix is left out: it is not a tenant and a namespace")
	}
	for _, key := range []string{"ioThreads", "maxConcurrentLookupRequests", "clusterName"} {
		if d.Has("client." + key) {
			d.Note("%s is left out: plimsoll's client has no such setting", key)
		}
	}
	if c.TopicType != "persistent" {
		d.Note("topicType %.20q is left out: topics are persistent, because no durability level "+
			"is given without", c.TopicType)
	}
	if scheme == "pulsar+ssl" {
		d.Encrypt(c.TrustCerts)
	} else if c.TrustCerts != "" {
		d.Note("tlsTrustCertsFilePath is left out, because serviceUrl is not pulsar+ssl")
	}
	if scheme != "pulsar+ssl" && d.Has("client.tlsEnableHostnameVerification") {
		d.Note("tlsEnableHostnameVerification is left out, because serviceUrl is not pulsar+ssl")
	}
	if c.AllowInsecure {
		d.Note("tlsAllowInsecureConnection is left out: certificates are always checked here")
	}
	if scheme == "pulsar+ssl" && !c.VerifyHostname {
		d.Note("tlsEnableHostnameVerification is false, and the names in certificates are always " +
			"checked here; server_name under tls gives another name")
	}
	if c.Persistence.Deduplication {
		d.Note("deduplicationEnabled is left out: plimsoll has no setting for it")
	}
	ombLogin(d, c.Authentication.Plugin, c.Authentication.Data)
}

func ombLogin(d *omb.DriverFile, plugin, data string) {
	if plugin == "" && data == "" {
		return
	}
	if !strings.Contains(strings.ToLower(plugin), "token") {
		d.Note("the authentication plugin is not supported: plimsoll uses a token, from the " +
			"environment variable")
	}
	d.Secret("client.authentication.data", false)
}

func ombLevel(d *omb.DriverFile, f *ombFile) {
	q := f.Client.Persistence
	for _, copies := range []struct {
		key, name string
		n         int64
	}{{"ensembleSize", "ensemble", q.Ensemble}, {"writeQuorum", "write_quorum", q.WriteQuorum}} {
		if copies.n > 0 {
			d.Set(copies.key, copies.name, strconv.FormatInt(copies.n, 10))
		} else {
			d.Note("%s %d is not a number of copies: the default is used", copies.key, copies.n)
		}
	}
	refuseQuorums(d, q.Ensemble, q.WriteQuorum, q.AckQuorum)
	level, unsynced := workload.AsyncSync, workload.AsyncAsync
	if q.AckQuorum > q.WriteQuorum/2 && q.AckQuorum >= 2 {
		level, unsynced = workload.SyncSync, workload.SyncAsync
		if q.AckQuorum != q.WriteQuorum/2+1 {
			d.Note("ackQuorum %d waits for more than a majority, which no durability level does",
				q.AckQuorum)
		}
	}
	d.SetLevel(level, fmt.Sprintf("ackQuorum is %d of %d, and bookies sync their journal unless "+
		"they are configured otherwise", q.AckQuorum, q.WriteQuorum))
	d.Note("the bookies' configuration is not in a driver file: with journalSyncData=false it is "+
		"level %d", unsynced)
}

// refuseQuorums rejects a file that waits for more copies than there are: bookies take no message
// then, so it has no level.
func refuseQuorums(d *omb.DriverFile, ensemble, written, acked int64) {
	for _, part := range []struct {
		key     string
		n, most int64
		of      string
	}{{"writeQuorum", written, ensemble, "ensembleSize"},
		{"ackQuorum", acked, written, "writeQuorum"}} {
		if part.most > 0 && part.n > part.most {
			d.Reject("client.persistence."+part.key, fmt.Sprintf("is %d, more than the %d of %s: "+
				"bookies refuse every message then: write at most %[2]d", part.n, part.most,
				part.of))
			return
		}
	}
}

// OMB says how to translate OMB's driver of Pulsar. It refuses the driver of Kafka on Pulsar,
// which speaks another protocol.
func (pulsarSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title: "Pulsar",
		Drivers: map[string]func(*omb.DriverFile){
			"pulsar.PulsarBenchmarkDriver": translateOMB,
			"kop.KopBenchmarkDriver": func(d *omb.DriverFile) {
				d.Undriven("Kafka on Pulsar")
			},
		},
		Caveats: []omb.Caveat{
			{Driver: "kop", Upstream: true, Note: "the end-to-end latency of OMB's driver for " +
				"Kafka on Pulsar begins at Pulsar's publish time, in whole milliseconds"},
			{Driver: "pulsar", Upstream: true, Note: "the end-to-end latency of OMB's Pulsar " +
				"driver begins at the publish time, in whole milliseconds"},
		},
	}
}
