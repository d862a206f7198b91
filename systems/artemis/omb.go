package artemis

import (
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// OMB says how OMB's driver of Artemis is translated.
func (artemisSystem) OMB() omb.Dialect {
	return omb.Dialect{
		Title:   "Artemis",
		Drivers: map[string]func(*omb.DriverFile){"artemis.ArtemisBenchmarkDriver": translateOMB},
		Caveats: []omb.Caveat{{Driver: "artemis", Note: "the end-to-end latency of OMB's Artemis " +
			"driver begins at the wall clock, in whole milliseconds"}},
	}
}

type ombFile struct {
	omb.Head
	Broker string `yaml:"brokerAddress"`
}

func translateOMB(d *omb.DriverFile) {
	f := ombFile{}
	if !d.Decode(&f) {
		return
	}
	if f.Broker != "" {
		ombBroker(d, f.Broker)
	}
	d.SetLevel(workload.AsyncAsync,
		"OMB's driver waits for the server's answer, and the file does not say what that means")
	d.Note("how servers replicate and whether they sync is in their broker.xml: see the levels " +
		"of plimsoll systems artemis")
	d.Note("OMB's driver speaks Artemis's core protocol, and this one AMQP 1.0")
}

// ombBroker takes host and port of tcp://host:port?parameters.
func ombBroker(d *omb.DriverFile, broker string) {
	_, rest, has := strings.Cut(broker, "://")
	if !has {
		rest = broker
	}
	// A password may hold a question mark, so the user is cut off first.
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		d.Secret("brokerAddress", true)
		rest = rest[i+1:]
	}
	host, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "sslEnabled=true") {
		d.Encrypt("")
	}
	for _, parameter := range strings.FieldsFunc(query,
		func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(parameter, "=")
		if name != "sslEnabled" || value != "true" {
			d.Note("the parameter %.40q of brokerAddress is left out: the target's tls and the "+
				"settings of plimsoll systems artemis say how to connect", name)
		}
	}
	d.Endpoint(host)
	d.Note("the acceptor of brokerAddress must speak AMQP too, as Artemis's usual one on port " +
		"61616 does")
}
