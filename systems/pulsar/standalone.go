package pulsar

import (
	"path/filepath"
	"strconv"
)

// standaloneConf is the configuration of the one process that is broker,
// bookie and metadata store at once.
func (c serverConfig) standaloneConf(host, dir string) (*properties, error) {
	p, err := shippedConf(c.dist, "standalone.conf")
	if err != nil {
		return nil, err
	}
	c.brokerCommon(p, host, dir)
	p.set("webSocketServiceEnabled", false)
	// The bookie takes its configuration from the same file.
	p.set("listeningInterface", loopbackInterface())
	p.set("allowLoopback", true)
	c.journal(p)
	p.set("diskUsageThreshold", "0.99")
	p.set("diskUsageWarnThreshold", "0.98")
	p.set("diskUsageLwmThreshold", "0.98")
	p.set("httpServerEnabled", true)
	p.set("httpServerClass", "org.apache.bookkeeper.http.vertx.VertxHttpServer")
	p.set("httpServerHost", host)
	p.set("httpServerPort", strconv.Itoa(bookieHTTPPort))
	p.set("prometheusStatsHttpEnable", false)
	return p, nil
}

// launchStandalone starts it. Its memory is that of a broker and a bookie.
func (s *starter) launchStandalone(n *server) error {
	settings := s.provision.Settings
	m := memory{
		heap:   settings.Bytes(setBrokerHeap) + settings.Bytes(setBookieHeap),
		direct: settings.Bytes(setBrokerDirect) + settings.Bytes(setBookieDirect),
	}
	conf := filepath.Join(n.dir, confFile)
	options := append(s.config.javaOptions(n.dir, m), "-Dpulsar.config.file="+conf)
	p, err := s.startJava(n, "server "+n.name, options, standaloneClass,
		"--config", conf, "--no-functions-worker", "--no-stream-storage", "--advertised-address", n.host,
		"--metadata-dir", filepath.Join(n.dir, dataFolder, "metadata"),
		"--bookkeeper-dir", filepath.Join(n.dir, dataFolder, "bookkeeper"), "--bookkeeper-port", strconv.Itoa(bookiePort))
	n.process = p
	return err
}
