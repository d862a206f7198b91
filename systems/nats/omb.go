package nats

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type ombFile struct {
	omb.Head
	HostURL     string `yaml:"natsHostUrl"`
	Replication int64  `yaml:"replicationFactor"`
	Storage     string `yaml:"storageType"`
	MaxBytes    int64  `yaml:"maxBytes"`
}

func translateOMB(d *omb.DriverFile) {
	f := ombFile{Storage: "File", MaxBytes: -1}
	if !d.Decode(&f) {
		return
	}
	for host := range strings.SplitSeq(f.HostURL, ",") {
		if strings.HasPrefix(strings.TrimSpace(host), "tls://") {
			d.Encrypt("")
		}
		d.Endpoint(host)
	}
	storage := strings.ToLower(f.Storage)
	if storage != "file" && storage != "memory" {
		d.Reject("storageType", "must be File or Memory")
		return
	}
	d.Set("storageType", "storage", storage)
	if f.MaxBytes > 0 {
		d.Set("maxBytes", "max_bytes", quantity.ExactBytes(f.MaxBytes))
	} else if f.MaxBytes != -1 {
		d.Note("maxBytes %d has no effect: streams have no limit then", f.MaxBytes)
	}
	level, synced := workload.SyncAsync, workload.SyncSync
	if f.Replication > 0 {
		d.Set("replicationFactor", "num_replicas", strconv.FormatInt(f.Replication, 10))
	} else {
		d.Note("replicationFactor %d is not a number of copies: the default is used",
			f.Replication)
	}
	if f.Replication < 3 {
		level, synced = workload.AsyncAsync, workload.AsyncSync
	}
	d.SetLevel(level, fmt.Sprintf("replicationFactor is %d, and servers sync every two minutes "+
		"unless they are configured otherwise", f.Replication))
	if storage == "file" {
		d.Note("the servers' configuration is not in a driver file: with sync_interval always "+
			"it is level %d", synced)
	}
}

// OMB says how to translate OMB's driver of NATS JetStream. NATS Streaming (STAN), JetStream's
// predecessor, is known only for its results.
func (natsSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title:   "NATS",
		Drivers: map[string]func(*omb.DriverFile){"nats.NatsBenchmarkDriver": translateOMB},
		Caveats: []omb.Caveat{
			{Driver: "stan", Note: "the end-to-end latency of OMB's NATS Streaming driver begins " +
				"at the broker's clock"},
			{Driver: "nats", Note: "OMB's NATS driver writes each message's stamp into a payload " +
				"that all messages share: the end-to-end latency can read too short"},
		},
	}
}
