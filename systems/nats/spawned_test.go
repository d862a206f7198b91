package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// processes are the settings of servers that are processes.
var processes = []string{setServers, valueProcesses}

// These run beside TestConformance: all wait most of the time.
func TestConformanceOfProcesses(t *testing.T)        { t.Parallel(); conformsAsProcesses(t) }
func TestConformanceOfProcessesBatches(t *testing.T) { t.Parallel(); conformsAsProcesses(t, gathering) }

func conformsAsProcesses(t *testing.T, given ...target.Setting) {
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			c := systemtest.Provision[*spawned](t, New(), level, processes...)
			o := systemtest.OptionsOf(t, New(), c, level)
			o.Settings = settings(t,
				append(given, target.Setting{Name: setServers, Value: valueProcesses})...)
			return o, c.Nodes()
		},
	})
}

// The leader is killed and restarted: another server takes over, and the old leader rejoins as a
// full member, at its address and with its data.
func TestProcessKilledAndBroughtBack(t *testing.T) {
	t.Parallel()
	const each = 50
	s := provisionOnMounts(t)
	c := connect(t, systemtest.OptionsOf(t, New(), s, workload.SyncSync)).(*cluster)
	ctx := within(t, 60*time.Second)
	topic := system.Topic{Name: "back", Partitions: 1}
	if err := c.CreateTopic(ctx, topic); err != nil {
		t.Fatal(err)
	}
	store(t, ctx, c, topic, each)
	leader, err := c.Leader(ctx, topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := s.Nodes()
	victim := before[slices.IndexFunc(before,
		func(n system.Node) bool { return n.Address == leader })]
	if err := s.Restart(victim.Name); err == nil {
		t.Error("a node that runs was started again")
	}
	if err := s.Kill(victim.Name); err != nil {
		t.Fatal(err)
	}
	if err := poll(ctx, func() error {
		next, err := c.Leader(ctx, topic, 0)
		if err == nil && next == leader {
			err = errors.New("the dead server leads")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	store(t, ctx, c, topic, each)
	if err := s.Restart(victim.Name); err != nil {
		t.Fatal(err)
	}
	if err := s.awaitReady(ctx); err != nil {
		t.Errorf("%s is no full member again: %v", victim.Name, err)
	}
	if info, err := c.settleStream(ctx, topic.Name); err != nil || info.State.Msgs != 2*each ||
		len(info.Cluster.Replicas) != 2 {
		t.Errorf("the stream is %+v: %v", info, err)
	}
	for i, n := range s.Nodes() {
		if n.Address != before[i].Address || (n.PID == before[i].PID) == (n.Name == victim.Name) {
			t.Errorf("%+v was %+v", n, before[i])
		}
	}
	for _, err := range []error{s.Kill("n9"), s.Restart("n9")} {
		mustSay(t, err, "no node n9")
	}
}

// provisionOnMounts starts servers at level 1 whose folders exist already, as with a file system
// mounted on each.
func provisionOnMounts(t *testing.T) *spawned {
	t.Helper()
	p := system.Provision{
		Nodes: 3, DataDir: t.TempDir(), LogDir: t.TempDir(), Durability: workload.SyncSync, Settings: systemtest.Settings(t, New(), processes...),
	}
	for i := range p.Nodes {
		if err := os.MkdirAll(filepath.Join(p.DataDir, fmt.Sprintf("n%d", i+1), "lost+found"),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	c, err := natsSystem{}.Provision(within(t, time.Minute), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(within(t, time.Minute)); err != nil {
			t.Error(err)
		}
	})
	return c.(*spawned)
}

// store publishes messages, and retries while a new leader is elected.
func store(t *testing.T, ctx context.Context, c *cluster, topic system.Topic, n int) {
	t.Helper()
	for range n {
		err := poll(ctx, func() error {
			asked, cancel := context.WithTimeout(ctx, askWithin)
			defer cancel()
			_, err := c.js.Publish(asked, ownHome(topic.Name).subject(0), []byte("x"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Only the servers get the passwords.
func TestProcessesKeepTheirSecrets(t *testing.T) {
	s := systemtest.Provision[*spawned](t, New(), workload.SyncAsync, processes...)
	systemtest.RunsOnLoopback(t, s, 3, 3)
	opens := s.Credentials()
	systemtest.KeepsSecrets(t, s.Nodes(), opens.Password, opens.AdminPassword, s.shared.secret)
}

// When a server cannot run, the error quotes its own message. An address that another process took
// is recognised, because only then a new start helps.
func TestProcessThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	p := system.Provision{Nodes: 3, DataDir: dir, LogDir: dir, Durability: workload.SyncAsync,
		Settings: systemtest.Settings(t, New(), processes...)}
	addresses, err := process.Addresses(p.Nodes, clientPort, routePort)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", addresses[1][0])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	build := func(ctx context.Context, c *driver.Cluster) (system.Provisioned, error) {
		return spawning{p, 1 << 30}.buildAt(ctx, c, addresses)
	}
	_, err = servers.Start(within(t, 20*time.Second), p, build)
	if !errors.Is(err, driver.ErrAddressTaken) {
		t.Errorf("got %v", err)
	}
	run := func(config string) error {
		return natsSystem{}.ServeNode(t.Context(), strings.NewReader(config), os.Stdout)
	}
	mustSay(t, run(""), "expects its configuration on stdin", "servers are processes")
	mustSay(t, run("password: geheim }"), "does not accept the configuration")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.DataDir, p.LogDir = t.TempDir(), t.TempDir()
	if _, err := (natsSystem{}).Provision(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled start gave %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.DataDir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
