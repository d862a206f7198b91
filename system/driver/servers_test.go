package driver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Scripts of toy servers. A running one creates the file "ready", and when stopped writes its name
// to the list of stopped servers.
const (
	runs = `trap 'echo "$NAME" >> ../stopped; exit 0' TERM
cat secret > ready
while :; do sleep 0.01; done`
	deaf  = "echo I am busy; while :; do sleep 0.01; done"
	ends  = "echo [ERR] the disk is on fire; echo good bye; exit 3"
	taken = "echo bind: Address already in use; exit 1"
)

// toys describes how the toy servers start, fail and stop.
var toys = Servers{
	StartWithin: 20 * time.Second, StopGrace: 10 * time.Second,
	AskEvery: 5 * time.Millisecond, AskWithin: time.Second,
	LastComplaint: LastLineWith("[ERR]"),
	AddressTaken:  []string{"no room at the inn"},
	Races:         []string{"half started"},
}

func script(n *Node, text string) process.Spec {
	return process.Spec{
		Path: "/bin/sh", Args: []string{"-c", text},
		Env: []string{"PATH=" + os.Getenv("PATH"), "NAME=" + n.Name},
	}
}

func isReady(_ context.Context, n *Node) error {
	_, err := os.Stat(n.Path("ready"))
	return err
}

// building returns a build function of one stage, with a node for each script.
func building(scripts ...string) Build {
	return func(ctx context.Context, c *Cluster) (system.Provisioned, error) {
		byName := map[string]string{}
		for i, name := range Numbered("n", len(scripts)) {
			byName[name] = scripts[i]
			n := c.Add(name, At("127.0.0.1", 7000+i))
			if err := c.Furnish(n, map[string]string{"secret": "geheim"}, "data"); err != nil {
				return nil, err
			}
		}
		command := func(n *Node) process.Spec { return script(n, byName[n.Name]) }
		err := c.Launch(c.Members(), command)
		if err == nil {
			err = c.AwaitEach(ctx, c.Members(), isReady)
		}
		return c, err
	}
}

func provision(t *testing.T) system.Provision {
	dir := t.TempDir()
	return system.Provision{DataDir: filepath.Join(dir, "data"), LogDir: filepath.Join(dir, "logs")}
}

