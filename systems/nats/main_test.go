package nats

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// serveEnv makes the test program serve a cluster at the given level, so that a benchmark can
// measure the driver without the servers.
const serveEnv = "PLIMSOLL_NATS_SERVE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == NodeCommand {
		if err := serveNode(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if level := os.Getenv(serveEnv); level != "" {
		if err := serve(level); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// serveNode does what the plimsoll program does for NodeCommand.
func serveNode() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return natsSystem{}.ServeNode(ctx, os.Stdin, os.Stdout)
}

// served holds the address and credentials of a cluster in another process.
type served struct {
	Endpoints   []string
	Credentials system.Credentials
}

// serve runs a cluster until its standard input ends.
func serve(level string) error {
	n, err := strconv.Atoi(level)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "plimsoll-nats-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := system.Resolve(declared, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	p, err := natsSystem{}.Provision(ctx, system.Provision{
		Nodes: 3, DataDir: dir, LogDir: dir, Durability: workload.Level(n), Settings: s,
	})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(
		served{p.Endpoints(), p.Credentials()}); err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin)
	return p.Stop(ctx)
}

// serveApart starts a cluster in another process for the time of the test.
func serveApart(t testing.TB, level workload.Level) system.Options {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+strconv.Itoa(int(level)))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	var s served
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&s); err != nil {
		t.Fatal(err)
	}
	return system.Options{Endpoints: s.Endpoints, Credentials: s.Credentials, Settings: settings(t),
		Durability: level}
}
