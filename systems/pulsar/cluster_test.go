package pulsar

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestProvisionedCluster(t *testing.T) {
	systemtest.NeedJava(t)
	systemtest.Ahead(unsyncedServers, syncedServers)
	c := sharedCluster(t)
	systemtest.RunsOnLoopback(t, c, 7, 3)
	if len(c.Endpoints()) != 3 || c.TLS() != nil || c.CAFile() != "" {
		t.Errorf("endpoints %v, authority %q", c.Endpoints(), c.CAFile())
	}
	for _, n := range c.Nodes() {
		t.Logf("%s takes %s", n.Name, resident(n.PID))
	}
}

func TestTieredCluster(t *testing.T) {
	c := syncedCluster(t)
	brokers, bookies := ofKind(c, brokerNames), ofKind(c, bookieNames)
	if len(brokers) != 2 || len(bookies) != 4 || c.TLS() == nil {
		t.Errorf("nodes %v", c.Nodes())
	}
	for _, broker := range brokers {
		for _, bookie := range bookies {
			if broker.Host == bookie.Host {
				t.Errorf("%s and %s share %s", broker.Name, bookie.Name, broker.Host)
			}
		}
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
	trusting := &tls.Config{RootCAs: roots}
	for _, n := range brokers {
		for _, port := range []string{"6651", "8443"} {
			conn, err := tls.Dial("tcp", net.JoinHostPort(n.Host, port), trusting)
			if err != nil {
				t.Errorf("%s, port %s: %v", n.Name, port, err)
				continue
			}
			conn.Close()
		}
		for _, port := range []string{"6650", "8080"} {
			if conn, err := net.Dial("tcp", net.JoinHostPort(n.Host, port)); err == nil {
				conn.Close()
				t.Errorf("%s listens on port %s without TLS", n.Name, port)
			}
		}
	}
}

// resident returns a process's resident memory in the kernel's notation.
func resident(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// Every server listens only on loopback, and on the expected addresses.
func TestEverythingListensOnLoopback(t *testing.T) {
	must := map[string][]int{"zookeeper": {zooKeeperPort}, "bookie": {bookiePort, bookieHTTPPort},
		"broker": {servicePort, webPort}}
	for _, n := range sharedCluster(t).Members() {
		kind, _, _ := strings.Cut(n.Name, "-")
		found := listening(t, n.PID())
		for _, port := range must[kind] {
			address := driver.At(n.Host, port)
			if !slices.Contains(found, address) {
				t.Errorf("%s does not listen on %s but on %v", n.Name, address, found)
			}
		}
	}
	for _, n := range syncedCluster(t).Members() {
		listening(t, n.PID())
	}
}

// listening returns the addresses that a process listens on, and fails the test if one is not
// loopback.
func listening(t *testing.T, pid int) []string {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) == 0 {
		t.Skipf("%s needs to look at process %d, and it cannot", t.Name(), pid)
	}
	mine := map[string]bool{}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil {
			mine[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	var all []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			const local, state, inode, listen = 1, 3, 9, "0A"
			if f := strings.Fields(line); len(f) > inode && f[state] == listen && mine[f[inode]] {
				all = append(all, readAddress(t, f[local]))
			}
		}
	}
	for _, address := range all {
		host, _, _ := net.SplitHostPort(address)
		if ip := net.ParseIP(host); !ip.IsLoopback() {
			t.Errorf("process %d listens on %s", pid, address)
		}
	}
	return all
}

// readAddress reads an address in the kernel's notation: words in the machine's byte order,
// assumed little-endian.
func readAddress(t *testing.T, text string) string {
	t.Helper()
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	number, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil {
		t.Fatalf("%q is no address", text)
	}
	for word := 0; word+4 <= len(raw); word += 4 {
		slices.Reverse(raw[word : word+4])
	}
	return net.JoinHostPort(net.IP(raw).String(), strconv.FormatUint(number, 10))
}

// The brokers require a token at both of their ports, and the secrets are only in files that only
// their owner may read.
func TestSecretsStayInTheirFiles(t *testing.T) {
	c := sharedCluster(t)
	for _, token := range []string{"", signToken(newSecret(new(driver.Cluster)), benchRole)} {
		a := newAdmin(adminOf(c.Endpoints(), auto, false), nil, token)
		err := a.get(soon(t), "/admin/v2/clusters", nil)
		if !driver.HasStatus(err, http.StatusUnauthorized) {
			t.Errorf("with token %q: %v", token, err)
		}
		err = a.get(soon(t), "/admin/v2/tenants", nil)
		if !driver.HasStatus(err, http.StatusUnauthorized) {
			t.Errorf("with token %q: %v", token, err)
		}
		a.close()
	}
	for _, n := range c.Members() {
		systemtest.IsPrivate(t, n.Path(confFile))
		systemtest.IsPrivate(t, n.Path(loggingFile))
	}
	conf := systemtest.IsPrivate(t, ofKind(c, brokerNames)[0].Path(confFile))
	secrets := []string{c.Credentials().Password}
	for line := range strings.Lines(conf) {
		line = strings.TrimSpace(line)
		if key, is := strings.CutPrefix(line, "tokenSecretKey=data:;base64,"); is {
			secrets = append(secrets, key)
			raw, err := base64.StdEncoding.DecodeString(key)
			if err != nil || signToken(raw, benchRole) != c.Credentials().Password {
				t.Errorf("the key in the file is not that of the token: %v", err)
			}
		}
		if token, is := strings.CutPrefix(line, "brokerClientAuthenticationParameters=token:"); is {
			secrets = append(secrets, token)
		}
	}
	if len(secrets) != 3 {
		t.Fatalf("found %d secrets of 3", len(secrets))
	}
	systemtest.KeepsSecrets(t, c.Nodes(), secrets...)
}

// One process gives only the levels that need no second copy.
func TestStandalone(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server, for about 15 s")
	}
	t.Parallel() // with TestConformance, on a server of its own
	servers := provisionWith(t, workload.AsyncSync, setTopology, standalone)
	if len(servers.Nodes()) != 1 {
		t.Errorf("nodes %v", servers.Nodes())
	}
	t.Logf("it takes %s and listens on %v", resident(servers.Nodes()[0].PID),
		listening(t, servers.Nodes()[0].PID))
	c := connect(t, optionsOf(t, servers, workload.AsyncSync, setTopology, standalone))
	topic := systemtest.SendAndReceive(t, c, "alone")
	e, err := c.ReadDurability(soon(t), []system.Topic{topic})
	if err != nil || e.Level != workload.AsyncSync {
		t.Errorf("%+v, %v", e, err)
	}
	for _, f := range e.Facts {
		t.Logf("%s: %s = %s (%s)", f.Where, f.Name, f.Value, f.Source)
	}
	other := connect(t, optionsOf(t, servers, workload.AsyncAsync, setTopology, standalone))
	topic = systemtest.Topic(t, other, "alone-unsynced", 1)
	if _, err := other.ReadDurability(soon(t), []system.Topic{topic}); err == nil ||
		!strings.Contains(err.Error(), "journalSyncData=false") {
		t.Errorf("level 4 of a server that syncs: %v", err)
	}
}