func start(t *testing.T, p system.Provision, build Build) *Cluster {
	t.Helper()
	got, err := toys.Provision(t.Context(), p, build)
	if err != nil {
		t.Fatal(err)
	}
	c := got.(*Cluster)
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func runsNow(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Stages start one after another and stop in reverse order. Clients connect to the last stage. A
// helper is stopped too, but is not a node.
func TestStages(t *testing.T) {
	p := provision(t)
	c := start(t, p, func(ctx context.Context, c *Cluster) (system.Provisioned, error) {
		stages := [][]*Node{
			{c.AddHelper("names")}, {c.Add("keeper", "127.0.0.1:1")},
			{c.Add("a", "127.0.0.1:2"), c.Add("b", "127.0.0.1:3")},
		}
		command := func(n *Node) process.Spec { return script(n, runs) }
		for _, stage := range stages {
			for _, n := range stage {
				if err := c.Furnish(n, map[string]string{"secret": n.Name}); err != nil {
					return nil, err
				}
			}
			if err := c.Launch(stage, command); err != nil {
				return nil, err
			}
			if err := c.AwaitEach(ctx, stage, isReady); err != nil {
				return nil, err
			}
		}
		c.SetCredentials(system.Credentials{User: "me"})
		return c, nil
	})
	if got := c.Endpoints(); !slices.Equal(got, []string{"127.0.0.1:2", "127.0.0.1:3"}) {
		t.Errorf("endpoints %v", got)
	}
	if c.TLS() != nil || c.CAFile() != "" || c.Credentials().User != "me" {
		t.Errorf("TLS %v, authority %q, credentials %v", c.TLS(), c.CAFile(), c.Credentials())
	}
	var names []string
	for _, n := range c.Nodes() {
		names = append(names, n.Name)
		if !runsNow(n.PID) || n.Log != filepath.Join(p.LogDir, n.Name+".log") {
			t.Errorf("%+v", n)
		}
		if _, err := os.Stat(filepath.Join(p.DataDir, n.Name, "ready")); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(names, []string{"keeper", "a", "b"}) {
		t.Errorf("nodes %v", names)
	}
	if err := c.Kill("names"); err == nil {
		t.Error("a helper is no node, and was killed")
	}
	for range 2 {
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(p.DataDir, "stopped"))
	order := strings.Fields(string(raw))
	if err != nil || len(order) != 4 || order[2] != "keeper" || order[3] != "names" {
		t.Errorf("stopped in the order %v: %v", order, err)
	}
}

// A server starts when the previous one is ready.
func TestLaunchInTurn(t *testing.T) {
	c := start(t, provision(t), func(ctx context.Context, c *Cluster) (system.Provisioned, error) {
		stage := []*Node{c.Add("a", "127.0.0.1:1"), c.Add("b", "127.0.0.1:2")}
		for _, n := range stage {
			if err := c.Furnish(n, map[string]string{"secret": n.Name}); err != nil {
				return nil, err
			}
		}
		command := func(n *Node) process.Spec {
			return script(n, "ls ../a > seen; "+runs)
		}
		if err := c.LaunchInTurn(ctx, stage, command, isReady); err != nil {
			return nil, err
		}
		return c, c.AwaitEach(ctx, stage, isReady)
	})
	if len(c.Endpoints()) != 2 {
		t.Errorf("endpoints %v", c.Endpoints())
	}
	seen, err := os.ReadFile(c.Members()[1].Path("seen"))
	if err != nil || !strings.Contains(string(seen), "ready") {
		t.Errorf("b started when a had %q: %v", seen, err)
	}
}

// A node that was killed comes back at its address, with its data, and the other nodes are not
// affected.
func TestKillAndRestart(t *testing.T) {
	c := start(t, provision(t), building(runs, runs))
	before := c.Nodes()
	mark := c.Members()[0].Path("data", "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart("n1"); err == nil {
		t.Error("a node that runs was started again")
	}
	if err := c.Kill("n1"); err != nil || runsNow(before[0].PID) {
		t.Errorf("runs still: %v", err)
	}
	if err := c.Restart("n1"); err != nil {
		t.Fatal(err)
	}
	after := c.Nodes()
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
	again := before[0]
	again.PID = after[0].PID
	if after[0] == before[0] || after[0] != again || after[1] != before[1] {
		t.Errorf("%+v was %+v", after, before)
	}
	for _, err := range []error{c.Kill("n9"), c.Restart("n9")} {
		if err == nil || err.Error() != "there is no node n9" {
			t.Errorf("got %v", err)
		}
	}
}

func TestRun(t *testing.T) {
	p, err := Folders(provision(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{servers: toys, provision: p}
	n := c.Add("n1", "127.0.0.1:1")
	if err := c.Furnish(n, nil); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, text string) error {
		return c.Run(ctx, n, "format n1", script(n, text))
	}
	if err := run(t.Context(), "echo done > formatted"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(n.Path("formatted")); err != nil {
		t.Error(err)
	}
	const why = "format n1: exit status 3: [ERR] the disk is on fire"
	if err := run(t.Context(), ends); err == nil || err.Error() != why {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = run(ctx, deaf)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "n1 was ended") {
		t.Errorf("got %v", err)
	}
}

// Each node of an encrypted cluster presents a certificate for its host, which clients trust, and
// whose key only the owner may read.
func TestEncrypt(t *testing.T) {
	p, err := Folders(provision(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{servers: toys, provision: p}
	if err := c.Encrypt(); err != nil {
		t.Fatal(err)
	}
	for i, name := range Numbered("n", 2) {
		n := c.Add(name, At("127.1.1."+string(rune('1'+i)), 7000))
		if err := c.Furnish(n, map[string]string{"conf": "x"}); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{KeyFile, CertificateFile, KeyStoreFile, CAFile, "conf"} {
			if info, err := os.Stat(n.Path(file)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", file, info, err)
			}
		}
		checkKeyStore(t, n)
		pairs := map[string]string{CertificateFile: KeyFile, KeyStoreFile: KeyStoreFile}
		for certificate, key := range pairs {
			pair, err := tls.LoadX509KeyPair(n.Path(certificate), n.Path(key))
			if err != nil {
				t.Fatal(err)
			}
			trust := x509.VerifyOptions{DNSName: n.Host, Roots: c.TLS().RootCAs}
			if _, err = pair.Leaf.Verify(trust); err != nil {
				t.Errorf("%s: %v", n.Host, err)
			}
		}
	}
	pem, err := os.ReadFile(c.CAFile())
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(pem) {
		t.Errorf("%s: %v", c.CAFile(), err)
	}
}

// checkKeyStore checks that a node's key store has the node's certificate.
func checkKeyStore(t *testing.T, n *Node) {
	t.Helper()
	if err := n.KeyStore("node.p12", "geheim"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(n.Path("node.p12")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	raw, err := os.ReadFile(n.Path("node.p12"))
	if err != nil {
		t.Fatal(err)
	}
	_, certificate, err := pkcs12.Decode(raw, "geheim")
	if err != nil || certificate.VerifyHostname(n.Host) != nil {
		t.Errorf("%v: %v", certificate, err)
	}
	if err := n.KeyStore("none/node.p12", "geheim"); err == nil {
		t.Error("a key store was written into a folder that does not exist")
	}
}

func TestJava(t *testing.T) {
	p, err := Folders(provision(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{servers: toys, provision: p}
	n, java := c.Add("n1", "127.0.0.1:1"), Java{Path: "/bin/java", Classpath: "jars/*"}
	if err := java.Furnish(c, n, map[string]string{"conf": "x"}, "data"); err != nil {
		t.Fatal(err)
	}
	options := java.Options(n, 1<<20)
	for _, want := range []string{
		"-Xms1048576", "-Xmx1048576",
		"-Djava.io.tmpdir=" + n.Path("tmp"), "-Djdk.net.hosts.file=" + n.Path("hosts"),
	} {
		_, path, names := strings.Cut(want, "=")
		if _, err := os.Stat(path); !slices.Contains(options, want) || names && err != nil {
			t.Errorf("%s: %v, %v", want, options, err)
		}
	}
	got := java.Command([]string{"-o"}, "a.Class", "-x").Args
	if !slices.Equal(got, []string{"-o", "-cp", "jars/*", "a.Class", "-x"}) {
		t.Errorf("%v", got)
	}
}

func TestHosts(t *testing.T) {
	hosts, err := new(Cluster).Hosts(3, 47310, 47311)
	if err != nil && strings.Contains(err.Error(), "loopback address of its own") {
		t.Skipf("%s: %v", t.Name(), err)
	}
	if slices.Sort(hosts); err != nil || len(slices.Compact(hosts)) != 3 {
		t.Errorf("%v: %v", hosts, err)
	}
}

// Settings of servers that plimsoll starts do not apply to servers that run already.
func TestServerSettings(t *testing.T) {
	own := ServerSettings([]system.Setting{
		{Name: "heap", Kind: system.Bytes, Default: "1MB", Doc: "how much"},
		{Name: "gc", Kind: system.Text, Doc: "which"},
	})
	if !own[0].Server || !own[1].Server {
		t.Errorf("%+v", own)
	}
	s, err := system.Resolve(own, []target.Setting{{Name: "heap", Value: "2MB"}})
	if err != nil {
		t.Fatal(err)
	}
	bad := AlreadyRunning(s, own)
	if len(bad) != 1 || !strings.Contains(bad.Error(), `setting "heap": shapes servers`) {
		t.Errorf("%v", bad)
	}
}

func TestLastLineWith(t *testing.T) {
	last := LastLineWith(" [FTL] ", " [ERR] ")
	for log, want := range map[string]string{
		"": "", "a\nb\n": "b", "t [INF] a\nt [ERR] b\nt [INF] c\n": "t [ERR] b",
		"t [ERR] a\nt [FTL] b\nc": "t [FTL] b",
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := last(path); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
	if got := last(filepath.Join(t.TempDir(), "nowhere")); got != "" {
		t.Errorf("of no log: %q", got)
	}
}

func TestProperties(t *testing.T) {
	var p Properties
	p.Set("b", 1)
	p.Set("a", "x=y")
	p.Set("b", true)
	if got, want := p.String(), "b=true\na=x=y\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.WriteFile(data, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := FindProgram(filepath.Join(dir, "nothing"), dir, data); got != "" {
		t.Errorf("%s is no program", got)
	}
	if got := FindProgram(data, "/bin/sh"); got != "/bin/sh" {
		t.Errorf("got %q", got)
	}
}
