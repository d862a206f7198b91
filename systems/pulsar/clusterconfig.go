package pulsar

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Ports of the servers, as Pulsar has them.
const (
	servicePort    = 6650
	serviceTLSPort = 6651
	webPort        = 8080
	webTLSPort     = 8443
	bookiePort     = 3181
	bookieHTTPPort = 8000
	zooKeeperPort  = 2181
)

// Names of what is in a server's folder.
const (
	confFile    = "server.conf"
	loggingFile = "log4j2.properties"
	keyFile     = "key.pem"
	certFile    = "cert.pem"
	caFile      = "ca.pem"
	tempFolder  = "tmp"
	hostsFile   = "hosts"
	dataFolder  = "data"
)

// loggingConfig has every server write to its standard output. The pattern is
// the distribution's.
const loggingConfig = `status = error
appender.console.type = Console
appender.console.name = Console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} [%t] %-5level %logger{36} - %msg%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = Console
`

// properties is a server's configuration: the distribution's own file with
// ours in place of it. The shipped files hold keys twice and end without a line
// end, so that adding to them would not do.
type properties struct {
	keys   []string
	values map[string]string
}

// shippedConf reads one of the distribution's files.
func shippedConf(dir, name string) (*properties, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "conf", name))
	if err != nil {
		return nil, fmt.Errorf("reading the distribution's configuration: %w", err)
	}
	p := &properties{values: map[string]string{}}
	for line := range strings.Lines(string(raw)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		// A key without a value means its default; some of those that read the
		// file take it for a number that is wrong.
		if value = strings.TrimSpace(value); ok && value != "" && !strings.HasPrefix(key, "#") {
			p.set(strings.TrimSpace(key), value)
		}
	}
	return p, nil
}

func (p *properties) set(key string, value any) {
	if _, there := p.values[key]; !there {
		p.keys = append(p.keys, key)
	}
	p.values[key] = fmt.Sprint(value)
}

func (p *properties) String() string {
	var b strings.Builder
	for _, key := range p.keys {
		fmt.Fprintf(&b, "%s=%s\n", key, p.values[key])
	}
	return b.String()
}

// serverConfig is what the configuration files are made of.
type serverConfig struct {
	settings  system.Settings
	level     workload.Level
	dist      string // folder of the distribution
	zooKeeper string // its address
	secret    []byte // what tokens are signed with; nil: nobody shows any
	broker    string // the brokers' own token
	encrypted bool
	copies    config
}

func (c serverConfig) zooKeeperConf(host, dir string) (*properties, error) {
	p, err := shippedConf(c.dist, "zookeeper.conf")
	if err != nil {
		return nil, err
	}
	p.set("dataDir", filepath.Join(dir, dataFolder))
	p.set("clientPort", zooKeeperPort)
	p.set("clientPortAddress", host)
	// Either would listen on every interface.
	p.set("admin.enableServer", false)
	p.set("metricsProvider.className", "org.apache.zookeeper.metrics.impl.DefaultMetricsProvider")
	return p, nil
}

func (c serverConfig) bookieConf(host, dir string) (*properties, error) {
	p, err := shippedConf(c.dist, "bookkeeper.conf")
	if err != nil {
		return nil, err
	}
	// Only with an interface named does a bookie listen on its own address
	// alone.
	p.set("listeningInterface", loopbackInterface())
	p.set("allowLoopback", true)
	p.set("advertisedAddress", host)
	p.set("bookiePort", bookiePort)
	// BookKeeper's own driver, as in the file that is shipped, and not Pulsar's: a
	// bookie that comes back before the session of its dead self has ended waits
	// for that. With Pulsar's it gives up at once, and its process stays, useless.
	p.set("metadataServiceUri", "zk+null://"+c.zooKeeper+"/ledgers")
	p.set("journalDirectory", filepath.Join(dir, dataFolder, "journal"))
	p.set("ledgerDirectories", filepath.Join(dir, dataFolder, "ledgers"))
	p.set("indexDirectories", filepath.Join(dir, dataFolder, "index"))
	c.journal(p)
	p.set("httpServerEnabled", true)
	p.set("httpServerHost", host)
	p.set("httpServerPort", bookieHTTPPort)
	p.set("prometheusStatsHttpEnable", false) // the HTTP server has the metrics too
	// A testbed has no bookie to lose for good, and whoever fills the disk is
	// told so by the run.
	p.set("autoRecoveryDaemonEnabled", false)
	p.set("diskUsageThreshold", "0.99")
	p.set("diskUsageWarnThreshold", "0.98")
	p.set("diskUsageLwmThreshold", "0.98")
	return p, nil
}

// journal is what makes the local half of a level.
func (c serverConfig) journal(p *properties) {
	p.set("journalSyncData", synced(c.level))
	p.set("journalWriteData", synced(c.level) || c.settings.Bool(setJournalWriteData))
	p.set("journalMaxGroupWaitMSec", c.settings.Duration(setMaxGroupWait).Milliseconds())
	p.set("journalPageCacheFlushIntervalMSec", c.settings.Duration(setPageCacheFlush).Milliseconds())
}

func (c serverConfig) brokerConf(host, dir string) (*properties, error) {
	p, err := shippedConf(c.dist, "broker.conf")
	if err != nil {
		return nil, err
	}
	p.set("metadataStoreUrl", "zk:"+c.zooKeeper)
	p.set("configurationMetadataStoreUrl", "zk:"+c.zooKeeper)
	c.brokerCommon(p, host, dir)
	return p, nil
}

