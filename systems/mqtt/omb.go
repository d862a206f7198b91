package mqtt

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// OMB says how to translate OMB's driver of MQTT 5.
func (mqttSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title:   "MQTT",
		Drivers: map[string]func(*omb.DriverFile){"mqtt5.MqttBenchmarkDriver": translateOMB},
		Caveats: []omb.Caveat{{Driver: "mqtt", Note: "the end-to-end latency of OMB's MQTT " +
			"driver is in whole milliseconds"}},
	}
}

type ombFile struct {
	omb.Head
	Client struct {
		URI         string `yaml:"serverUri"`
		User        string `yaml:"username"`
		Password    string `yaml:"password"`
		QoS         int64  `yaml:"qos"`
		TopicPrefix string `yaml:"topicPrefix"`
	} `yaml:"client"`
	Consumer struct {
		CleanSession bool  `yaml:"cleanSession"`
		ExpirySec    int64 `yaml:"sessionExpiryInterval"`
		Sample       int64 `yaml:"sessionExpiryIntervalSeconds"` // in OMB's sample, and unread
		ReceiveMax   int64 `yaml:"receiveMaximum"`
	} `yaml:"consumer"`
}

func translateOMB(d *omb.DriverFile) {
	var f ombFile
	if !d.Decode(&f) {
		return
	}
	d.Endpoint(endpointOf(cmp.Or(f.Client.URI, ombDefaultURI)))
	if f.Client.Password != "" {
		d.Secret("client.password", f.Client.User != "")
	} else if f.Client.User != "" {
		d.Note("client.username is left out: there is no client.password")
	}
	if d.Has("client.qos") {
		d.Set("client.qos", setPublishQoS, strconv.FormatInt(f.Client.QoS, 10))
	}
	if d.Has("consumer.receiveMaximum") {
		d.Set("consumer.receiveMaximum", setReceiveMax,
			strconv.FormatInt(f.Consumer.ReceiveMax, 10))
	}
	if d.Has("consumer.sessionExpiryInterval") && f.Consumer.ExpirySec >= 0 {
		expiry := time.Duration(min(f.Consumer.ExpirySec, maxExpirySec)) * time.Second
		d.Set("consumer.sessionExpiryInterval", setExpiry, expiry.String())
	}
	d.Note("subscriptions are kept without consumers, whatever consumer.cleanSession says")
	if d.Has("client.qos") && f.Client.QoS == 0 {
		d.SetNearest(workload.AsyncAsync, "with QoS 0 nothing is acknowledged")
		return
	}
	d.SetLevel(workload.AsyncAsync, "MQTT says nothing about syncs and copies")
}

const (
	ombDefaultURI = "tcp://localhost:1883"
	maxExpirySec  = 1<<32 - 1 // the protocol's longest interval
)

// endpointOf returns the address in a URI. OMB's driver takes port 80 where there is none.
func endpointOf(uri string) string {
	if _, rest, has := strings.Cut(uri, "://"); has {
		uri = rest
	}
	if !strings.Contains(uri, ":") {
		uri = driver.At(uri, 80)
	}
	return uri
}
