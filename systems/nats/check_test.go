package nats

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Check finds all errors of a request at once, before anything starts.
func TestCheck(t *testing.T) {
	systemtest.Checks(t, natsSystem{}, []systemtest.Checked{
		{Level: workload.SyncSync, Nodes: 3},
		{Level: workload.SyncSync},
		{Level: workload.SyncSync, Nodes: 3, Given: []string{setMaxPayload, "1MB"}},
		{Level: workload.SyncSync, Given: []string{setMaxPayload, "1MB"},
			Exactly: `t.yaml:3:5: setting "max_payload": shapes servers that plimsoll starts, and these run already: remove it, or remove the endpoints`},
		{Level: workload.SyncSync, Nodes: 1,
			Given: []string{setPullExpires, "100ms", setAckWait, "0s", setStorage, valueMemory},
			Exactly: `setting "num_replicas": the testbed has 1 node, and durability level 1 needs 3 copies of each message (num_replicas): add servers, or ask for --durability 3 or 4, for which a single copy suffices` + "\n" +
				`t.yaml:3:5: setting "pull_expires": must be at least twice pull_heartbeat, which is 500ms` + "\n" +
				`t.yaml:3:5: setting "ack_wait": must be above 0` + "\n" +
				`t.yaml:3:5: setting "storage": durability level 1 syncs to disk, which memory does not: use file, or level 2`},
		{Level: workload.AsyncAsync, Nodes: 3,
			Given: []string{setReplicas, "6", setRetention, valueInterest},
			Exactly: `t.yaml:3:5: setting "num_replicas": must be from 1 to 5` + "\n" +
				`t.yaml:3:5: setting "retention": durability level 4 copies through mirrors, which do not follow the deletions of interest: use limits` + "\n" +
				`t.yaml:3:5: setting "num_replicas": the testbed has 3 nodes, and num_replicas asks for 6 copies of each message: add servers, or write num_replicas: 3`},
	})
}

func TestSettingsThatApply(t *testing.T) {
	s := settings(t)
	has := func(all []target.Setting) bool {
		return slices.ContainsFunc(all,
			func(one target.Setting) bool { return one.Name == setSyncInterval })
	}
	started := s.Applying(false, workload.SyncAsync)
	external := s.Applying(true, workload.SyncAsync)
	if len(started) != len(declared) || len(external) != len(started)-len(serverSettings) {
		t.Errorf("%d settings apply to servers that are started, %d to others, of %d", len(started),
			len(external), len(declared))
	}
	if has(external) {
		t.Error("sync_interval applies to servers that run already")
	}
	for level, want := range map[workload.Level]bool{workload.SyncSync: false,
		workload.SyncAsync: true, workload.AsyncSync: false, workload.AsyncAsync: true} {
		if got := has(s.Applying(false, level)); got != want {
			t.Errorf("level %d: sync_interval applies: %t, want %t", level, got, want)
		}
	}
}

// TestDeniedTheSystemSubjects queries servers that give a user no answer at all about themselves.
func TestDeniedTheSystemSubjects(t *testing.T) {
	denied := &server.User{Username: "me", Password: "geheim", Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Deny: []string{"$SYS.>"}},
	}}
	one, err := server.NewServer(
		&server.Options{ServerName: "alone", Host: loopback, Port: -1, NoSigs: true, NoLog: true,
			JetStream: true, StoreDir: t.TempDir(), Users: []*server.User{denied}})
	if err != nil {
		t.Fatal(err)
	}
	one.Start()
	defer func() { one.Shutdown(); one.WaitForShutdown() }()
	if !one.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server did not start")
	}
	c := connect(t, system.Options{Endpoints: []string{one.Addr().String()}, Settings: settings(t),
		Durability:  workload.SyncAsync,
		Credentials: system.Credentials{User: "me", Password: "geheim"}})
	v, err := c.ServerVersions(within(t, 20*time.Second))
	if err != nil || len(v) != 1 || !strings.HasPrefix(v[0], "alone ") {
		t.Errorf("versions %v, %v", v, err)
	}
}

// The error of a failed start quotes the logs, because the log files may be deleted before anyone
// reads the error.
func TestAFailedStartQuotesTheLogs(t *testing.T) {
	e := &embedded{}
	for _, name := range []string{"n1", "n2"} {
		l, err := openServerLog(t.TempDir() + "/log")
		if err != nil {
			t.Fatal(err)
		}
		defer l.close()
		e.nodes = append(e.nodes, &node{name: name, log: l})
	}
	e.nodes[0].log.Noticef("hello")
	e.nodes[1].log.Errorf("no route to %s", "n1")
	e.nodes[1].log.Noticef("bye")
	if got, want := e.complaints(), " (n2: no route to n1)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProvisionRefuses(t *testing.T) {
	s := settings(t)
	ctx := within(t, 30*time.Second)
	base := system.Provision{Nodes: 3, DataDir: t.TempDir(), LogDir: t.TempDir(),
		Durability: workload.SyncAsync, Settings: s}
	few := base
	few.Nodes = 1
	_, err := natsSystem{}.Provision(ctx, few)
	mustSay(t, err, "3 copies", "1 node")
	nowhere := base
	nowhere.DataDir = base.DataDir + "/not/there"
	_, err = natsSystem{}.Provision(ctx, nowhere)
	mustSay(t, err, "data directory")
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = natsSystem{}.Provision(done, base)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled start gave %v", err)
	}
}

func TestSafeName(t *testing.T) {
	for _, same := range []string{"a", "A-b_9"} {
		if got := safeName(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"", "a.b", "a b", "a*b", "a>b", "ä", "a/b",
		strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		got := safeName(name)
		if strings.ContainsAny(got, ". */>\\") || got == "" || len(got) > 200 {
			t.Errorf("%q became %q", name, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %q both became %q", name, other, got)
		}
		seen[got] = name
	}
}
