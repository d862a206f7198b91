package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// adminOf returns a client of a test cluster that does not go through the driver.
func adminOf(t testing.TB, c *driver.Cluster) *kadm.Client {
	return adminWith(t, clientOptions(c, mechanismPlain)...)
}

func adminWith(t testing.TB, o ...kgo.Opt) *kadm.Client {
	t.Helper()
	client, err := kgo.NewClient(o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client)
}

// configOfServer reads settings of a running server.
func configOfServer(t testing.TB, admin *kadm.Client, names ...string) map[string]string {
	t.Helper()
	all, err := admin.DescribeBrokerConfigs(within(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range all[0].Configs {
		for _, name := range names {
			if c.Key == name && c.Value != nil {
				got[name] = *c.Value
			}
		}
	}
	return got
}

func TestProvisionedCluster(t *testing.T) {
	c := sharedCluster(t)
	systemtest.RunsOnLoopback(t, c, 3, 3)
	if len(c.Endpoints()) != 3 || c.TLS() != nil || c.CAFile() != "" {
		t.Errorf("endpoints %v, authority %q", c.Endpoints(), c.CAFile())
	}
	brokers, err := adminOf(t, c).ListBrokers(within(t))
	if err != nil || len(brokers) != 3 {
		t.Errorf("brokers %v: %v", brokers, err)
	}
}

// All listeners require a password and refuse a wrong one. The right password is only in a file
// that only its owner may read.
func TestSecretsStayInTheirFile(t *testing.T) {
	c := sharedCluster(t)
	reach := []kgo.Opt{kgo.SeedBrokers(c.Endpoints()...), kgo.RequestRetries(1)}
	for _, o := range [][]kgo.Opt{
		reach,
		append(reach, kgo.SASL(plain.Auth{User: benchUser, Pass: "wrong"}.AsMechanism())),
	} {
		ctx, cancel := context.WithTimeout(within(t), 5*time.Second)
		_, err := adminWith(t, o...).ListBrokers(ctx)
		cancel()
		if err == nil {
			t.Error("a server answers without the password")
		}
	}
	password := c.Credentials().Password
	systemtest.KeepsSecrets(t, c.Nodes(), password)
	for _, n := range c.Members() {
		if !strings.Contains(systemtest.IsPrivate(t, n.Path(propertiesFile)), password) {
			t.Errorf("%s: the password is not where this test looks", n.Name)
		}
	}
}

func TestLevelShapesTheServers(t *testing.T) {
	const minimum, flush, replication = "min.insync.replicas", "log.flush.interval.messages",
		"default.replication.factor"
	got := configOfServer(t, adminOf(t, sharedCluster(t)), minimum, flush, replication)
	if got[minimum] != "2" || got[flush] != never || got[replication] != "3" {
		t.Errorf("level 2: %v", got)
	}
	got = configOfServer(t, adminOf(t, securedCluster(t)), minimum, flush, replication)
	if got[minimum] != "1" || got[flush] != "1" || got[replication] != "3" {
		t.Errorf("level 3: %v", got)
	}
}

func TestEncryptedCluster(t *testing.T) {
	c := securedCluster(t)
	if brokers, err := adminOf(t, c).ListBrokers(within(t)); err != nil || len(brokers) != 3 {
		t.Errorf("brokers %v: %v", brokers, err)
	}
	bySCRAM := adminWith(t, clientOptions(c, mechanismSCRAM512)...)
	if brokers, err := bySCRAM.ListBrokers(within(t)); err != nil || len(brokers) != 3 {
		t.Errorf("by SCRAM: brokers %v: %v", brokers, err)
	}
	// Other clients verify the servers with this file.
	pem, err := os.ReadFile(c.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the file holds no certificate")
	}
	for _, n := range c.Members() {
		conn, err := tls.Dial("tcp", n.Address, &tls.Config{RootCAs: roots})
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
			continue
		}
		conn.Close()
		systemtest.IsPrivate(t, n.Path(driver.KeyStoreFile))
	}
	_, err = tls.Dial("tcp", c.Endpoints()[0], &tls.Config{RootCAs: x509.NewCertPool()})
	if err == nil {
		t.Error("who does not know the authority trusts its server")
	}
}

// When a server cannot run, the error quotes its own message before the start's time is over, and
// nothing is left behind.
func TestServerThatCannotStart(t *testing.T) {
	systemtest.NeedJava(t)
	err := systemtest.FailedStart(t, kafkaSystem{}, time.Minute, setHeap, "100TB")
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("it was waited for to the end")
	}
	text := err.Error()
	mentions := strings.Contains(text, "server n") && strings.Contains(text, "heap")
	if !mentions || strings.Contains(text, "\n") {
		t.Errorf("%q is not a sentence with Java's own words", text)
	}
}

// A race is recognised and retried: another process takes an address after it was found free and
// before the server listens.
func TestTakenAddress(t *testing.T) {
	systemtest.NeedJava(t)
	folder := t.TempDir()
	p := system.Provision{
		Nodes: 3, DataDir: folder, LogDir: folder,
		Durability: workload.SyncAsync, Settings: systemtest.Settings(t, kafkaSystem{}),
	}
	s, err := newStarter(within(t), p)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := process.Addresses(p.Nodes, clientPort, quorumPort)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", addresses[1][1]) // the one that a server listens on first
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	build := func(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
		return c, s.buildAt(ctx, c, addresses)
	}
	_, err = servers.Start(within(t), p, build)
	if !errors.Is(err, driver.ErrAddressTaken) || !strings.Contains(err.Error(), "server n2") {
		t.Errorf("got %v", err)
	}
}

func TestProvisionEndsWhenItIsToldTo(t *testing.T) {
	systemtest.NeedJava(t)
	systemtest.StartEndsWhenToldTo(t, kafkaSystem{})
}
