package activemq

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Names of the servers' settings, in ActiveMQ's own words where it has them.
const (
	setSecurity      = "security"
	setHeap          = "heap"
	setGC            = "gc"
	setMemoryUsage   = "memory_usage"
	setZKSession     = "zk_session_timeout"
	setZKHeap        = "zookeeper_heap"
	setSyncStrategy  = "journal_disk_sync_strategy"
	setSyncInterval  = "journal_disk_sync_interval"
	setStoreDispatch = "concurrent_store_and_dispatch"
)

// serverSettings are the settings of the servers that plimsoll starts.
var serverSettings = driver.ServerSettings(system.MustSettings(`
security text password password|tls|none
    how clients authenticate: a user and password, these over TLS, or nothing (ActiveMQ's
    default); between brokers the password is a security token, and nothing is encrypted
heap bytes 512MB 128MB..
    each broker's Java heap, reserved whole at the start (ActiveMQ's script takes 64MB to 1GB)
gc text g1 serial|g1
    Java's garbage collector: g1 is Java's choice on a machine with two cores and 2GB or more;
    serial takes less memory
memory_usage count 70 10..90
    percentage of the heap for messages; beyond it the broker stops reading from producers
zk_session_timeout duration 4s 1s..10s
    leveldb: after how long without a heartbeat another broker takes the master's place
    (ActiveMQ's default is 2s)
zookeeper_heap bytes 64MB 48MB..
    leveldb: ZooKeeper's Java heap
journal_disk_sync_strategy text periodic periodic|never
    kahadb, level 4: when the journal is synced; level 3: always (ActiveMQ's default is always)
journal_disk_sync_interval duration 1s 1ms..1h
    kahadb, level 4: how often periodic syncs
concurrent_store_and_dispatch bool true
    kahadb: a message is handed to consumers while it is being written
`))

// checkServers returns the violations of the settings of servers to start. nodes is their number,
// or 0 when they run already.
func checkServers(s system.Settings, l workload.Level, nodes int) strict.Violations {
	if nodes == 0 {
		return driver.AlreadyRunning(s, serverSettings)
	}
	bad := driver.CheckRanges(s, serverSettings)
	if s.Text(setStore) == storeKahaDB {
		if s.Given(setSyncStrategy) && l.Synced() {
			bad.Wrong(setSyncStrategy, "is %s, and level %d syncs always: remove it, or ask for "+
				"level %d", s.Text(setSyncStrategy), l, workload.AsyncAsync)
		}
		return bad.Violations // it is one broker, whatever the number of nodes
	}
	if nodes < 3 {
		bad.Wrong(setStore, "leveldb needs a majority of 3 or more brokers, and the testbed has "+
			"%d: ask for testbed: {nodes: 3}, or for %s kahadb", nodes, setStore)
	}
	return bad.Violations
}

// Files in a broker's folder.
const (
	configFile   = "activemq.xml"
	loggingFile1 = "log4j.properties"  // of 5.14
	loggingFile2 = "log4j2.properties" // of 5.18
	jolokiaFile  = "jolokia.properties"
	storeFolder  = "store"
	dataFolder   = "data"
)

const logging1 = `log4j.rootLogger=INFO,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} [%t] %-5p %c{1} - %m%n
`

const logging2 = `status=error
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} [%t] %-5p %c{1} - %m%n
`

// brokerConfig holds the values of a broker's configuration.
type brokerConfig struct {
	system.Settings
	level     workload.Level
	brokers   int
	zooKeeper string // its address
	token     string // of the brokers towards each other; empty: none
	keyStore  string // the password of the key stores; empty: not encrypted
	login     system.Credentials
}

