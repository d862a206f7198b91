package testbed

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/system"
)

const holdEnv = "PLIMSOLL_TESTBED_HOLD"

// TestMain lets the tests start themselves as owners that can be killed.
func TestMain(m *testing.M) {
	if base := os.Getenv(holdEnv); base != "" {
		hold(base)
	}
	if base := os.Getenv(detachEnv); base != "" {
		os.Unsetenv(detachEnv)
		os.Setenv(ownEnv, "yes")
		detachByWish(base)
	}
	if os.Getenv(ownEnv) != "" {
		ownByWish()
	}
	goleak.VerifyTestMain(m)
}

// hold starts a testbed, prints its data directory, and waits to be killed or for its
// standard input to end.
func hold(base string) {
	tb, err := Up(context.Background(), Options{Base: base, Provisioner: &fake{}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(tb.folder.data())
	bufio.NewReader(os.Stdin).ReadString('\n')
	os.Exit(0)
}

// fake is a provisioner whose cluster is one file.
type fake struct {
	err     error
	stopErr error
	stops   int
	got     system.Provision
}

func (*fake) NodeNames(system.Provision) []string { return nil }

func (f *fake) Provision(_ context.Context, p system.Provision) (system.Provisioned, error) {
	f.got = p
	if f.err != nil {
		return nil, f.err
	}
	return f, os.WriteFile(filepath.Join(p.DataDir, "segment"), []byte("data"), 0o600)
}

func (f *fake) TLS() *tls.Config                { return nil }
func (f *fake) CAFile() string                  { return "" }
func (f *fake) Endpoints() []string             { return []string{"127.0.0.1:1"} }
func (f *fake) Credentials() system.Credentials { return system.Credentials{} }
func (f *fake) Nodes() []system.Node            { return nil }
func (f *fake) Stop(context.Context) error      { f.stops++; return f.stopErr }

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// rooms returns the names of the directories under base.
func rooms(t *testing.T, base string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(base, rootName))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestUpAndClose(t *testing.T) {
	base, f := filepath.Join(t.TempDir(), "runs"), &fake{}
	tb, err := Up(within(t), Options{
		Base: base, Provisioner: f, NeedBytes: 1, Provision: system.Provision{Nodes: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.got.Nodes != 5 || f.got.DataDir != tb.folder.data() {
		t.Errorf("provisioned %+v", f.got)
	}
	if _, err := os.Stat(filepath.Join(tb.folder.data(), "segment")); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := tb.Close(within(t)); err != nil {
			t.Error(err)
		}
	}
	if f.stops != 1 {
		t.Errorf("stopped %d times", f.stops)
	}
	if left := rooms(t, base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCloseCanBeRepeated(t *testing.T) {
	base, f := t.TempDir(), &fake{stopErr: errors.New("busy")}
	tb, err := Up(within(t), Options{Base: base, Provisioner: f})
	if err != nil {
		t.Fatal(err)
	}
	if err := tb.Close(within(t)); err == nil {
		t.Error("Close returned no error although the cluster did not stop")
	}
	if len(rooms(t, base)) != 1 {
		t.Error("the data of a running cluster was deleted")
	}
	f.stopErr = nil
	if err := tb.Close(within(t)); err != nil {
		t.Error(err)
	}
	if left := rooms(t, base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUpLeavesNothingWhenItFails(t *testing.T) {
	base := t.TempDir()
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"servers", Options{Provisioner: &fake{err: errors.New("no java")}}, "no java"},
		{"disk fills", Options{Provisioner: &fake{err: fmt.Errorf("start: %w", syscall.ENOSPC)}},
			"is full: free some"},
		{"disk too small", Options{Provisioner: &fake{}, NeedBytes: 1 << 60},
			"free and the run may fill"},
	} {
		c.o.Base = base
		tb, err := Up(within(t), c.o)
		if err == nil {
			tb.Close(within(t))
			t.Errorf("%s: no error", c.name)
			continue
		}
		if !isSentence(err, c.want) {
			t.Errorf("%s: %q is not one sentence with %q", c.name, err, c.want)
		}
		if left := rooms(t, base); len(left) > 0 {
			t.Errorf("%s: left behind: %v", c.name, left)
		}
	}
}

func TestUnusableBase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if tb, err := Up(within(t), Options{Base: file, Provisioner: &fake{}}); err == nil {
		tb.Close(within(t))
		t.Error("a file was taken for a directory")
	}
	for errno, want := range map[syscall.Errno]string{
		syscall.EROFS: "cannot be written", syscall.EACCES: "cannot be written",
		syscall.ENOSPC: "is full", syscall.EDQUOT: "is full",
	} {
		err := explain("base", fmt.Errorf("make: %w", errno))
		if !strings.Contains(err.Error(), want) || !errors.Is(err, errno) {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

func TestReadOnlyBase(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	base := t.TempDir()
	if err := os.Chmod(base, 0o500); err != nil {
		t.Fatal(err)
	}
	tb, err := Up(within(t), Options{Base: base, Provisioner: &fake{}})
	if err == nil {
		tb.Close(within(t))
		t.Fatal("no error")
	}
	if !strings.Contains(err.Error(), "cannot be written: name another directory") {
		t.Error(err)
	}
}

// owner starts another process that owns a testbed, and returns the process and the
// testbed's data directory.
func owner(t *testing.T, base string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+base)
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
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

func TestUpRemovesDirectoriesOfDeadOwnersOnly(t *testing.T) {
	base := t.TempDir()
	dead, deadDir := owner(t, base)
	_, liveDir := owner(t, base)
	strange := filepath.Join(base, rootName, "notes")
	if err := os.MkdirAll(strange, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(strange, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dead.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	dead.Wait()
	if _, err := os.Stat(deadDir); err != nil {
		t.Fatalf("the killed owner left nothing: %v", err)
	}
	tb, err := Up(within(t), Options{Base: base, Provisioner: &fake{}})
	if err != nil {
		t.Fatal(err)
	}
	defer tb.Close(within(t))
	if _, err := os.Stat(filepath.Dir(deadDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the dead owner still exists: %v", err)
	}
	for _, kept := range []string{liveDir, filepath.Join(strange, "mine"), tb.folder.data()} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
}

func TestUpWaitsForTheGateUntilItsContextEnds(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, rootName), 0o755); err != nil {
		t.Fatal(err)
	}
	gate, err := tryLock(filepath.Join(base, rootName, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = Up(ctx, Options{Base: base, Provisioner: &fake{}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
