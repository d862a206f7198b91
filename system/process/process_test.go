package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const parentEnv = "PLIMSOLL_PROCESS_PARENT"

// TestMain lets the test start itself as a parent that can be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(parentEnv); dir != "" {
		parent(dir)
	}
	goleak.VerifyTestMain(m)
}

// parent starts children from goroutines that end at once, prints their process numbers and
// waits to be killed.
func parent(dir string) {
	var pids []string
	for i := range 3 {
		started := make(chan *Server)
		go func() {
			// The thread ends with the goroutine. A child that this thread had forked
			// would end with it.
			runtime.LockOSThread()
			s, err := Start(sleeper(dir, strconv.Itoa(i)))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			started <- s
		}()
		pids = append(pids, strconv.Itoa((<-started).PID()))
	}
	time.Sleep(200 * time.Millisecond) // for the threads to end
	fmt.Println(strings.Join(pids, " "))
	bufio.NewReader(os.Stdin).ReadString('\n')
}

func sleeper(dir, name string) Spec {
	return shell(dir, name, "exec sleep 1000")
}

// shell returns the spec of a child that runs a script.
func shell(dir, name, script string) Spec {
	return Spec{
		Name: name, Path: "/bin/sh", Args: []string{"-c", script},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir,
		Log: filepath.Join(dir, name+".log"),
	}
}

// patience bounds the wait for a child.
const patience = 20 * time.Second

// poll calls done until it returns true, and reports false after patience.
func poll(done func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if done() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

func start(t *testing.T, spec Spec) *Server {
	t.Helper()
	s, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Kill() })
	return s
}

// gone waits until a process has ended. A zombie, which waits for its parent to collect it,
// has ended too.
func gone(t *testing.T, pid int) {
	t.Helper()
	ended := poll(func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return strings.Contains(string(stat), ") Z ")
	})
	if !ended {
		t.Errorf("process %d has not ended", pid)
	}
}

// await waits until a child has ended.
func await(t *testing.T, s *Server) {
	t.Helper()
	select {
	case <-s.Exited():
	case <-time.After(patience):
		t.Fatal("the child has not ended")
	}
}

// logged waits until a child's log holds a text.
func logged(t *testing.T, spec Spec, want string) {
	t.Helper()
	var got []byte
	found := poll(func() bool {
		got, _ = os.ReadFile(spec.Log)
		return strings.Contains(string(got), want)
	})
	if !found {
		t.Fatalf("the log holds %q, want %q in it", got, want)
	}
}

func TestChildGetsItsSpec(t *testing.T) {
	t.Setenv("PLIMSOLL_OF_THE_PARENT", "secret")
	dir := t.TempDir()
	spec := shell(dir, "child", "pwd; env; echo to stderr >&2; ps -o pgid= -p $$; exit 3")
	spec.Env = append(spec.Env, "GIVEN=yes")
	if err := os.WriteFile(spec.Log, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, spec)
	await(t, s)
	var exit *exec.ExitError
	if !errors.As(s.Err(), &exit) || exit.ExitCode() != 3 {
		t.Errorf("ended with %v", s.Err())
	}
	raw, err := os.ReadFile(spec.Log)
	if err != nil {
		t.Fatal(err)
	}
	real, _ := filepath.EvalSymlinks(dir)
	for _, want := range []string{
		"before\n", real + "\n", "GIVEN=yes\n", "to stderr\n", strconv.Itoa(s.PID()) + "\n",
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("no %q in %q", want, raw)
		}
	}
	if strings.Contains(string(raw), "PLIMSOLL_OF_THE_PARENT") {
		t.Error("the child has the parent's environment")
	}
}

func TestStop(t *testing.T) {
	dir := t.TempDir()
	const wait = "while :; do sleep 0.05; done"
	for _, c := range []struct {
		name, script string
		grace        time.Duration
		want         string
	}{
		{"willing", `trap 'echo asked; exit 0' TERM; echo ready; ` + wait, time.Minute, "asked"},
		{"stubborn", `trap '' TERM; echo ready; ` + wait, 100 * time.Millisecond, "ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := shell(dir, c.name, c.script)
			s := start(t, spec)
			logged(t, spec, "ready")
			if err := s.Err(); err != nil {
				t.Errorf("the child runs, and Err returns %v", err)
			}
			for range 2 {
				if err := s.Stop(context.Background(), c.grace); err != nil {
					t.Error(err)
				}
			}
			await(t, s)
			logged(t, spec, c.want)
			gone(t, s.PID())
			if (s.Err() == nil) != (c.name == "willing") {
				t.Errorf("ended with %v", s.Err())
			}
		})
	}
}

func TestStopEndsWithItsContext(t *testing.T) {
	script := `trap '' TERM; echo ready; while :; do sleep 0.05; done`
	spec := shell(t.TempDir(), "stubborn", script)
	s := start(t, spec)
	logged(t, spec, "ready")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Stop(ctx, time.Hour); err != nil {
		t.Error(err)
	}
	gone(t, s.PID())
}

func TestKillReachesWhatTheChildStarted(t *testing.T) {
	spec := shell(t.TempDir(), "family", `sleep 1000 & echo "child $!"; wait`)
	s := start(t, spec)
	logged(t, spec, "child ")
	raw, _ := os.ReadFile(spec.Log)
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(raw), "child ")))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
	}
	gone(t, pid)
}

