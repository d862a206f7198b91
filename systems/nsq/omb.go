package nsq

import (
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// OMB says how to translate OMB's driver of NSQ.
func (nsqSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title:   "NSQ",
		Drivers: map[string]func(*omb.DriverFile){"nsq.NsqBenchmarkDriver": translateOMB},
		Caveats: []omb.Caveat{{Driver: "nsq", Note: "the end-to-end latency of OMB's NSQ driver " +
			"begins at the broker's clock, and its failed messages are counted nowhere"}},
	}
}

type ombFile struct {
	omb.Head
	Host   string `yaml:"nsqdHost"`
	Lookup string `yaml:"lookupHost"`
}

func translateOMB(d *omb.DriverFile) {
	var f ombFile
	if !d.Decode(&f) {
		return
	}
	if f.Host != "" {
		d.Endpoint(driver.At(f.Host, clientPort))
	}
	if f.Lookup != "" {
		d.Note("lookupHost is left out: a target names each nsqd")
	}
	d.SetLevel(workload.AsyncAsync, "nsqd answers before it syncs, with all settings")
}