// brokerCommon is what brokers and the standalone server share.
func (c serverConfig) brokerCommon(p *properties, host, dir string) {
	p.set("clusterName", clusterName)
	p.set("bindAddress", host)
	p.set("advertisedAddress", host)
	// Namespaces have their own; this is for what Pulsar keeps for itself.
	p.set("managedLedgerDefaultEnsembleSize", c.copies.ensemble)
	p.set("managedLedgerDefaultWriteQuorum", c.copies.writeQuorum)
	p.set("managedLedgerDefaultAckQuorum", majority(c.copies.writeQuorum))
	p.set("managedLedgerNewEntriesCheckDelayInMillis", c.settings.Duration(setNewEntriesDelay).Milliseconds())
	p.set("activeConsumerFailoverDelayTimeMillis", c.settings.Duration(setFailoverDelay).Milliseconds())
	p.set("bookkeeperNumberOfChannelsPerBookie", c.settings.Count(setChannels))
	// All servers stand in one rack.
	p.set("bookkeeperClientMinNumRacksPerWriteQuorum", 1)
	p.set("acknowledgmentAtBatchIndexLevelEnabled", true)
	balances := c.settings.Bool(setLoadBalancing)
	p.set("loadBalancerSheddingEnabled", balances)
	p.set("loadBalancerAutoBundleSplitEnabled", balances)
	if c.encrypted {
		p.set("brokerServicePort", "")
		p.set("webServicePort", "")
		p.set("brokerServicePortTls", serviceTLSPort)
		p.set("webServicePortTls", webTLSPort)
		p.set("webServiceTlsProvider", "") // Java's own
		p.set("tlsCertificateFilePath", filepath.Join(dir, certFile))
		p.set("tlsKeyFilePath", filepath.Join(dir, keyFile))
		p.set("tlsTrustCertsFilePath", filepath.Join(dir, caFile))
		p.set("brokerClientTlsEnabled", true)
		p.set("brokerClientTrustCertsFilePath", filepath.Join(dir, caFile))
	} else {
		p.set("brokerServicePort", servicePort)
		p.set("webServicePort", webPort)
	}
	if c.secret == nil {
		return
	}
	p.set("authenticationEnabled", true)
	p.set("authorizationEnabled", true)
	p.set("authenticationProviders", "org.apache.pulsar.broker.authentication.AuthenticationProviderToken")
	p.set("tokenSecretKey", "data:;base64,"+base64.StdEncoding.EncodeToString(c.secret))
	p.set("superUserRoles", benchRole+","+brokerRole)
	p.set("brokerClientAuthenticationPlugin", "org.apache.pulsar.client.impl.auth.AuthenticationToken")
	p.set("brokerClientAuthenticationParameters", "token:"+c.broker)
}

// loopbackInterface is the name of the interface that the servers listen on.
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

// memory is a Java's heap and what it takes beside it; 0: as Java likes.
type memory struct{ heap, direct int64 }

// javaOptions are those of Pulsar's scripts, but for memory and collector,
// which are settings. The folder for temporary files is the server's own: native
// libraries are unpacked into it and would stay after a kill. Names are looked
// up in the server's own hosts file.
func (c serverConfig) javaOptions(dir string, m memory) []string {
	bytes := func(n int64) string { return strconv.FormatInt(n, 10) }
	options := []string{"-Xms" + bytes(m.heap), "-Xmx" + bytes(m.heap)}
	if m.direct > 0 {
		options = append(options, "-XX:MaxDirectMemorySize="+bytes(m.direct))
	}
	options = append(options, map[string]string{gcG1: "-XX:+UseG1GC", gcSerial: "-XX:+UseSerialGC", gcZ: "-XX:+UseZGC"}[c.settings.Text(setGC)])
	for _, opened := range []string{
		"java.base/java.io", "java.base/java.util.zip", "java.management/sun.management", "jdk.management/com.sun.management.internal",
		"java.base/java.nio", "java.base/jdk.internal.misc", "java.base/jdk.internal.platform",
	} {
		options = append(options, "--add-opens", opened+"=ALL-UNNAMED")
	}
	return append(options,
		"-Djava.awt.headless=true", "-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir="+filepath.Join(dir, tempFolder),
		"-Djdk.net.hosts.file="+filepath.Join(dir, hostsFile),
		"-Djute.maxbuffer=10485760", "-Dzookeeper.clientTcpKeepAlive=true", "-Dzookeeper.4lw.commands.whitelist=ruok",
		"-Dzookeeper.snapshot.trust.empty=true", "-Dzookeeper.tcpKeepAlive=true",
		"-Dio.netty.tryReflectionSetAccessible=true", "-Dorg.apache.pulsar.shade.io.netty.tryReflectionSetAccessible=true",
		"-Dio.netty.leakDetection.level=disabled", "-Dio.netty.recycler.maxCapacityPerThread=4096", "-Dpulsar.allocator.exit_on_oom=true",
		"-Dlog4j.configurationFile="+filepath.Join(dir, loggingFile), "-Dlog4j2.is.webapp=false", "-Dlog4j.shutdownHookEnabled=false",
		"-Dbookkeeper.metadata.bookie.drivers=org.apache.pulsar.metadata.bookkeeper.PulsarMetadataBookieDriver",
		"-Dbookkeeper.metadata.client.drivers=org.apache.pulsar.metadata.bookkeeper.PulsarMetadataClientDriver",
	)
}
