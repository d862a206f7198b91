package pulsar

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Pulsar's default ports.
const (
	servicePort    = 6650
	serviceTLSPort = 6651
	webPort        = 8080
	webTLSPort     = 8443
	bookiePort     = 3181
	bookieHTTPPort = 8000
	zooKeeperPort  = 2181
)

// Names of the files in a server's folder.
const (
	confFile    = "server.conf"
	loggingFile = "log4j2.properties"
	dataFolder  = "data"
)

// loggingConfig makes every server log to its standard output, with the distribution's pattern.
const loggingConfig = `status = error
appender.console.type = Console
appender.console.name = Console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} [%t] %-5level %logger{36} - %msg%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = Console
`

// shippedConf reads one of the distribution's files, to replace values in it. Appending would not
// work: the files hold some keys twice and end without a newline.
func shippedConf(dir, name string) (*driver.Properties, error) {
	if dir == "" {
		return &driver.Properties{}, nil // other machines have the distribution, and write the file
	}
	raw, err := os.ReadFile(filepath.Join(dir, "conf", name))
	if err != nil {
		return nil, fmt.Errorf("read the distribution's configuration: %w", err)
	}
	p := &driver.Properties{}
	for line := range strings.Lines(string(raw)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		// A key without a value means its default; some programs that read the file report it as a
		// wrong number.
		if value = strings.TrimSpace(value); ok && value != "" && !strings.HasPrefix(key, "#") {
			p.Set(strings.TrimSpace(key), value)
		}
	}
	return p, nil
}

// serverConfig holds the values of the servers' configuration.
type serverConfig struct {
	system.Settings
	level     workload.Level
	dist      string // folder of the distribution
	zooKeeper string // ZooKeeper's address
	secret    []byte // the key that signs tokens; nil: no tokens
	broker    string // the brokers' own token
	encrypted bool
	recovers  bool // bookies copy the ledgers of one that is gone
	copies    copies
}

// brokerPort and webPort are where clients reach a broker.
func (c serverConfig) brokerPort() int {
	if c.encrypted {
		return serviceTLSPort
	}
	return servicePort
}

func (c serverConfig) webPort() int {
	if c.encrypted {
		return webTLSPort
	}
	return webPort
}

func (c serverConfig) zooKeeperConf(n *driver.Node) (*driver.Properties, error) {
	p, err := shippedConf(c.dist, "zookeeper.conf")
	if err != nil {
		return nil, err
	}
	p.Set("dataDir", n.Path(dataFolder))
	p.Set("clientPort", zooKeeperPort)
	p.Set("clientPortAddress", n.Host)
	// Both would listen on every interface.
	p.Set("admin.enableServer", false)
	p.Set("metricsProvider.className", "org.apache.zookeeper.metrics.impl.DefaultMetricsProvider")
	return p, nil
}

func (c serverConfig) bookieConf(n *driver.Node) (*driver.Properties, error) {
	p, err := shippedConf(c.dist, "bookkeeper.conf")
	if err != nil {
		return nil, err
	}
	p.Set("advertisedAddress", n.Host)
	p.Set("bookiePort", bookiePort)
	// BookKeeper's own driver, as in the shipped file, not Pulsar's: a bookie that restarts before
	// the session of its dead process has ended waits for the end. With Pulsar's driver it gives
	// up at once, and its process stays without function.
	p.Set("metadataServiceUri", "zk+null://"+c.zooKeeper+"/ledgers")
	p.Set("journalDirectory", n.Path(dataFolder, "journal"))
	p.Set("ledgerDirectories", n.Path(dataFolder, "ledgers"))
	p.Set("indexDirectories", n.Path(dataFolder, "index"))
	// Otherwise a testbed's bookies always come back.
	p.Set("autoRecoveryDaemonEnabled", c.recovers)
	c.bookieCommon(p, n)
	return p, nil
}

// bookieCommon holds the configuration that bookies and the standalone server share.
func (c serverConfig) bookieCommon(p *driver.Properties, n *driver.Node) {
	// A bookie listens only on its own address if its interface is named.
	p.Set("listeningInterface", loopbackInterface())
	p.Set("allowLoopback", true)
	c.journal(p)
	p.Set("httpServerEnabled", true)
	p.Set("httpServerHost", n.Host)
	p.Set("httpServerPort", bookieHTTPPort)
	p.Set("prometheusStatsHttpEnable", false) // the HTTP server has the metrics too
	// The run itself reports a full disk.
	p.Set("diskUsageThreshold", "0.99")
	p.Set("diskUsageWarnThreshold", "0.98")
	p.Set("diskUsageLwmThreshold", "0.98")
	// By default a bookie keeps five old journals of 2 GB, and for 15 minutes what deleted topics
	// leave: on a cluster that serves one run after another, tens of GB.
	p.Set("journalMaxBackups", 0)
	p.Set("gcWaitTime", bookieGC.Milliseconds())
}

// bookieGC is how often a bookie looks for ledgers of deleted topics.
const bookieGC = time.Minute

// journal sets the part of a level that each bookie gives.
func (c serverConfig) journal(p *driver.Properties) {
	p.Set("journalSyncData", c.level.Synced())
	p.Set("journalWriteData", c.level.Synced() || c.Bool(setJournalWriteData))
	p.Set("journalMaxGroupWaitMSec", c.Duration(setMaxGroupWait).Milliseconds())
	p.Set("journalPageCacheFlushIntervalMSec", c.Duration(setPageCacheFlush).Milliseconds())
}

