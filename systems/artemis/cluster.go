package artemis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/zookeeper"
	"github.com/plimsoll-bench/plimsoll/system/maven"
	"github.com/plimsoll-bench/plimsoll/system/process"
)

const (
	artemisVersion = "2.44.0"
	clientPort     = 5672
	corePort       = 61616
	serverClass    = "org.apache.activemq.artemis.boot.Artemis"
	zooKeeperHeap  = 64 << 20
	nativeFolder   = "linux-x86_64" // the distribution's libraries for the setting ASYNCIO
)

// servers describes how Artemis's servers start, fail and stop. Two servers on two cores start in
// some seconds, and take ten times as long on a busy machine.
var servers = driver.Servers{
	StartWithin: 4 * time.Minute, StopGrace: 15 * time.Second,
	AskEvery: 50 * time.Millisecond, AskWithin: 5 * time.Second,
	LastComplaint: driver.LastLineWith(" ERROR ", " WARN "),
}

// FindSoftware looks for Java, for Maven if the servers are not downloaded yet, and for libaio
// where the settings ask for it.
func (artemisSystem) FindSoftware(s system.Settings) error {
	err := driver.FindJava(distribution)
	if err == nil && s.Text(setJournalType) == asyncIO {
		err = findAsyncIO()
	}
	return err
}

// findAsyncIO looks for libaio. Without it a server silently uses NIO instead of ASYNCIO.
func findAsyncIO() error {
	for _, folder := range []string{"/lib/*", "/lib*", "/usr/lib*", "/usr/local/lib"} {
		if found, _ := filepath.Glob(folder + "/libaio.so.1"); len(found) > 0 {
			return nil
		}
	}
	return &system.Missing{Software: "libaio, for journal-type " + asyncIO,
		Packages: []string{"libaio1"}}
}

// sums are the checksums of the files that Maven brings; TestPinned writes them with -update.
//
//go:embed jars.sha256
var sums string

// distribution is the server software.
var distribution = maven.Archive{
	Name:        "artemis-" + artemisVersion,
	Coordinates: "org.apache.activemq:apache-artemis:" + artemisVersion + ":tar.gz:bin",
	Sums:        sums,
}

// Fetch downloads the servers, unless they are on this machine already. ZooKeeper is downloaded
// when it is first needed.
func (artemisSystem) Fetch(ctx context.Context, _ system.Settings,
	progress func(sentence string)) error {
	_, err := driver.FetchJava(ctx, distribution, progress)
	return err
}

// NodeNames returns the names of the servers. The first one is the primary, or sends to the
// mirror.
func (artemisSystem) NodeNames(p system.Provision) []string {
	switch replicationOn(p.Settings, p.Durability, p.Nodes) {
	case single:
		return driver.Numbered("n", 1)
	case zooKeeper:
		return append(driver.Numbered("n", 2), zookeeper.Name)
	}
	return driver.Numbered("n", 2)
}

// Provision starts two servers as processes of this machine, and ZooKeeper if it arbitrates. It
// returns when the second server is in sync with the first.
func (artemisSystem) Provision(ctx context.Context, p system.Provision) (
	system.Provisioned, error,
) {
	s := starter{Provision: p, how: replicationOn(p.Settings, p.Durability, p.Nodes)}
	var err error
	if journalType(p.Settings, p.Durability) == asyncIO {
		if err = findAsyncIO(); err != nil {
			return nil, err
		}
	}
	if s.java, err = driver.FetchJava(ctx, distribution, nil); err != nil {
		return nil, err
	}
	s.java.Classpath = filepath.Join(s.java.Dir, "lib", "artemis-boot.jar")
	if s.how == zooKeeper {
		if s.zooKeeper, err = zookeeper.Fetch(ctx, nil); err != nil {
			return nil, err
		}
	}
	return servers.Provision(ctx, p, driver.BuildAt(2, s.buildAt, clientPort, corePort))
}

// starter starts one cluster.
type starter struct {
	system.Provision
	how             string
	java, zooKeeper driver.Java
}

// buildAt starts servers. Each listens for clients and mirrors at its first address, and for the
// other server of a pair at its second.
func (s starter) buildAt(ctx context.Context, c *driver.Cluster, addresses [][]string) error {
	config := serverConfig{
		starter: s, tls: s.Settings.Text(setSecurity) == driver.SecurityTLS,
		clients: []string{addresses[0][0], addresses[1][0]},
		cores:   []string{addresses[0][1], addresses[1][1]},
	}
	if err := c.Secure(s.Settings.Text(setSecurity), benchUser); err != nil {
		return err
	}
	if config.password = c.Credentials().Password; config.password != "" {
		config.peerPassword = c.Secret()
	}
	names := artemisSystem{}.NodeNames(s.Provision)
	nodes := []*driver.Node{c.Add(names[0], addresses[0][0])}
	if s.how != single {
		nodes = append(nodes, c.Add(names[1], addresses[1][0]))
	}
	if s.how == zooKeeper {
		hosts, err := c.Addresses(1, zookeeper.Port)
		if err != nil {
			return err
		}
		config.zooKeeper = hosts[0][0]
		err = zookeeper.Launch(ctx, c, s.zooKeeper, c.Add(names[2], config.zooKeeper),
			zooKeeperHeap)
		if err != nil {
			return err
		}
	}
	for i, n := range nodes {
		err := s.java.Furnish(c, n, config.files(n, i), "data", "log", "lock")
		if err != nil {
			return err
		}
	}
	if err := c.Launch(nodes, s.command); err != nil {
		return err
	}
	return s.await(ctx, c, nodes)
}

func (s starter) command(n *driver.Node) process.Spec {
	options := append(s.java.Options(n, s.Settings.Bytes(setHeap)),
		driver.Collectors[s.Settings.Text(setGC)],
		"--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
		"-Dlog4j2.configurationFile=file:"+n.Path(loggingFile), "-Dlog4j2.disableJmx=true",
		"-Djava.security.auth.login.config="+n.Path(loginFile),
		"-Djava.library.path="+filepath.Join(s.java.Dir, "bin", "lib", nativeFolder),
		"-Dartemis.home="+s.java.Dir, "-Dartemis.instance="+n.Dir,
		"-Dartemis.instance.etc="+n.Dir, "-Ddata.dir="+n.Path("data"),
	)
	return s.java.Command(options, serverClass, "run")
}

// await waits until the first server accepts clients and the second server follows it.
func (s starter) await(ctx context.Context, c *driver.Cluster, nodes []*driver.Node) error {
	o := system.Options{Credentials: c.Credentials(), TLS: c.TLS(), Settings: s.Settings}
	admin := newManagement(dialer(o, nodes[0].Address))
	defer admin.close()
	follows := func(ctx context.Context) error { return admin.isMirrored(ctx) }
	switch s.how {
	case single:
		follows = func(ctx context.Context) error {
			_, err := admin.text(ctx, broker, "Version")
			return err
		}
	case pair, zooKeeper:
		follows = func(ctx context.Context) error {
			inSync := false
			err := admin.attribute(ctx, broker, "ReplicaSync", &inSync)
			if err == nil && !inSync {
				err = errors.New("the backup is not in sync")
			}
			return err
		}
	}
	return c.AwaitEach(ctx, nodes[:1], func(ctx context.Context, _ *driver.Node) error {
		return follows(ctx)
	})
}

// isMirrored returns nil when the server is connected to its mirror.
func (m *management) isMirrored(ctx context.Context) error {
	all, err := m.brokerConnections(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Connected {
			return nil
		}
	}
	return fmt.Errorf("none of %d broker connections is connected", len(all))
}
