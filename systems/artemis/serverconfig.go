package artemis

import (
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Files of a server's folder.
const (
	bootFile    = "bootstrap.xml"
	brokerFile  = "broker.xml"
	loginFile   = "login.config"
	loggingFile = "log4j2.properties"
	usersFile   = "artemis-users.properties"
	rolesFile   = "artemis-roles.properties"
)

const (
	benchUser = "plimsoll"
	peerUser  = "server" // the user of servers towards each other
	role      = "all"
)

// serverConfig holds the values of the servers' files. Server 0 is the primary, or sends to the
// mirror.
type serverConfig struct {
	starter
	clients, cores         []string // addresses, by server
	zooKeeper              string
	password, peerPassword string // empty: no security
	tls                    bool
}

// files are the configuration files of a server. They hold the secrets.
func (s serverConfig) files(n *driver.Node, i int) map[string]string {
	return map[string]string{
		bootFile: fmt.Sprintf(`<broker xmlns="http://activemq.apache.org/schema">
  <jaas-security domain="activemq"/>
  <server configuration="file:%s"/>
</broker>
`, n.Path(brokerFile)),
		"management.xml": `<management-context xmlns="http://activemq.apache.org/schema"/>` + "\n",
		loginFile: `activemq {
  org.apache.activemq.artemis.spi.core.security.jaas.PropertiesLoginModule required
    org.apache.activemq.jaas.properties.user="` + usersFile + `"
    org.apache.activemq.jaas.properties.role="` + rolesFile + `";
};
`,
		usersFile: benchUser + " = " + s.password + "\n" + peerUser + " = " + s.peerPassword + "\n",
		rolesFile: role + " = " + benchUser + "," + peerUser + "\n",
		// The audit has several lines for each message, and is off in the project's own files.
		loggingFile: `rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
logger.audit.name = org.apache.activemq.audit
logger.audit.level = OFF
logger.curator.name = org.apache.curator
logger.curator.level = WARN
logger.zookeeper.name = org.apache.zookeeper
logger.zookeeper.level = ERROR
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %-5level [%logger{1}] %msg%n
`,
		brokerFile: s.broker(n, i),
	}
}

// broker is broker.xml.
func (s serverConfig) broker(n *driver.Node, i int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">`)
	line("<name>%s</name>", n.Name)
	line("<security-enabled>%t</security-enabled>", s.password != "")
	line("<persistence-enabled>true</persistence-enabled>")
	line("<journal-type>%s</journal-type>", journalType(s.Settings, s.Durability))
	line("<journal-datasync>%t</journal-datasync>", datasync(s.Settings, s.Durability))
	line("<journal-buffer-timeout>%d</journal-buffer-timeout>",
		s.Settings.Duration(setBufferTimeout).Nanoseconds())
	line("<journal-min-files>2</journal-min-files><journal-pool-files>10</journal-pool-files>")
	for _, folder := range []string{"paging", "bindings", "journal", "large-messages"} {
		line("<%s-directory>%s</%[1]s-directory>", folder, n.Path("data", folder))
	}
	// The limit must not depend on the machine's disk, which others use too.
	line("<max-disk-usage>99</max-disk-usage>")
	line(`<acceptors><acceptor name="amqp">tcp://%s?protocols=AMQP%s</acceptor>`, s.clients[i],
		s.acceptorTLS(n))
	line(`<acceptor name="core">tcp://%s?protocols=CORE%s</acceptor></acceptors>`, s.cores[i],
		s.acceptorTLS(n))
	if s.password != "" {
		line("<cluster-user>%s</cluster-user><cluster-password>%s</cluster-password>", peerUser,
			s.peerPassword)
	}
	switch {
	case s.how == single:
	case s.how != mirror:
		s.pair(line, n, i)
	case i == 0:
		s.mirror(line, n)
	}
	line(`<security-settings><security-setting match="#">`)
	for _, right := range []string{"createNonDurableQueue", "deleteNonDurableQueue",
		"createDurableQueue", "deleteDurableQueue", "createAddress", "deleteAddress", "consume",
		"browse", "send", "manage"} {
		line(`<permission type="%s" roles="%s"/>`, right, role)
	}
	line("</security-setting></security-settings>")
	// By default a message is dropped after ten deliveries.
	line(`<address-settings><address-setting match="#">` +
		"<max-delivery-attempts>-1</max-delivery-attempts>" +
		"<auto-create-queues>false</auto-create-queues>" +
		"<auto-create-addresses>false</auto-create-addresses>" +
		"<auto-delete-queues>false</auto-delete-queues>" +
		"<auto-delete-addresses>false</auto-delete-addresses>" +
		"</address-setting></address-settings>")
	line("</core></configuration>")
	return b.String()
}

func (s serverConfig) acceptorTLS(n *driver.Node) string {
	if !s.tls {
		return ""
	}
	return ";sslEnabled=true;keyStoreType=PEM;keyStorePath=" + n.Path(driver.KeyStoreFile)
}

func (s serverConfig) connectorTLS(n *driver.Node) string {
	if !s.tls {
		return ""
	}
	return "sslEnabled=true;trustStoreType=PEMCA;trustStorePath=" + n.Path(driver.CAFile)
}

// pair makes the server a primary or its backup.
func (s serverConfig) pair(line func(string, ...any), n *driver.Node, i int) {
	query := s.connectorTLS(n)
	if query != "" {
		query = "?" + query
	}
	line(`<connectors><connector name="me">tcp://%s%s</connector>`, s.cores[i], query)
	line(`<connector name="peer">tcp://%s%s</connector></connectors>`, s.cores[1-i], query)
	ttl := s.Settings.Duration(setTTL)
	line(`<cluster-connections><cluster-connection name="pair"><connector-ref>me</connector-ref>`+
		"<check-period>%d</check-period><connection-ttl>%d</connection-ttl>"+
		"<message-load-balancing>OFF</message-load-balancing><max-hops>1</max-hops>"+
		"<static-connectors><connector-ref>peer</connector-ref></static-connectors>"+
		"</cluster-connection></cluster-connections>",
		max(ttl/2, time.Second).Milliseconds(), ttl.Milliseconds())
	manager, vote := "", ""
	if s.zooKeeper != "" {
		manager = "<manager><class-name>org.apache.activemq.artemis.lockmanager.zookeeper." +
			"CuratorDistributedLockManager</class-name><properties>" +
			`<property key="connect-string" value="` + s.zooKeeper + `"/>` +
			`<property key="session-ms" value="4000"/>` +
			`<property key="namespace" value="plimsoll"/></properties></manager>`
	}
	line("<ha-policy><replication>")
	if i == 0 {
		if s.zooKeeper == "" {
			vote = "<check-for-active-server>true</check-for-active-server>" +
				"<vote-on-replication-failure>false</vote-on-replication-failure>"
		}
		line("<primary><group-name>plimsoll</group-name>%s%s</primary>", vote, manager)
	} else {
		line("<backup><group-name>plimsoll</group-name><allow-failback>true</allow-failback>"+
			"%s</backup>", manager)
	}
	line("</replication></ha-policy>")
}

// mirror has the server send everything to the other one.
func (s serverConfig) mirror(line func(string, ...any), n *driver.Node) {
	query, user := s.connectorTLS(n), ""
	if query != "" {
		query = "?" + query
	}
	if s.password != "" {
		user = fmt.Sprintf(` user="%s" password="%s"`, peerUser, s.peerPassword)
	}
	line(`<broker-connections><amqp-connection uri="tcp://%s%s" name="%s"%s `+
		`retry-interval="200" reconnect-attempts="-1"><mirror sync="%t"/></amqp-connection>`+
		"</broker-connections>", s.clients[1], query, mirrorName, user, s.Durability.Majority())
}
