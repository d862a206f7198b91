package rocketmq

import (
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// OMB says how to translate OMB's drivers of RocketMQ.
func (rocketSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title: "RocketMQ",
		Drivers: map[string]func(*omb.DriverFile){
			"rocketmq.RocketMQBenchmarkDriver":  translateOMB,
			"rocketmq.RocketMQ5BenchmarkDriver": translateOMB5,
		},
		Caveats: []omb.Caveat{
			{Driver: "rocketmq", Note: "the end-to-end latency of OMB's RocketMQ driver begins " +
				"at the born timestamp, in whole milliseconds"},
		},
	}
}

// ombLogin are the keys that both driver classes have.
type ombLogin struct {
	Names     string `yaml:"namesrvAddr"`
	Cluster   string `yaml:"clusterName"`
	AccessKey string `yaml:"accessKey"`
	SecretKey string `yaml:"secretKey"`
}

// ombFile is a file of the driver that speaks to brokers.
type ombFile struct {
	omb.Head
	ombLogin      `yaml:",inline"`
	VIPChannel    bool  `yaml:"vipChannelEnabled"`
	MaxMessage    int64 `yaml:"maxMessageSize"`
	CompressOver  int64 `yaml:"compressMsgBodyOverHowmuch"`
	BatchCQ       bool  `yaml:"batchCQ"`
	AutoBatch     bool  `yaml:"autoBatch"`
	BatchBytes    int64 `yaml:"batchMaxBytes"`
	BatchDelayMs  int64 `yaml:"batchMaxDelayMs"`
	TotalBytes    int64 `yaml:"totalBatchMaxBytes"`
	Backpressure  bool  `yaml:"enableBackpressure"`
	BackpressureN int64 `yaml:"backpressureConcurrency"`
}

// ombFile5 is a file of the driver that speaks to the proxy.
type ombFile5 struct {
	omb.Head
	ombLogin    `yaml:",inline"`
	Endpoint    string `yaml:"grpcEndpoint"`
	AdminKey    string `yaml:"adminAccessKey"`
	AdminSecret string `yaml:"adminSecretKey"`
	Delays      bool   `yaml:"sendDelayMsg"`
	DelaySec    int64  `yaml:"delayTimeInSec"`
}

func translateOMB(d *omb.DriverFile) {
	var f ombFile
	if !d.Decode(&f) {
		return
	}
	f.translate(d)
	if f.AutoBatch && f.BatchDelayMs >= 0 && d.Has("batchMaxDelayMs") {
		d.Set("batchMaxDelayMs", setLinger,
			(time.Duration(f.BatchDelayMs) * time.Millisecond).String())
	}
	if d.Has("compressMsgBodyOverHowmuch") {
		d.Note("compressMsgBodyOverHowmuch is left out: plimsoll compresses nothing")
	}
	if f.BatchCQ {
		d.Note("batchCQ is left out: topics have queues of single messages here")
	}
}

func translateOMB5(d *omb.DriverFile) {
	var f ombFile5
	if !d.Decode(&f) {
		return
	}
	f.translate(d)
	d.Note("OMB's driver sends and receives through the proxy (grpcEndpoint), and this one asks " +
		"the name servers and the brokers themselves")
	if f.AdminSecret != "" {
		d.Note("adminAccessKey and adminSecretKey are left out: name them as the target's " +
			"credentials.admin_user_env and admin_password_env")
	}
	if f.Delays {
		d.Note("sendDelayMsg is left out: plimsoll's messages have no delay")
	}
}

func (f ombLogin) translate(d *omb.DriverFile) {
	for _, at := range strings.Split(f.Names, ";") {
		if at = strings.TrimSpace(at); at != "" {
			d.Endpoint(at)
		}
	}
	if f.SecretKey != "" {
		d.Secret("secretKey", f.AccessKey != "")
	} else if f.AccessKey != "" {
		d.Note("accessKey is left out: there is no secretKey")
	}
	d.SetLevel(workload.AsyncAsync,
		"OMB's driver waits for the broker's answer, and the file does not say what that means")
	d.Note("whether brokers sync and wait for slaves is in their brokerRole, flushDiskType and " +
		"inSyncReplicas: see the levels of plimsoll systems rocketmq")
}