func (c serverConfig) brokerConf(n *driver.Node) (*driver.Properties, error) {
	p, err := shippedConf(c.dist, "broker.conf")
	if err != nil {
		return nil, err
	}
	p.Set("metadataStoreUrl", "zk:"+c.zooKeeper)
	p.Set("configurationMetadataStoreUrl", "zk:"+c.zooKeeper)
	c.brokerCommon(p, n)
	return p, nil
}

// brokerCommon holds the common configuration of brokers and the standalone server.
func (c serverConfig) brokerCommon(p *driver.Properties, n *driver.Node) {
	p.Set("clusterName", clusterName)
	p.Set("bindAddress", n.Host)
	p.Set("advertisedAddress", n.Host)
	// For Pulsar's own data; namespaces have their own values.
	p.Set("managedLedgerDefaultEnsembleSize", c.copies.ensemble)
	p.Set("managedLedgerDefaultWriteQuorum", c.copies.writeQuorum)
	p.Set("managedLedgerDefaultAckQuorum", driver.Majority(c.copies.writeQuorum))
	p.Set("managedLedgerNewEntriesCheckDelayInMillis",
		c.Duration(setNewEntriesDelay).Milliseconds())
	p.Set("activeConsumerFailoverDelayTimeMillis", c.Duration(setFailoverDelay).Milliseconds())
	p.Set("bookkeeperNumberOfChannelsPerBookie", c.Count(setChannels))
	// All servers are in one rack.
	p.Set("bookkeeperClientMinNumRacksPerWriteQuorum", 1)
	p.Set("acknowledgmentAtBatchIndexLevelEnabled", true)
	balances := c.Bool(setLoadBalancing)
	p.Set("loadBalancerSheddingEnabled", balances)
	p.Set("loadBalancerAutoBundleSplitEnabled", balances)
	if c.encrypted {
		p.Set("brokerServicePort", "")
		p.Set("webServicePort", "")
		p.Set("brokerServicePortTls", serviceTLSPort)
		p.Set("webServicePortTls", webTLSPort)
		p.Set("webServiceTlsProvider", "") // Java's own
		p.Set("tlsCertificateFilePath", n.Path(driver.CertificateFile))
		p.Set("tlsKeyFilePath", n.Path(driver.KeyFile))
		p.Set("tlsTrustCertsFilePath", n.Path(driver.CAFile))
		p.Set("brokerClientTlsEnabled", true)
		p.Set("brokerClientTrustCertsFilePath", n.Path(driver.CAFile))
	} else {
		p.Set("brokerServicePort", servicePort)
		p.Set("webServicePort", webPort)
	}
	if c.secret == nil {
		return
	}
	p.Set("authenticationEnabled", true)
	p.Set("authorizationEnabled", true)
	p.Set("authenticationProviders",
		"org.apache.pulsar.broker.authentication.AuthenticationProviderToken")
	p.Set("tokenSecretKey", "data:;base64,"+base64.StdEncoding.EncodeToString(c.secret))
	p.Set("superUserRoles", benchRole+","+brokerRole)
	p.Set("brokerClientAuthenticationPlugin",
		"org.apache.pulsar.client.impl.auth.AuthenticationToken")
	p.Set("brokerClientAuthenticationParameters", "token:"+c.broker)
}

// loopbackInterface returns the name of the interface that the servers listen on.
func loopbackInterface() string {
	all, err := net.Interfaces()
	if err == nil {
		for _, i := range all {
			if i.Flags&net.FlagLoopback != 0 {
				return i.Name
			}
		}
	}
	return "lo"
}

// memory is the heap and the direct memory of a Java process; 0: Java's default.
type memory struct{ heap, direct int64 }

// metadataDrivers is the package of the drivers with which bookies use Pulsar's metadata store.
const metadataDrivers = "org.apache.pulsar.metadata.bookkeeper."

// javaOptions returns the options of Pulsar's scripts, except for memory and collector,
// which are settings.
func (c serverConfig) javaOptions(java driver.Java, n *driver.Node, m memory) []string {
	options := append(java.Options(n, m.heap), driver.Collectors[c.Text(setGC)])
	if m.direct > 0 {
		options = append(options, "-XX:MaxDirectMemorySize="+strconv.FormatInt(m.direct, 10))
	}
	if c.Text(setTopology) == standalone {
		options = append(options, "-Dpulsar.config.file="+n.Path(confFile))
	}
	for _, opened := range []string{
		"java.base/java.io", "java.base/java.util.zip", "java.management/sun.management",
		"jdk.management/com.sun.management.internal",
		"java.base/java.nio", "java.base/jdk.internal.misc", "java.base/jdk.internal.platform",
	} {
		options = append(options, "--add-opens", opened+"=ALL-UNNAMED")
	}
	return append(options,
		"-Djute.maxbuffer=10485760", "-Dzookeeper.clientTcpKeepAlive=true",
		"-Dzookeeper.4lw.commands.whitelist=ruok",
		"-Dzookeeper.snapshot.trust.empty=true", "-Dzookeeper.tcpKeepAlive=true",
		"-Dio.netty.tryReflectionSetAccessible=true",
		"-Dorg.apache.pulsar.shade.io.netty.tryReflectionSetAccessible=true",
		"-Dio.netty.leakDetection.level=disabled", "-Dio.netty.recycler.maxCapacityPerThread=4096",
		"-Dpulsar.allocator.exit_on_oom=true",
		"-Dlog4j.configurationFile="+n.Path(loggingFile),
		"-Dlog4j2.is.webapp=false", "-Dlog4j.shutdownHookEnabled=false",
		"-Dbookkeeper.metadata.bookie.drivers="+metadataDrivers+"PulsarMetadataBookieDriver",
		"-Dbookkeeper.metadata.client.drivers="+metadataDrivers+"PulsarMetadataClientDriver",
	)
}
