package firewall

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
)

const (
	memberEnv   = "PLIMSOLL_FIREWALL_MEMBER"
	asNobodyEnv = "PLIMSOLL_FIREWALL_AS_NOBODY"
	port        = 47110
	// silence is how long nothing may arrive before a test counts it as dropped.
	// patience bounds the wait for what must arrive.
	silence  = 400 * time.Millisecond
	patience = 20 * time.Second
)

// TestMain lets the tests start themselves as servers.
func TestMain(m *testing.M) {
	if os.Getenv(asNobodyEnv) != "" {
		if err := Check(); err != nil {
			os.Stdout.WriteString(err.Error())
		}
		os.Exit(0)
	}
	if host := os.Getenv(memberEnv); host != "" {
		serve(host)
	}
	os.Exit(m.Run())
}

// serve runs a server that echoes what it receives. Commands on its standard input make it
// connect to other servers.
func serve(host string) {
	l, err := net.Listen("tcp", address(host))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(conn, conn)
		}
	}()
	fmt.Println("ready")
	talk := newTalker()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(talk.do(lines.Text()))
	}
	os.Exit(0)
}

func address(host string) string { return net.JoinHostPort(host, fmt.Sprint(port)) }

// talker keeps one connection to each host.
type talker struct{ to map[string]net.Conn }

func newTalker() talker { return talker{map[string]net.Conn{}} }

// do sends a byte to a host and answers yes when it comes back. The command dial uses a new
// connection, say the existing one. A question mark after them expects a failure.
func (t talker) do(command string) string {
	how, host, _ := strings.Cut(command, " ")
	limit := patience
	if strings.HasSuffix(how, "?") { // it is expected to fail
		how, limit = strings.TrimSuffix(how, "?"), silence
	}
	if how == "dial" {
		conn, err := net.DialTimeout("tcp", address(host), limit)
		if err != nil {
			return "no"
		}
		t.to[host] = conn
	}
	return echoed(t.to[host], limit)
}

func echoed(conn net.Conn, limit time.Duration) string {
	conn.SetDeadline(time.Now().Add(limit))
	if _, err := conn.Write([]byte("x")); err != nil {
		return "no"
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		return "no"
	}
	return "yes"
}

// member is a server with its own process and group.
type member struct {
	Member
	host string
	in   io.Writer
	out  *bufio.Reader
}

func (m member) do(command, host string) string {
	fmt.Fprintln(m.in, command, host)
	line, _ := m.out.ReadString('\n')
	return strings.TrimSpace(line)
}

// members starts n servers.
func members(t *testing.T, n int) (all []member) {
	t.Helper()
	if err := Check(); err != nil {
		if os.Geteuid() != 0 || errors.Is(err, os.ErrPermission) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	network := fmt.Sprintf("127.%d.%d.", 100+os.Getpid()%100, os.Getpid()/100%250)
	// The groups are unused, and differ between processes that test at the same time.
	first := 2_140_000_000 + os.Getpid()%100_000*8
	for i := range n {
		m := member{host: fmt.Sprint(network, i+1)}
		m.Member = Member{Group: first + i, Hosts: []netip.Addr{netip.MustParseAddr(m.host)}}
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{memberEnv + "=" + m.host}
		credential := &syscall.Credential{Gid: uint32(m.Group)}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); cmd.Wait() })
		m.in, m.out = in, bufio.NewReader(out)
		if line, err := m.out.ReadString('\n'); line != "ready\n" {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

// reach checks which members and clients reach which members, by existing and by new
// connections. want reports whether from must reach to. Members count from 1, and 0 is a
// client.
func reach(
	t *testing.T, when string, all []member, client talker, want func(from, to int) bool,
) {
	t.Helper()
	for from := range len(all) + 1 {
		for to := 1; to <= len(all); to++ {
			for _, how := range []string{"say", "dial"} {
				answer, command := "yes", how
				if !want(from, to) {
					answer, command = "no", how+"?"
				}
				var got string
				if from == 0 {
					got = client.do(command + " " + all[to-1].host)
				} else {
					got = all[from-1].do(command, all[to-1].host)
				}
				if got != answer {
					t.Errorf("%s: %d to %d, %s: %s", when, from, to, how, got)
				}
			}
		}
	}
}

func TestRulesCutOldAndNewConnections(t *testing.T) {
	all, client := members(t, 3), newTalker()
	for _, m := range all {
		for _, from := range all {
			if got := from.do("dial", m.host); got != "yes" {
				t.Fatal("dialling:", got)
			}
		}
		if got := client.do("dial " + m.host); got != "yes" {
			t.Fatal("dialling:", got)
		}
	}
	table := fmt.Sprint("plimsoll-test-", os.Getpid())
	t.Cleanup(func() { Remove(table) })
	everybody := func(int, int) bool { return true }
	reach(t, "before", all, client, everybody)

	sides := [][]Member{{all[0].Member}, {all[1].Member, all[2].Member}}
	if err := Separate(table, sides); err != nil {
		t.Fatal(err)
	}
	apart := func(from, to int) bool { return from == 0 || (from == 1) == (to == 1) }
	reach(t, "1 apart", all, client, apart)

	groups := []int{all[0].Group, all[1].Group, all[2].Group}
	if err := Enclose(table, []Member{all[1].Member}, groups); err != nil {
		t.Fatal(err)
	}
	// These rules replace the others. Dial again, because connections broke meanwhile.
	for _, m := range all {
		for _, from := range all {
			from.do("dial", m.host)
		}
	}
	enclosed := func(from, to int) bool { return from != 0 || to != 2 }
	reach(t, "2 enclosed", all, client, enclosed)

	for range 2 {
		if err := Remove(table); err != nil {
			t.Fatal(err)
		}
	}
	client.do("dial " + all[1].host)
	reach(t, "after", all, client, everybody)
	nft, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	tables, err := nft.ListTables()
	left := func(at *nftables.Table) bool {
		return strings.HasPrefix(at.Name, "plimsoll-check") || at.Name == table
	}
	if err != nil || slices.ContainsFunc(tables, left) {
		t.Errorf("tables %v: %v", tables, err)
	}
}

func TestCheckTellsUsersWithoutRightsInASentence(t *testing.T) {
	program, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	cmd := exec.Command("/proc/self/fd/3")
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{asNobodyEnv + "=yes"}, "/", []*os.File{program}
	if os.Geteuid() == 0 {
		nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
	}
	out, err := cmd.CombinedOutput()
	want := "only root may set up a firewall between nodes: run plimsoll as root"
	if err != nil || string(out) != want {
		t.Errorf("printed %q: %v", out, err)
	}
}
