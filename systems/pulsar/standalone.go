package pulsar

import (
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// standalone is a single process with broker, bookie and metadata store. It gets the memory of a
// broker and a bookie.
func (s *starter) standalone() kind {
	c := s.config
	return kind{
		class: standaloneClass, port: c.brokerPort(),
		conf: c.standaloneConf, ready: s.isBrokerHealthy,
		memory: memory{
			heap:   c.Bytes(setBrokerHeap) + c.Bytes(setBookieHeap),
			direct: c.Bytes(setBrokerDirect) + c.Bytes(setBookieDirect),
		},
		args: []string{"--config"},
		more: func(n *driver.Node) []string {
			return []string{
				"--no-functions-worker", "--no-stream-storage", "--advertised-address", n.Host,
				"--metadata-dir", n.Path(dataFolder, "metadata"),
				"--bookkeeper-dir", n.Path(dataFolder, "bookkeeper"),
				"--bookkeeper-port", strconv.Itoa(bookiePort),
			}
		},
	}
}

// standaloneConf is its configuration.
func (c serverConfig) standaloneConf(n *driver.Node) (*driver.Properties, error) {
	p, err := shippedConf(c.dist, "standalone.conf")
	if err != nil {
		return nil, err
	}
	c.brokerCommon(p, n)
	p.Set("webSocketServiceEnabled", false)
	// The bookie takes its configuration from the same file.
	c.bookieCommon(p, n)
	p.Set("httpServerClass", "org.apache.bookkeeper.http.vertx.VertxHttpServer")
	return p, nil
}
