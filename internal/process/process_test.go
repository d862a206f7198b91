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

// parent starts children from goroutines that end at once, prints their
// numbers and waits to be killed.
func parent(dir string) {
	var pids []string
	for i := range 3 {
		started := make(chan *Server)
		go func() {
			// A thread of its own, which ends with the goroutine: a child that
			// it had forked itself would end as well.
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

// shell is a child that runs a script.
func shell(dir, name, script string) Spec {
	return Spec{Name: name, Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir, Log: filepath.Join(dir, name+".log")}
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

// gone waits until there is no such process, or it is a dead one that its
// parent has not asked about.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
}

func await(t *testing.T, s *Server) {
	t.Helper()
	select {
	case <-s.Exited():
	case <-time.After(20 * time.Second):
		t.Fatal("it has not ended")
	}
}

func logged(t *testing.T, spec Spec, want string) {
	t.Helper()
	var got []byte
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got, _ = os.ReadFile(spec.Log); strings.Contains(string(got), want) {
			return
		}
	}
	t.Fatalf("the log shows %q, and not %q", got, want)
}

func TestChildIsAsItWasAskedFor(t *testing.T) {
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
	for _, want := range []string{"before\n", real + "\n", "GIVEN=yes\n", "to stderr\n", strconv.Itoa(s.PID()) + "\n"} {
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
	for _, c := range []struct {
		name, script string
		grace        time.Duration
		want         string
	}{
		{"willing", `trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.05; done`, time.Minute, "asked"},
		{"stubborn", `trap '' TERM; echo ready; while :; do sleep 0.05; done`, 100 * time.Millisecond, "ready"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := shell(dir, c.name, c.script)
			s := start(t, spec)
			logged(t, spec, "ready")
			if err := s.Err(); err != nil {
				t.Errorf("runs and has ended with %v", err)
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

func TestStopIsNoLongerThanItsContext(t *testing.T) {
	spec := shell(t.TempDir(), "stubborn", `trap '' TERM; echo ready; while :; do sleep 0.05; done`)
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

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	spec := shell(dir, "server n1", "echo life >> lives; exec sleep 1000")
	s := start(t, spec)
	if err := s.Restart(); err == nil || !strings.Contains(err.Error(), "server n1 again: it runs still") {
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
		t.Errorf("process %d was %d before, and ended with %v", s.PID(), first, s.Err())
	}
	select {
	case <-s.Exited():
		t.Error("the second life has ended with the first")
	default:
	}
	if err := s.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	if err := s.Restart(); err == nil || !strings.Contains(err.Error(), "stopped for good") {
		t.Errorf("got %v", err)
	}
	gone(t, s.PID())
}

func TestStartThatFails(t *testing.T) {
	dir := t.TempDir()
	spec := sleeper(dir, "server n1")
	spec.Path = filepath.Join(dir, "nothing")
	if _, err := Start(spec); err == nil || !strings.Contains(err.Error(), "starting server n1") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	spec = sleeper(dir, "x")
	spec.Log = filepath.Join(dir, "nowhere", "log")
	if _, err := Start(spec); err == nil || !strings.Contains(err.Error(), "log of x") {
		t.Errorf("got %v", err)
	}
	// The thread was given back, and is taken again.
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
		t.Error("addresses for nobody")
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
		t.Errorf("%v is free on no network, and got %v, %v", port, got, err)
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

// A child reads its input, and reads it again when it is started again.
func TestInput(t *testing.T) {
	dir := t.TempDir()
	spec := shell(dir, "reader", "cat")
	spec.Input = []byte("said in secret\n")
	s, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	<-s.Exited()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	<-s.Exited()
	if got, err := os.ReadFile(spec.Log); err != nil || string(got) != "said in secret\nsaid in secret\n" {
		t.Errorf("it read %q: %v", got, err)
	}
}
