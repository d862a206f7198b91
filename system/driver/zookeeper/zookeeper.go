package zookeeper

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	// Name is the usual name of the server's node.
	Name = "zookeeper"
	// Port is the usual port of the server.
	Port = 2181

	version     = "3.9.4"
	serverClass = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
	configFile  = "zoo.cfg"
	dataFolder  = "data"
	// tick is the server's unit of time in milliseconds. Sessions last from 2 to 20 ticks.
	tick = 500
)

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// jars are the server's files. It does not start without the libraries of metrics and compression,
// and needs a binding of slf4j to write a log.
var jars = maven.Artifacts{
	Name: "zookeeper-" + version,
	Coordinates: []string{
		"org.apache.zookeeper:zookeeper:" + version,
		"io.dropwizard.metrics:metrics-core:4.1.12.1",
		"org.xerial.snappy:snappy-java:1.1.10.5",
		"org.slf4j:slf4j-simple:2.0.13",
	},
	Sums: sums,
}

// Fetch downloads the server, unless it is on this machine, and finds a java program to run it.
// progress may be nil.
func Fetch(ctx context.Context, progress func(sentence string)) (driver.Java, error) {
	return driver.FetchJava(ctx, jars, progress)
}

// Launch starts the server at the node's address, as a stage of its own, and returns when
// it answers. java comes from Fetch; heap is in bytes, and 64 MB suffice.
func Launch(
	ctx context.Context, c *driver.Cluster, java driver.Java, n *driver.Node, heap int64,
) error {
	files := map[string]string{configFile: config(n)}
	if err := java.Furnish(c, n, files, dataFolder); err != nil {
		return err
	}
	options := append(java.Options(n, heap), "-XX:+UseSerialGC",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
		"-Dorg.slf4j.simpleLogger.showShortLogName=true")
	err := c.Launch([]*driver.Node{n}, func(n *driver.Node) process.Spec {
		return java.Command(options, serverClass, n.Path(configFile))
	})
	if err != nil {
		return err
	}
	return c.AwaitEach(ctx, []*driver.Node{n}, IsReady)
}

// config returns the content of the server's configuration file.
func config(n *driver.Node) string {
	var p driver.Properties
	p.Set("dataDir", n.Path(dataFolder))
	p.Set("clientPort", n.Port)
	p.Set("clientPortAddress", n.Host)
	p.Set("tickTime", strconv.Itoa(tick))
	p.Set("maxClientCnxns", 0)
	p.Set("4lw.commands.whitelist", "ruok,srvr")
	// Otherwise it would listen on every interface.
	p.Set("admin.enableServer", false)
	return p.String()
}

// IsReady returns nil when the ZooKeeper server at a node's address reports that it is well.
func IsReady(ctx context.Context, n *driver.Node) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", n.Address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	if _, err := conn.Write([]byte("ruok")); err != nil {
		return err
	}
	said, err := io.ReadAll(io.LimitReader(conn, 100))
	if err != nil {
		return err
	}
	if string(said) != "imok" {
		return fmt.Errorf("it says %q", said)
	}
	return nil
}
