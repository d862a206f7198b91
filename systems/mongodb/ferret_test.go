package mongodb

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// ferret starts FerretDB, with more arguments, and returns its address.
func ferret(t *testing.T, arguments ...string) string {
	t.Helper()
	path, err := exec.LookPath("ferretdb")
	if err != nil {
		t.Skipf("%s needs ferretdb 1.24 on the PATH: %v", t.Name(), err)
	}
	addresses, err := process.Addresses(1, clientPort)
	if err != nil {
		t.Fatal(err)
	}
	dir, address := t.TempDir(), addresses[0][0]
	s, err := process.Start(process.Spec{
		Name: "ferretdb", Path: path, Dir: dir, Log: filepath.Join(dir, "log"),
		Env: []string{"FERRETDB_TELEMETRY=disable"},
		Args: append([]string{"--handler=sqlite", "--sqlite-url=file:" + dir + "/",
			"--listen-addr=" + address, "--debug-addr=-", "--state-dir=" + dir}, arguments...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
	})
	err = driver.Until(t.Context(), 20*time.Millisecond, func() (bool, error) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err != nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// FerretDB 1.24 hands a document to several consumers, and each delivery is counted.
func TestFerretDBDeliversTwice(t *testing.T) {
	c := connect(t, system.Options{
		Endpoints: []string{ferret(t)}, Settings: systemtest.Settings(t, mongoSystem{}),
		Durability: workload.AsyncAsync,
	})
	if c.server.kind != kindFerret {
		t.Errorf("it is %s", c.server)
	}
	topic, got := systemtest.Topic(t, c, "twice", 1), systemtest.NewInbox()
	for i := range 4 {
		systemtest.Consumer(t, c, topic, i, workload.AtLeastOnce, got)
	}
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	var names []string
	for i := range 100 {
		m := systemtest.NewTestMessage(fmt.Sprint(i))
		p.Send(&m.Message)
		if err := m.Await(t); err != nil {
			t.Fatal(err)
		}
		names = append(names, string(m.Payload))
	}
	got.AwaitAll(t, names...)
	copies := len(got.Contents()) - len(names)
	t.Logf("%d further copies of %d messages", copies, len(names))
	if copies == 0 {
		t.Error("no message came twice: this FerretDB is another one than the docs describe")
	}
}

// FerretDB, with its experimental login, is the only available server with SCRAM.
func TestLogin(t *testing.T) {
	o := system.Options{
		Endpoints: []string{ferret(t, "--test-enable-new-auth", "--setup-username=me",
			"--setup-password=secret", "--setup-database=ferretdb")},
		Settings:    systemtest.Settings(t, mongoSystem{}, setAuthSource, "ferretdb"),
		Durability:  workload.AsyncAsync,
		Credentials: system.Credentials{User: "me", Password: "secret"},
	}
	systemtest.SendAndReceive(t, connect(t, o), "login")
	o.Credentials.Password = "wrong"
	began, err := systemtest.TryConnect(t, mongoSystem{}, o)
	systemtest.Refused(t, began, err, "refuses the user or password", setAuthSource)
	o.Credentials.Password = "secret"
	o.Settings = systemtest.Settings(t, mongoSystem{}, setAuthSource, "nowhere")
	began, err = systemtest.TryConnect(t, mongoSystem{}, o)
	systemtest.Refused(t, began, err, "refuses the user or password", setAuthSource)
	o.Credentials = system.Credentials{}
	began, err = systemtest.TryConnect(t, mongoSystem{}, o)
	systemtest.Refused(t, began, err, "give the target credentials")
}