// A child that was ended by another process's signal can be restarted as soon as its end is
// noticed.
func TestRestartAfterASignal(t *testing.T) {
	s := start(t, shell(t.TempDir(), "server n1", "exec sleep 1000"))
	for range 50 {
		if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for running(s.PID()) {
			runtime.Gosched()
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
}

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	spec := shell(dir, "server n1", "echo life >> lives; exec sleep 1000")
	s := start(t, spec)
	err := s.Restart()
	if err == nil || !strings.Contains(err.Error(), "server n1 again: it still runs") {
		t.Errorf("got %v", err)
	}
	first, ended := s.PID(), s.Exited()
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if s.PID() == first || s.Err() != nil {
		t.Errorf("process %d was %d before, and Err returns %v", s.PID(), first, s.Err())
	}
	select {
	case <-s.Exited():
		t.Error("the second process has ended with the first")
	default:
	}
	if err := s.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	if err := s.Restart(); err == nil || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("got %v", err)
	}
	gone(t, s.PID())
}

// A prepared server counts as ended until Restart starts it, and can be stopped before.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	s := Prepare(sleeper(dir, "later"))
	select {
	case <-s.Exited():
	default:
		t.Error("it runs")
	}
	if err := errors.Join(s.Err(), s.Kill()); err != nil || s.PID() != 0 {
		t.Errorf("process %d: %v", s.PID(), err)
	}
	if err := s.Restart(); err != nil || !running(s.PID()) {
		t.Errorf("process %d: %v", s.PID(), err)
	}
	if err := s.Stop(t.Context(), time.Second); err != nil || running(s.PID()) {
		t.Errorf("process %d runs: %v", s.PID(), err)
	}
	never := Prepare(sleeper(dir, "never"))
	if err := never.Stop(t.Context(), time.Second); err != nil || never.Restart() == nil {
		t.Errorf("a server that was stopped before its start starts: %v", err)
	}
}

func TestStartThatFails(t *testing.T) {
	dir := t.TempDir()
	spec := sleeper(dir, "server n1")
	spec.Path = filepath.Join(dir, "nothing")
	_, err := Start(spec)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "start server n1") {
		t.Errorf("got %v", err)
	}
	spec = sleeper(dir, "x")
	spec.Log = filepath.Join(dir, "nowhere", "log")
	if _, err := Start(spec); err == nil || !strings.Contains(err.Error(), "log of x") {
		t.Errorf("got %v", err)
	}
	// The starter is usable after errors.
	s := start(t, sleeper(dir, "y"))
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			s, err := Start(shell(dir, strconv.Itoa(i), "exit 0"))
			if err != nil {
				t.Error(err)
				return
			}
			<-s.Exited()
			if s.Err() != nil {
				t.Error(s.Err())
			}
		})
	}
	all.Wait()
}

func TestChildrenDoNotOutliveAKilledParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("%s: only Linux kills the children of a killed process", t.Name())
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentEnv+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for field := range strings.FieldsSeq(line) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("child %d ended with the thread that asked for it: %v", pid, err)
		}
	}
	if len(pids) != 3 {
		t.Fatal(line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		gone(t, pid)
	}
}

func TestAddresses(t *testing.T) {
	first, err := Addresses(3, 19092, 19093)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Addresses(3, 19092, 19093)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, a := range slices.Concat(append(first, second...)...) {
		host, _, err := net.SplitHostPort(a)
		if err != nil || !net.ParseIP(host).IsLoopback() || slices.Contains(seen, a) {
			t.Errorf("%s: not on the loopback interface, or there twice", a)
		}
		seen = append(seen, a)
		l, err := net.Listen("tcp", a)
		if err != nil {
			t.Error(err)
			continue
		}
		defer l.Close()
	}
	if len(seen) != 12 {
		t.Errorf("%v", seen)
	}
	if _, err := Addresses(0, 1); err == nil {
		t.Error("addresses for 0 nodes")
	}
}

func TestAddressesThatAreTaken(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	got, err := Addresses(1, port)
	if runtime.GOOS == "linux" && (err == nil || !strings.Contains(err.Error(), "ss -tln")) {
		t.Errorf("port %v is taken in every network, and Addresses returns %v, %v", port, got, err)
	}
}

func TestAddressesOfOneHost(t *testing.T) {
	all, err := oneHost(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	flat := slices.Concat(all...)
	slices.Sort(flat)
	if len(flat) != 6 || len(slices.Compact(flat)) != 6 {
		t.Errorf("%v", all)
	}
	for _, a := range flat {
		if !strings.HasPrefix(a, loopback+":") {
			t.Error(a)
		}
	}
}

// A log that grew beyond its bound, while its writer ran or just before it ended, keeps its
// beginning and its end, says what is missing, and takes what is written afterwards.
func TestLogIsBounded(t *testing.T) {
	const grow = `echo first; truncate -s 70M "$0"; echo; echo last`
	for name, then := range map[string]string{
		"running": `; until [ $(stat -c %s "$0") -lt 60000000 ]; do sleep 0.01; done; echo after`,
		"ended":   "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := shell(t.TempDir(), name, grow+then)
			spec.Args = append(spec.Args, spec.Log)
			await(t, start(t, spec))
			logged(t, spec, fmt.Sprintf("longer than %d)", MostLog))
			got, err := os.ReadFile(spec.Log)
			if err != nil {
				t.Fatal(err)
			}
			want := "last\n"
			if then != "" {
				want += "after\n"
			}
			if !strings.HasPrefix(string(got), "first\n") || !strings.HasSuffix(string(got), want) ||
				len(got) > headLog+2*tailSize {
				t.Errorf("%d bytes, which end with %q", len(got), got[max(0, len(got)-40):])
			}
		})
	}
}

// A child reads its input at each start.
func TestInput(t *testing.T) {
	dir := t.TempDir()
	spec := shell(dir, "reader", "cat")
	spec.Input = []byte("a password\n")
	s, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	<-s.Exited()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	<-s.Exited()
	want := "a password\na password\n"
	if got, err := os.ReadFile(spec.Log); err != nil || string(got) != want {
		t.Errorf("the child read %q: %v", got, err)
	}
}
