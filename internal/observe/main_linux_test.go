package observe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// childVariable makes this test binary serve as a process to observe.
const childVariable = "PLIMSOLL_OBSERVED_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		serve()
		return
	}
	goleak.VerifyTestMain(m)
}

// child is a process that executes the tests' commands.
type child struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func newChild(t testing.TB) *child {
	t.Helper()
	c, err := startChild(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// startChild fails where the kernel refuses the attributes.
func startChild(t testing.TB, attributes *syscall.SysProcAttr) (*child, error) {
	t.Helper()
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0])}
	c.cmd.SysProcAttr = attributes
	c.cmd.Env = append(os.Environ(), childVariable+"=1", "TMPDIR="+t.TempDir())
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(c.end)
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// do sends the child a command, and waits until the child has executed it.
func (c *child) do(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
	if line, err := c.out.ReadString('\n'); err != nil || line != "done\n" {
		c.t.Fatalf("the child says %q, %v", line, err)
	}
}

func (c *child) end() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// serve runs the child.
func serve() {
	var keep []any
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		var n int
		switch _, err := fmt.Sscan(rest, &n); {
		case verb == "connect":
			keep = append(keep, connect(rest))
		case verb == "map":
			keep = append(keep, mapped(rest))
		case err != nil:
			panic(in.Text())
		case verb == "compile":
			for range n {
				go compile()
			}
		case verb == "threads":
			keep = append(keep, threads(n))
		case verb == "files":
			for range n {
				f, err := os.Open(os.DevNull)
				must(err)
				keep = append(keep, f)
			}
		case verb == "send":
			_, err := keep[len(keep)-1].(net.Conn).Write(make([]byte, n))
			must(err)
		case verb == "receive":
			_, err := io.ReadFull(keep[len(keep)-1].(net.Conn), make([]byte, n))
			must(err)
		case verb == "write":
			must(os.WriteFile(os.TempDir()+"/written", make([]byte, n), 0o600))
		default:
			calls(verb, n, keep)
		}
		fmt.Fprintln(os.Stdout, "done")
	}
	runtime.KeepAlive(keep)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func connect(address string) net.Conn {
	c, err := net.Dial("tcp", address)
	must(err)
	return c
}

// mapped returns the memory of a file that is shared with the other processes that map it. The
// process uses all of it.
func mapped(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(err)
	defer f.Close()
	info, err := f.Stat()
	must(err)
	memory, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	must(err)
	for i := range memory {
		memory[i] = 1
	}
	return memory
}

// threads starts n threads that call the functions from the returned channel.
func threads(n int) chan func() {
	work := make(chan func())
	var up sync.WaitGroup
	for range n {
		up.Add(1)
		go func() {
			runtime.LockOSThread()
			up.Done()
			for f := range work {
				f()
			}
		}()
	}
	up.Wait()
	return work
}

// compile keeps a thread with a compiler's name busy: not the first one, which has the process's.
func compile() {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		go compile()
		select {}
	}
	must(os.WriteFile("/proc/thread-self/comm", []byte("C2 CompilerThread0"), 0))
	for os.Getppid() > 0 { // busy
	}
}

// calls makes n system calls, divided between new threads and the existing ones.
func calls(verb string, n int, keep []any) {
	f, err := os.CreateTemp("", "synced")
	must(err)
	defer f.Close()
	memory, err := unix.Mmap(-1, 0, os.Getpagesize(),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	must(err)
	call := map[string]func() error{
		"fsync":     func() error { return unix.Fsync(int(f.Fd())) },
		"fdatasync": func() error { return unix.Fdatasync(int(f.Fd())) },
		"msync":     func() error { return unix.Msync(memory, unix.MS_ASYNC) },
	}[verb]
	var all sync.WaitGroup
	all.Add(n)
	one := func() { must(call()); all.Done() }
	pools := []chan func(){threads(3)}
	for _, k := range keep {
		if pool, ok := k.(chan func()); ok {
			pools = append(pools, pool)
		}
	}
	for i := range n {
		pools[i%len(pools)] <- one
	}
	all.Wait()
	close(pools[0])
}
