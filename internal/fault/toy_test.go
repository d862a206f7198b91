package fault

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	serverEnv = "PLIMSOLL_FAULT_SERVER" // the address to serve at
	ownerEnv  = "PLIMSOLL_FAULT_OWNER"  // the base directory of a testbed to own
	faultEnv  = "PLIMSOLL_FAULT_KIND"   // the fault to inject into it
	// silence is how long a server must not answer before a test counts it as cut off.
	// patience bounds the wait for an answer.
	silence  = 300 * time.Millisecond
	patience = 20 * time.Second
	toyPort  = 47120
	file     = "log"
)

// TestMain lets the tests start themselves as servers, and as the owner of a testbed.
func TestMain(m *testing.M) {
	if address := os.Getenv(serverEnv); address != "" {
		serve(address)
	}
	if base := os.Getenv(ownerEnv); base != "" {
		own(base, workload.FaultKind(os.Getenv(faultEnv)))
	}
	os.Exit(m.Run())
}

// serve runs a server that keeps lines in a file of its folder. It knows five commands: put
// writes a line, sync writes a line and syncs the file, get returns all lines, ask sends a
// get to another server, and keep does so by one connection that it keeps.
func serve(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var kept keeper
	for {
		conn, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		go func() {
			defer conn.Close()
			lines := bufio.NewScanner(conn)
			for lines.Scan() {
				fmt.Fprintln(conn, answer(log, &kept, lines.Text()))
			}
		}()
	}
}

// keeper holds a server's one connection to another server.
type keeper struct {
	mu   sync.Mutex
	conn net.Conn
}

func (k *keeper) ask(address string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil {
		conn, err := net.DialTimeout("tcp", address, silence)
		if err != nil {
			return err.Error()
		}
		k.conn = conn
	}
	k.conn.SetDeadline(time.Now().Add(silence))
	fmt.Fprintln(k.conn, "get")
	line, err := bufio.NewReader(k.conn).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line)
}

func answer(log *os.File, kept *keeper, line string) string {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "keep":
		return kept.ask(rest)
	case "ask":
		return ask(rest, "get", silence)
	case "get":
		raw, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		return "has " + strings.ReplaceAll(string(raw), "\n", " ")
	}
	if _, err := fmt.Fprintln(log, rest); err != nil {
		return err.Error()
	}
	if verb == "sync" {
		if err := log.Sync(); err != nil {
			return err.Error()
		}
	}
	return "done"
}

// ask returns a server's answer to a line, or "" without an answer within the limit.
func ask(address, line string, limit time.Duration) string {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		conn, err := net.DialTimeout("tcp", address, time.Until(end))
		if err != nil {
			continue // the server may be starting
		}
		conn.SetDeadline(end)
		fmt.Fprintln(conn, line)
		reply, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if err == nil {
			return strings.TrimSpace(reply)
		}
	}
	return ""
}

// toys is a system of these servers. With none its servers are no processes.
type toys struct{ none bool }

func (s toys) NodeNames(p system.Provision) (all []string) {
	if s.none {
		return nil
	}
	for i := range p.Nodes {
		all = append(all, "n"+strconv.Itoa(i+1))
	}
	return all
}

func (s toys) Provision(_ context.Context, p system.Provision) (system.Provisioned, error) {
	addresses, err := process.Addresses(p.Nodes, toyPort)
	if err != nil {
		return nil, err
	}
	c := &toyCluster{}
	for i, name := range s.NodeNames(p) {
		dir := filepath.Join(p.DataDir, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		server, err := process.Start(process.Spec{
			Name: name, Path: os.Args[0], Dir: dir, Log: filepath.Join(p.LogDir, name+".log"),
			Env: []string{serverEnv + "=" + addresses[i][0]}, Group: p.Groups[name],
		})
		if err != nil {
			return nil, err
		}
		c.names, c.servers = append(c.names, name), append(c.servers, server)
		c.addresses = append(c.addresses, addresses[i][0])
	}
	for _, a := range c.addresses {
		if ask(a, "get", patience) == "" {
			return nil, fmt.Errorf("no answer from %s", a)
		}
	}
	return c, nil
}

type toyCluster struct {
	names, addresses []string
	servers          []*process.Server
}

func (c *toyCluster) Endpoints() []string             { return c.addresses }
func (c *toyCluster) Credentials() system.Credentials { return system.Credentials{} }

func (c *toyCluster) Nodes() (all []system.Node) {
	for i, name := range c.names {
		all = append(all, system.Node{Name: name, Address: c.addresses[i], PID: c.servers[i].PID()})
	}
	return all
}

func (c *toyCluster) Stop(ctx context.Context) error {
	for _, s := range c.servers {
		if err := s.Stop(ctx, patience); err != nil {
			return err
		}
	}
	return nil
}

func (c *toyCluster) server(name string) *process.Server {
	for i, n := range c.names {
		if n == name {
			return c.servers[i]
		}
	}
	panic(name)
}

func (c *toyCluster) Kill(name string) error    { return c.server(name).Kill() }
func (c *toyCluster) Restart(name string) error { return c.server(name).Restart() }

// optionsOf returns the options of a testbed of three toys that is prepared for the faults.
func optionsOf(base string, faults ...workload.Fault) testbed.Options {
	return testbed.Options{
		Base: base, Provisioner: toys{}, Prepare: Prepare(faults),
		Provision: system.Provision{Nodes: 3, LogDir: base},
	}
}

// own injects a fault into a testbed and waits to be killed.
func own(base string, kind workload.FaultKind) {
	f := workload.Fault{Do: kind, Target: workload.TargetOne}
	bed, err := testbed.Up(context.Background(), optionsOf(base, f))
	if err == nil {
		_, err = New(bed, 1).Inject(context.Background(), f, "")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("broken")
	select {}
}
