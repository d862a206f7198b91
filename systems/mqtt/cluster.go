package mqtt

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	hiveVersion   = "2025.5"
	janinoVersion = "3.1.12"
	janinoClass   = "org.codehaus.janino.SimpleCompiler"
	launcherFile  = "Launcher.java"
	launcherClass = "Launcher"
	clientPort    = 1883
	nodeName      = "n1"
	configFile    = "conf/config.xml"
	loggingFile   = "conf/logback.xml"
	keyStoreFile  = "node.p12"
)

// launcher starts HiveMQ. Janino compiles it as it starts, because the jars have no class for that,
// and not every Java has a compiler.
//
//go:embed Launcher.java
var launcher string

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// distribution is the server software.
var distribution = maven.Artifacts{
	Name: "hivemq-ce-" + hiveVersion,
	Coordinates: []string{
		"com.hivemq:hivemq-community-edition-embedded:" + hiveVersion,
		"org.codehaus.janino:janino:" + janinoVersion,
	},
	Sums: sums,
}

// servers describes how HiveMQ starts, fails and stops. It takes seconds to end in good order,
// which data that is deleted afterwards does not need.
var servers = driver.Servers{
	StartWithin: 2 * time.Minute, StopGrace: time.Second,
	AskEvery: 50 * time.Millisecond, AskWithin: 5 * time.Second,
	LastComplaint: driver.LastLineWith(" ERROR ", " WARN ", "Exception"),
}

// FindSoftware looks for Java, and for Maven if the server is not downloaded yet.
func (mqttSystem) FindSoftware(system.Settings) error { return driver.FindJava(distribution) }

// Fetch downloads the server, unless it is on this machine already.
func (mqttSystem) Fetch(ctx context.Context, _ system.Settings,
	progress func(sentence string)) error {
	_, err := driver.FetchJava(ctx, distribution, progress)
	return err
}

// NodeNames returns the name of the only node.
func (mqttSystem) NodeNames(system.Provision) []string { return []string{nodeName} }

// Provision starts HiveMQ as a process of this machine, and returns when it answers.
func (mqttSystem) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	java, err := driver.FetchJava(ctx, distribution, nil)
	if err != nil {
		return nil, err
	}
	return servers.Provision(ctx, p, driver.BuildAt(1, func(ctx context.Context, c *driver.Cluster,
		addresses [][]string) error {
		return start(ctx, c, java, p.Settings, addresses[0][0])
	}, clientPort))
}

// start starts the server of a cluster.
func start(ctx context.Context, c *driver.Cluster, java driver.Java, s system.Settings,
	address string) error {
	n, secret := c.Add(nodeName, address), ""
	if s.Text(setSecurity) == driver.SecurityTLS {
		if err := c.Encrypt(); err != nil {
			return err
		}
		secret = c.Secret()
	}
	err := java.Furnish(c, n, map[string]string{
		configFile: config(n, s, secret), loggingFile: logging, launcherFile: launcher,
	}, "conf", "data", "extensions", "log")
	if err == nil && secret != "" {
		err = n.KeyStore(keyStoreFile, secret)
	}
	if err != nil {
		return err
	}
	options := append(java.Options(n, s.Bytes(setHeap)), "-XX:+UseG1GC",
		"-Dhivemq.home="+n.Dir, "-Duser.home="+n.Dir, "-Djna.tmpdir="+n.Path("tmp"))
	err = c.Launch(c.Members(), func(*driver.Node) process.Spec {
		return java.Command(options, janinoClass, launcherFile, launcherClass)
	})
	if err != nil {
		return err
	}
	return c.AwaitEach(ctx, c.Members(), func(ctx context.Context, n *driver.Node) error {
		k, err := dial(ctx, n.Address, c.TLS(), session{anew: true, keepAlive: time.Minute})
		if err != nil {
			return err
		}
		defer k.leave(false)
		told := appendPublish(nil, plimsollTopic, 1, 1, []byte("HiveMQ CE "+hiveVersion))
		told[0] |= retain
		return k.publish(ctx, told)
	})
}

// config is config.xml. A secret encrypts the connections; it is the key store's password.
func config(n *driver.Node, s system.Settings, secret string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	listener, tls := "tcp-listener", ""
	if secret != "" {
		listener = "tls-tcp-listener"
		tls = fmt.Sprintf("<tls><keystore><path>%s</path><password>%s</password>"+
			"<private-key-password>%[2]s</private-key-password></keystore></tls>",
			n.Path(keyStoreFile), secret)
	}
	line("<hivemq>")
	line("<listeners><%s><port>%s</port><bind-address>%s</bind-address>%s</%[1]s></listeners>",
		listener, n.Port, n.Host, tls)
	line("<mqtt>")
	line("<queued-messages><max-queue-size>%d</max-queue-size></queued-messages>",
		s.Count(setQueueMax))
	line("<receive-maximum><server-receive-maximum>%d</server-receive-maximum></receive-maximum>",
		s.Count(setServerMax))
	line("</mqtt>")
	line("<persistence><mode>%s</mode></persistence>", s.Text(setPersistence))
	line("<anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>")
	line("</hivemq>")
	return b.String()
}

// logging makes the server write its warnings to its output, and when it has started.
const logging = `<configuration>
<appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %level %logger{0} %m%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root>
<logger name="com.hivemq.HiveMQServer" level="INFO"/>
</configuration>
`