// When a server cannot run, the error comes at once and quotes its own message, and nothing is
// left behind.
func TestServerThatCannotStart(t *testing.T) {
	fetched(t)
	began := time.Now()
	err := systemtest.FailedStart(t, pulsarSystem{}, time.Minute, setZooKeeperHeap, "100TB")
	text := err.Error()
	mentions := strings.Contains(text, "server zookeeper") && strings.Contains(text, "heap")
	if !mentions || strings.Contains(text, "\n") {
		t.Errorf("%q is not a sentence with Java's own words", text)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("said after %s", took)
	}
}

func TestProvisionEndsWhenItIsToldTo(t *testing.T) {
	fetched(t)
	systemtest.StartEndsWhenToldTo(t, pulsarSystem{})
}

// fetched downloads the distribution, which may take long.
func fetched(t *testing.T) {
	t.Helper()
	systemtest.NeedJava(t)
	if _, err := driver.FetchJava(t.Context(), Distribution, nil); err != nil {
		t.Fatal(err)
	}
}

func TestShippedConfiguration(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "conf"), 0o755); err != nil {
		t.Fatal(err)
	}
	// Keys twice, spaces, comments, and no line end at the end.
	shipped := "# comment=1\nb=1\n a = x=y \nb=2\nunset=\nempty="
	if err := os.WriteFile(filepath.Join(dir, "conf", "x.conf"), []byte(shipped),
		0o644); err != nil {
		t.Fatal(err)
	}
	p, err := shippedConf(dir, "x.conf")
	if err != nil {
		t.Fatal(err)
	}
	p.Set("empty", 3)
	p.Set("new", true)
	if got, want := p.String(), "b=2\na=x=y\nempty=3\nnew=true\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
