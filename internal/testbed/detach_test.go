package testbed

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

const (
	ownEnv    = "PLIMSOLL_TESTBED_OWN"
	detachEnv = "PLIMSOLL_TESTBED_DETACH"
)

// wish is a test's request to the owner that it starts.
type wish struct {
	Fail   string // the start fails with this error
	Hang   bool   // the start ends only with its context
	Locked string // clients use TLS, with the authority of this file
	Whole  bool   // the servers are in-process and cannot be ended one by one
	Warm   string // the warm-up "works", "fails" or "hangs"; empty: there is none
}

// ownByWish runs the owner.
func ownByWish() {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	err := Own(ctx, os.Stdin, func(request []byte) (Order, error) {
		var w wish
		if err := json.Unmarshal(request, &w); err != nil {
			return Order{}, err
		}
		o := Order{
			System: "fake", Provisioner: &wished{wish: w},
			Provision: system.Provision{Nodes: 2, Durability: 3},
			Settings:  []target.Setting{{Name: "linger", Value: "5ms"}},
			Injector:  func(bed *Testbed) system.Injector { return &killer{bed: bed} },
		}
		if w.Warm != "" {
			o.Warm = w.warm
		}
		return o, nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// warm finds a running cluster that is not announced yet.
func (w wish) warm(ctx context.Context, bed *Testbed, progress func(string)) (*result.Warming,
	error) {
	s, err := readState(filepath.Dir(bed.DataDir()))
	if err != nil || s.Phase != PhaseStarting || len(bed.Cluster().Nodes()) != 2 {
		return nil, fmt.Errorf("the testbed is %+v: %w", s, err)
	}
	progress("warming up")
	switch w.Warm {
	case "hangs":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fails":
		return nil, errors.New("warm the servers up: node n1 ended by itself")
	}
	return &result.Warming{Asked: "2s", Ns: 2e9}, nil
}

// detachByWish starts an owner that hangs, so that a test can kill this process meanwhile.
func detachByWish(base string) {
	fmt.Println("detaching")
	_, err := Detach(context.Background(), detached(base, wish{Hang: true}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func detached(base string, w wish) Detached {
	raw, err := json.Marshal(w)
	if err != nil {
		panic(err)
	}
	return Detached{Base: base, Name: "bed", Command: []string{os.Args[0]}, Request: raw}
}

// wished is a cluster of one child process and one file.
type wished struct {
	fake
	wish
	child *exec.Cmd
}

func (w *wished) Fetch(_ context.Context, _ system.Settings, progress func(string)) error {
	progress("fetching a large file")
	return nil
}

func (*wished) NodeNames(system.Provision) []string { return nil }

func (w *wished) Provision(ctx context.Context, p system.Provision) (system.Provisioned, error) {
	segment := filepath.Join(p.DataDir, "segment")
	if err := os.WriteFile(segment, make([]byte, 1<<16), 0o600); err != nil {
		return nil, err
	}
	if w.Hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if w.Fail != "" {
		return nil, errors.New(w.Fail)
	}
	if err := w.Restart("n1"); err != nil {
		return nil, err
	}
	if w.Whole {
		return struct{ system.Provisioned }{w}, nil
	}
	return w, nil
}

func (w *wished) Kill(node string) error {
	if node != "n1" {
		return errors.New("only n1 can be killed")
	}
	_ = w.child.Process.Kill()
	_ = w.child.Wait()
	return nil
}

func (w *wished) Restart(string) error {
	w.child = exec.Command("sleep", "1000")
	return w.child.Start()
}

func (*wished) Upgrade(context.Context, string, string) error {
	return errors.New("there is one version")
}

func (w *wished) Nodes() []system.Node {
	return []system.Node{
		{Name: "n1", Address: "127.0.0.1:1", PID: w.child.Process.Pid},
		{Name: "n2", Address: "127.0.0.1:2", PID: os.Getpid()},
	}
}

func (w *wished) Credentials() system.Credentials {
	return system.Credentials{User: "bench", Password: "geheim"}
}

func (w *wished) TLS() *tls.Config {
	if w.Locked == "" {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

func (w *wished) CAFile() string { return strings.TrimPrefix(w.Locked, "nowhere") }

func (w *wished) Stop(context.Context) error {
	_ = w.child.Process.Kill()
	_ = w.child.Wait()
	return nil
}

// up starts a testbed that ends with the test.
func up(t *testing.T, base string, w wish) State {
	t.Helper()
	t.Setenv(ownEnv, "yes")
	s, err := Detach(within(t), detached(base, w))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if held, _ := isHeld(s.Dir); held {
			_ = syscall.Kill(s.PID, syscall.SIGKILL)
		}
		_ = syscall.Kill(s.Nodes[0].PID, syscall.SIGKILL)
	})
	return s
}

// list returns the testbeds that are up, and the names of the removed ones.
func list(t *testing.T, base string) ([]State, []string) {
	t.Helper()
	all, removed, err := List(within(t), base)
	if err != nil {
		t.Fatal(err)
	}
	return all, removed
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not true within 20 s: " + what)
		}
	}
}

func TestDetachAndDown(t *testing.T) {
	base := filepath.Join(t.TempDir(), "runs")
	if all, removed := list(t, base); len(all)+len(removed) > 0 {
		t.Errorf("an empty base lists %v, %v", all, removed)
	}
	t.Setenv(ownEnv, "yes")
	d := detached(base, wish{})
	var progress []string
	d.Progress = func(sentence string) { progress = append(progress, sentence) }
	s, err := Detach(within(t), d)
	if err != nil {
		t.Fatal(err)
	}
	if len(progress) != 2 || !slices.Contains(progress, "fetching a large file") {
		t.Errorf("progress %q", progress)
	}
	all, _ := list(t, base)
	if len(all) != 1 {
		t.Fatalf("listed %+v", all)
	}
	got := all[0]
	if got.Name != "bed" || got.Phase != PhaseUp || got.PID != s.PID ||
		got.Durability != 3 || len(got.Nodes) != 2 {
		t.Fatalf("listed %+v", all)
	}
	for _, n := range all[0].Nodes {
		if !n.Alive || n.RSSBytes == 0 && residentBytes(os.Getpid()) > 0 {
			t.Errorf("%+v", n)
		}
	}
	checkTarget(t, s)
	var up *IsUpError
	_, err = Detach(within(t), detached(base, wish{}))
	if !errors.As(err, &up) || up.State.PID != s.PID || err.Error() != "bed is up already" {
		t.Errorf("a second testbed of the same name: %v", err)
	}
	e, err := Down(within(t), all[0])
	if err != nil {
		t.Fatal(err)
	}
	if e.FreedBytes < 1<<16 {
		t.Errorf("freed %d bytes", e.FreedBytes)
	}
	if left := rooms(t, base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, pid := range []int{s.PID, s.Nodes[0].PID} {
		eventually(t, fmt.Sprintf("process %d has ended", pid), func() bool {
			return syscall.Kill(pid, 0) != nil
		})
	}
	if _, err := Down(within(t), all[0]); err != nil {
		t.Errorf("down twice: %v", err)
	}
}

// checkTarget checks the target that plimsoll run would read.
func checkTarget(t *testing.T, s State) {
	t.Helper()
	got, _, err := target.Find(s.Target, []string{"fake"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "bed" || len(got.Endpoints) != 1 || len(got.Processes) != 2 ||
		len(got.Settings) != 1 || got.TLS.Enabled {
		t.Errorf("target %+v", got)
	}
	secrets, err := got.Credentials.Resolve(os.LookupEnv)
	if err != nil || secrets.User != "bench" || secrets.Password != "geheim" {
		t.Errorf("credentials: %v", err)
	}
	info, err := os.Stat(got.Credentials.PasswordFile)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password's file: %v %v", info, err)
	}
	for _, name := range []string{targetName, stateName} {
		raw, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil || strings.Contains(string(raw), "geheim") {
			t.Errorf("%s shows the password: %v", name, err)
		}
	}
}

func TestDetachEncryptedCluster(t *testing.T) {
	s := up(t, t.TempDir(), wish{Locked: "/ca.pem"})
	got, _, err := target.Find(s.Target, []string{"fake"})
	if err != nil || got.TLS != (target.TLS{Enabled: true, CAFile: "/ca.pem"}) {
		t.Errorf("%+v: %v", got.TLS, err)
	}
	if _, err := Down(within(t), s); err != nil {
		t.Error(err)
	}
}

func TestDetachLeavesNothingWhenItFails(t *testing.T) {
	base := t.TempDir()
	t.Setenv(ownEnv, "yes")
	nowhere := detached(base, wish{})
	nowhere.Command = []string{filepath.Join(base, "no-such-program")}
	dies := detached(base, wish{})
	dies.Command = []string{"true"}
	crashes := detached(base, wish{})
	crashes.Command = []string{"sh", "-c", "echo >&2; echo panic: no memory >&2; exit 2"}
	for _, c := range []struct {
		d    Detached
		want string
	}{
		{detached(base, wish{Fail: "no java: install it"}), "no java: install it"},
		{detached(base, wish{Locked: "nowhere"}), "gives no file with its authority's certificate"},
		{detached(base, wish{Warm: "fails"}), "warm the servers up: node n1 ended by itself"},
		{nowhere, "no-such-program"},
		{dies, "ended before it was up: start it again"},
		{crashes, "ended before it was up (panic: no memory): start it again"},
	} {
		_, err := Detach(within(t), c.d)
		if !isSentence(err, c.want) {
			t.Errorf("%v is not a sentence with %q", err, c.want)
		}
		if left := rooms(t, base); len(left) > 0 {
			t.Errorf("%q: left behind: %v", c.want, left)
		}
	}
}

// isSentence reports whether an error of one line holds a text.
func isSentence(err error, want string) bool {
	return err != nil && strings.Contains(err.Error(), want) &&
		!strings.Contains(err.Error(), "\n")
}

// An interrupt during the start, or during the warm-up after it, ends the cluster.
func TestInterruptedDetachLeavesNothing(t *testing.T) {
	base := t.TempDir()
	t.Setenv(ownEnv, "yes")
	for at, w := range map[string]wish{"starting": {Hang: true}, "warming": {Warm: "hangs"}} {
		ctx, cancel := context.WithCancel(within(t))
		d := detached(base, w)
		d.Progress = func(sentence string) {
			if strings.HasPrefix(sentence, at) {
				cancel()
			}
		}
		if _, err := Detach(ctx, d); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", at, err)
		}
		if left := rooms(t, base); len(left) > 0 {
			t.Errorf("%s: left behind: %v", at, left)
		}
	}
}

// A cluster is warmed up before it is announced, and its state says how.
func TestDetachWarmsUp(t *testing.T) {
	base := t.TempDir()
	s := up(t, base, wish{Warm: "works"})
	if s.Phase != PhaseUp || s.Warmed == nil || s.Warmed.Ns != 2e9 {
		t.Errorf("%+v", s)
	}
	if _, err := Down(within(t), s); err != nil {
		t.Error(err)
	}
	if s = up(t, base, wish{}); s.Warmed != nil {
		t.Errorf("%+v", s.Warmed)
	}
	if _, err := Down(within(t), s); err != nil {
		t.Error(err)
	}
}

// A process that is killed during Detach leaves nothing either.
func TestOwnerEndsWhenNobodyReleasesIt(t *testing.T) {
	base := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), detachEnv+"="+base)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	eventually(t, "the owner is starting", func() bool {
		all, _, err := List(context.Background(), base)
		return err == nil && len(all) == 1 && all[0].Phase == PhaseStarting
	})
	all, _ := list(t, base)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owner has ended", func() bool {
		return !belongs(all[0].PID, all[0].PID)
	})
	if left := rooms(t, base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestListRemovesWhatAKilledOwnerLeft(t *testing.T) {
	base := t.TempDir()
	s := up(t, base, wish{})
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lock is free", func() bool {
		held, _ := isHeld(s.Dir)
		return !held
	})
	if all, removed := list(t, base); len(all) > 0 || len(removed) != 1 || removed[0] != "bed" {
		t.Errorf("up %v, removed %v", all, removed)
	}
	if left := rooms(t, base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOwnerEndsWithItsDirectory(t *testing.T) {
	base := t.TempDir()
	s := up(t, base, wish{})
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owner has ended", func() bool { return !belongs(s.PID, s.PID) })
	eventually(t, "its server has ended", func() bool {
		return syscall.Kill(s.Nodes[0].PID, 0) != nil
	})
}

func TestListShowsAnEndedServer(t *testing.T) {
	base := t.TempDir()
	s := up(t, base, wish{})
	if err := syscall.Kill(s.Nodes[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is listed as ended", func() bool {
		all, _ := list(t, base)
		return len(all) == 1 && !all[0].Nodes[0].Alive && all[0].Nodes[1].Alive
	})
	if _, err := Down(within(t), s); err != nil {
		t.Error(err)
	}
}

func TestForeignDirectoryIsLeftAlone(t *testing.T) {
	base := t.TempDir()
	mine := filepath.Join(base, rootName, "bed", "mine")
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Detach(within(t), detached(base, wish{}))
	if err == nil || !strings.Contains(err.Error(), "is in the way") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

func TestStateOfAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{
		`{"version": 99}`: "this plimsoll reads version 1", `{"vers`: "is damaged",
	} {
		if err := os.WriteFile(filepath.Join(dir, stateName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readState(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
}

func TestOwnRefusesUsers(t *testing.T) {
	err := Own(within(t), strings.NewReader(""), nil)
	if err == nil || !strings.Contains(err.Error(), "use plimsoll testbed up") {
		t.Errorf("got %v", err)
	}
}