// xml is the configuration file of a broker, which holds the secrets.
func (c brokerConfig) xml(n *driver.Node) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`<beans xmlns="http://www.springframework.org/schema/beans"`)
	line(` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="` +
		`http://www.springframework.org/schema/beans ` +
		`http://www.springframework.org/schema/beans/spring-beans.xsd ` +
		`http://activemq.apache.org/schema/core ` +
		`http://activemq.apache.org/schema/core/activemq-core.xsd">`)
	line(`<broker xmlns="http://activemq.apache.org/schema/core" brokerName=%q`, brokerName)
	line(` useJmx="true" schedulerSupport="true" useShutdownHook="true" dataDirectory=%q>`,
		n.Path(dataFolder))
	line(`<managementContext><managementContext createConnector="false"/></managementContext>`)
	line(`<persistenceAdapter>%s</persistenceAdapter>`, c.store(n))
	if c.login.User != "" {
		line(`<plugins><simpleAuthenticationPlugin><users><authenticationUser username=%q`+
			` password=%q groups="admins"/></users></simpleAuthenticationPlugin></plugins>`,
			c.login.User, c.login.Password)
	}
	scheme := "amqp"
	if c.keyStore != "" {
		scheme = "amqp+ssl"
		line(`<sslContext><sslContext keyStore="file:%s" keyStoreType="PKCS12"`+
			` keyStorePassword=%q/></sslContext>`, n.Path(keyStoreFile), c.keyStore)
	}
	// The disk limits are the distribution's defaults: a full disk refuses messages anyway.
	line(`<systemUsage><systemUsage><memoryUsage><memoryUsage percentOfJvmHeap="%d"/>`+
		`</memoryUsage><storeUsage><storeUsage limit="100 gb"/></storeUsage>`+
		`<tempUsage><tempUsage limit="50 gb"/></tempUsage></systemUsage></systemUsage>`,
		c.Count(setMemoryUsage))
	// Without tcpNoDelay an answer waits until the client has acknowledged the packet before it,
	// which takes up to 40 ms.
	line(`<transportConnectors><transportConnector name="amqp"`+
		` uri="%s://%s?maximumConnections=10000&amp;wireFormat.maxFrameSize=104857600`+
		`&amp;transport.tcpNoDelay=true"/>`+
		`</transportConnectors>`, scheme, n.Address)
	line(`</broker>`)
	if c.Text(setStore) == storeKahaDB {
		// ActiveMQ does not show in JMX how its journal syncs, so this exports the store itself.
		line(`<bean class="org.springframework.jmx.export.MBeanExporter">` +
			`<property name="beans"><map><entry key="` + storeBean + `" value-ref="store"/>` +
			`</map></property></bean>`)
		line(`%s`, c.kahaDB(n, ` id="store" xmlns="http://activemq.apache.org/schema/core"`))
	}
	line(`</beans>`)
	return b.String()
}

// store is the persistence adapter of a broker.
func (c brokerConfig) store(n *driver.Node) string {
	if c.Text(setStore) == storeKahaDB {
		return `<ref bean="store" xmlns="http://www.springframework.org/schema/beans"/>`
	}
	token := ""
	if c.token != "" {
		token = fmt.Sprintf(" securityToken=%q", c.token)
	}
	return fmt.Sprintf(`<replicatedLevelDB directory=%q replicas="%d" bind="tcp://%s:0"`+
		` hostname=%q zkAddress=%q zkPath="/activemq/plimsoll" zkSessionTimeout="%d"`+
		` sync=%q%s/>`,
		n.Path(storeFolder), c.brokers, n.Host, n.Host, c.zooKeeper,
		c.Duration(setZKSession).Milliseconds(), syncModes[c.level], token)
}

// kahaDB is the store of a single broker.
func (c brokerConfig) kahaDB(n *driver.Node, attributes string) string {
	strategy := c.Text(setSyncStrategy)
	if c.level.Synced() {
		strategy = syncAlways
	}
	return fmt.Sprintf(`<kahaDB%s directory=%q journalDiskSyncStrategy=%q`+
		` journalDiskSyncInterval="%d" concurrentStoreAndDispatchQueues="%t"/>`,
		attributes, n.Path(storeFolder), strategy,
		max(c.Duration(setSyncInterval).Milliseconds(), 1), c.Bool(setStoreDispatch))
}

// jolokia is the configuration of the agent that serves JMX over HTTP. Address and path are those
// of ActiveMQ's web console.
func (c brokerConfig) jolokia(n *driver.Node) string {
	var p driver.Properties
	p.Set("host", n.Host)
	p.Set("port", jolokiaPort)
	p.Set("agentContext", jolokiaPath)
	p.Set("discoveryEnabled", false)
	if c.login.User != "" {
		p.Set("user", c.login.User)
		p.Set("password", c.login.Password)
	}
	if c.keyStore != "" {
		p.Set("protocol", "https")
		p.Set("keystore", n.Path(keyStoreFile))
		p.Set("keyStoreType", "PKCS12")
		p.Set("keystorePassword", c.keyStore)
	}
	return p.String()
}
