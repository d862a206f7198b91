package fault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/process"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	serverEnv = "PLIMSOLL_FAULT_SERVER" // the address of a server to be
	ownerEnv  = "PLIMSOLL_FAULT_OWNER"  // the base of a testbed to own
	faultEnv  = "PLIMSOLL_FAULT_KIND"   // what to break in it
	// silence is how long a server must not answer for it to count as cut off,
	// and patience how long an answer may take.
	silence  = 300 * time.Millisecond
	patience = 20 * time.Second
	toyPort  = 47120
	file     = "log"
)

// TestMain lets the tests start themselves as servers, and as an owner of some.
func TestMain(m *testing.M) {
	if address := os.Getenv(serverEnv); address != "" {
		serve(address)
	}
	if base := os.Getenv(ownerEnv); base != "" {
		own(base, workload.FaultKind(os.Getenv(faultEnv)))
	}
	os.Exit(m.Run())
}

// serve is a server that keeps lines in a file of its folder: put writes one,
// sync writes one and waits for the disk, get tells all; ask has it ask another
// server, and keep has it ask by a connection that it keeps.
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

// keeper is a server's one connection to another.
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
	said, err := bufio.NewReader(k.conn).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(said)
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

// ask is what a server answers; nothing when it does not within the limit.
func ask(address, line string, limit time.Duration) string {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		conn, err := net.DialTimeout("tcp", address, time.Until(end))
		if err != nil {
			continue // it may be starting
		}
		conn.SetDeadline(end)
		fmt.Fprintln(conn, line)
		said, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if err == nil {
			return strings.TrimSpace(said)
		}
	}
	return ""
}

// toys is a system of such servers.
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
			return process.Spec{Path: os.Args[0], Env: []string{serverEnv + "=" + n.Address}}
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

// optionsOf are those of a testbed of three, prepared for the faults.
func optionsOf(base string, faults ...workload.Fault) testbed.Options {
	return testbed.Options{
		Base: base, Provisioner: toys{}, Prepare: Prepare(faults),
		Provision: system.Provision{Nodes: 3, LogDir: base},
	}
}

// own breaks a testbed and waits to be killed.
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
