package fault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	ossignal "os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
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
	quit     = syscall.SIGINT
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
//
// Like some real servers it does not end at SIGTERM while clients are connected: it ends at
// quit.
func serve(address string) {
	ossignal.Ignore(syscall.SIGTERM)
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

func (s toys) NodeNames(p system.Provision) []string {
	if s.none {
		return nil
	}
	return driver.Numbered("n", p.Nodes)
}

func (s toys) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	servers := driver.Servers{
		StartWithin: patience, StopGrace: patience, AskEvery: 5 * time.Millisecond,
		LastComplaint: driver.LastLineWith(),
	}
	build := func(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
		addresses, err := process.Addresses(p.Nodes, toyPort)
		if err != nil {
			return nil, err
		}
		for i, name := range s.NodeNames(p) {
			if err := c.Furnish(c.Add(name, addresses[i][0]), nil); err != nil {
				return nil, err
			}
		}
		err = c.Launch(c.Members(), func(n *driver.Node) process.Spec {
			return process.Spec{Path: os.Args[0], Quit: quit,
				Env: []string{serverEnv + "=" + n.Address}}
		})
		if err != nil {
			return nil, err
		}
		return c, c.AwaitEach(ctx, c.Members(), func(_ context.Context, n *driver.Node) error {
			if ask(n.Address, "get", silence) == "" {
				return errors.New("no answer")
			}
			return nil
		})
	}
	return servers.Provision(ctx, p, build)
}

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
