package observe

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// watching returns an observer of the children, which it names n1, n2 and so on.
func watching(t testing.TB, children ...*child) *Observer {
	t.Helper()
	var servers []target.Process
	for i, c := range children {
		name := "n" + string(rune('1'+i))
		servers = append(servers, target.Process{Name: name, PID: c.pid()})
	}
	o, err := New(servers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// syncing skips a test where system calls cannot be counted.
func syncing(t testing.TB, o *Observer) {
	t.Helper()
	if o.syncs == nil {
		t.Skip("NOT TESTED: counting fsync calls needs root, or CAP_PERFMON and readable " +
			"tracefs: " + strings.Join(o.Methods(), " "))
	}
}

func useOf(t testing.TB, r result.Resources, name string) result.ProcessUse {
	t.Helper()
	for _, p := range r.Processes {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no %s in %+v", name, r.Processes)
	return result.ProcessUse{}
}

// Every call of every thread is counted, whether the thread started before or after the
// observer, and whether it still runs or has ended.
func TestSyncsAreCountedExactly(t *testing.T) {
	a, b := newChild(t), newChild(t)
	a.do("threads 4")
	o := watching(t, a, b)
	syncing(t, o)
	a.do("fsync 700")
	a.do("fdatasync 301")
	a.do("msync 55")
	b.do("fsync 10")
	r, _, _ := o.Read()
	if got := useOf(t, r, "n1"); *got.Syncs != 1001 || *got.MapSyncs != 55 {
		t.Errorf("n1: %d syncs, %d msyncs", *got.Syncs, *got.MapSyncs)
	}
	if got := useOf(t, r, "n2"); *got.Syncs != 10 || *got.MapSyncs != 0 {
		t.Errorf("n2: %d syncs, %d msyncs", *got.Syncs, *got.MapSyncs)
	}
	if got := useOf(t, r, result.Self); *got.Syncs != 0 {
		t.Errorf("the parent: %d syncs", *got.Syncs)
	}
	a.do("fsync 5")
	r, _, _ = o.Read()
	if got := useOf(t, r, "n1"); *got.Syncs != 5 || *got.MapSyncs != 0 {
		t.Errorf("n1 afterwards: %d syncs, %d msyncs", *got.Syncs, *got.MapSyncs)
	}
}

// Lost records of calls are noted.
func TestLostSyncsAreNoted(t *testing.T) {
	a := newChild(t)
	o := watching(t, a)
	syncing(t, o)
	a.do("msync 100000")
	r, _, _ := o.Read()
	got := *useOf(t, r, "n1").MapSyncs
	noted := slices.ContainsFunc(o.Methods(), func(s string) bool {
		return strings.Contains(s, "too low")
	})
	if noted != (got < 100_000) || got > 100_000 {
		t.Errorf("counted %d of 100,000, noted: %v", got, noted)
	}
	a.do("msync 10")
	if r, _, _ = o.Read(); *useOf(t, r, "n1").MapSyncs != 10 {
		t.Errorf("after a loss %d of 10 were counted", *useOf(t, r, "n1").MapSyncs)
	}
}

// The bytes of both ends of a connection are counted, whether it was opened before or after
// the observer.
func TestNetworkBytesAreCounted(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "127.9.0.2:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("NOT TESTED on %s: %v", address, err)
			continue
		}
		defer listener.Close()
		a := newChild(t)
		open := func() net.Conn {
			a.do("connect %s", listener.Addr())
			c, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}
		transfer := func(c net.Conn, up, down int) {
			a.do("send %d", up)
			if _, err := io.ReadFull(c, make([]byte, up)); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write(make([]byte, down)); err != nil {
				t.Fatal(err)
			}
			a.do("receive %d", down)
		}
		early := open()
		transfer(early, 5000, 50)
		o := watching(t, a)
		if o.network == nil {
			t.Skip("NOT TESTED: " + strings.Join(o.Methods(), " "))
		}
		transfer(early, 100_000, 2000)
		transfer(open(), 30_000, 100)
		r, _, _ := o.Read()
		server, self := useOf(t, r, "n1"), useOf(t, r, result.Self)
		if *server.NetSentBytes != 130_000 || *server.NetReceivedBytes != 2100 {
			t.Errorf("%s: the server sent %d and received %d",
				address, *server.NetSentBytes, *server.NetReceivedBytes)
		}
		if *self.NetSentBytes != 2100 || *self.NetReceivedBytes != 130_000 {
			t.Errorf("%s: plimsoll sent %d and received %d",
				address, *self.NetSentBytes, *self.NetReceivedBytes)
		}
		if *r.Host.LoopbackBytes != 132_100 {
			t.Errorf("%s: %d bytes crossed the machine", address, *r.Host.LoopbackBytes)
		}
		r, _, _ = o.Read()
		if *useOf(t, r, "n1").NetSentBytes != 0 || *r.Host.LoopbackBytes != 0 {
			t.Errorf("%s: afterwards %+v", address, r)
		}
	}
}

// The bytes of a server in another network namespace are unknown, not none.
func TestNetworkBytesOfAnotherNamespaceAreUnknown(t *testing.T) {
	a, err := startChild(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET})
	if err != nil {
		t.Skipf("NOT TESTED: a network namespace needs root: %v", err)
	}
	b := newChild(t)
	o := watching(t, a, b)
	if o.network == nil {
		t.Skip("NOT TESTED: " + strings.Join(o.Methods(), " "))
	}
	r, _, _ := o.Read()
	if got := useOf(t, r, "n1").NetSentBytes; got != nil {
		t.Errorf("n1 sent %d", *got)
	}
	if got := useOf(t, r, "n2").NetSentBytes; got == nil || *got != 0 {
		t.Errorf("n2 sent %v", got)
	}
	if said := strings.Join(o.Methods(), " "); !strings.Contains(said, "Network bytes of n1 are") {
		t.Error(said)
	}
}

// A half-closed connection of a dead process has no byte counts. It must not end the counting
// of other connections.
func TestNetworkIsCountedAfterAProcessEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	a, b := newChild(t), newChild(t)
	o := watching(t, a, b)
	if o.network == nil {
		t.Skip("NOT TESTED: " + strings.Join(o.Methods(), " "))
	}
	var theirs net.Addr
	for _, c := range []*child{b, a} {
		c.do("connect %s", listener.Addr())
		end, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer end.Close() // half open until then
		theirs = end.RemoteAddr()
	}
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait()
	// The kernel needs a moment until the connection is in state 05 (FIN_WAIT2).
	left := regexp.MustCompile(fmt.Sprintf(`0100007F:%04X \S+ 05`, theirs.(*net.TCPAddr).Port))
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		all, err := os.ReadFile("/proc/net/tcp")
		if err != nil || time.Now().After(deadline) {
			t.Fatal("the connection did not get half closed ", err)
		}
		if left.Match(all) {
			break
		}
	}
	o.Read()
	b.do("send 1000")
	r, _, _ := o.Read()
	if got := useOf(t, r, "n2").NetSentBytes; got == nil || *got != 1000 {
		t.Errorf("n2 sent %v: %v", got, o.Methods())
	}
}

func TestProcessesAreRead(t *testing.T) {
	a := newChild(t)
	o := watching(t, a)
	a.do("write 1000000")
	r, ended, _ := o.Read()
	server, self := useOf(t, r, "n1"), useOf(t, r, result.Self)
	if len(ended) > 0 || server.PID != a.pid() || self.PID != os.Getpid() ||
		server.RSSBytes < 1<<20 || self.RSSBytes < 1<<20 {
		t.Errorf("%+v, ended %v", r.Processes, ended)
	}
	if server.WriteBytes == nil || *server.WriteBytes != 0 && *server.WriteBytes < 1_000_000 {
		t.Errorf("wrote %v", server.WriteBytes)
	}
	if !slices.Equal(o.Servers(), []string{"n1"}) ||
		r.Host.CPUSeconds < 0 || r.Host.PageCacheBytes == 0 {
		t.Errorf("servers %v, host %+v", o.Servers(), r.Host)
	}
}

// Memory that the processes of a server share counts once, also where the first of them, which is
// watched, does not use it.
func TestSharedMemoryOfAServerCountsOnce(t *testing.T) {
	const size = 64 << 20
	path := filepath.Join(t.TempDir(), "shared")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second, third := newChild(t), newChild(t), newChild(t)
	o := watching(t, first)
	of := o.processes[0]
	memory := func() int64 {
		var notes methods
		use, alive := of.read(&notes)
		if !alive {
			t.Fatal("the server has ended")
		}
		return use.RSSBytes
	}
	for _, c := range []*child{second, third} {
		p, err := o.host.proc.Proc(c.pid())
		if err != nil {
			t.Fatal(err)
		}
		of.descendants = append(of.descendants, p)
	}
	for _, c := range []*child{first, second, third} {
		c.do("files 1") // it has started
	}
	before := memory()
	second.do("map %s", path)
	third.do("map %s", path)
	if more := memory() - before; more < size*3/4 || more > size*3/2 {
		t.Errorf("two of three processes map %d bytes, and the server has %d more", size, more)
	}
}

// The end of a server is reported once, whether its parent has collected it or not. The
// other servers are still read.
func TestEndedServersAreReported(t *testing.T) {
	for _, waited := range []bool{false, true} {
		a, b := newChild(t), newChild(t)
		o := watching(t, a, b)
		if err := a.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if waited {
			_ = a.cmd.Wait()
		}
		var ended []target.Process
		var r result.Resources
		// The kernel takes a moment to end the process.
		deadline := time.Now().Add(10 * time.Second)
		for len(ended) == 0 && time.Now().Before(deadline) {
			r, ended, _ = o.Read()
		}
		if want := []target.Process{{Name: "n1", PID: a.pid()}}; !slices.Equal(ended, want) {
			t.Fatalf("ended: %v", ended)
		}
		if len(r.Processes) != 2 || r.Processes[0].Name != "n2" {
			t.Errorf("still read: %+v", r.Processes)
		}
		if _, again, _ := o.Read(); len(again) > 0 {
			t.Errorf("reported again: %v", again)
		}
	}
}

// A restarted server is observed again, from its start. It is not when two new processes have
// its command line.
func TestRestartedServersAreObserved(t *testing.T) {
	a, b := newChild(t), newChild(t)
	o := watching(t, a, b)
	a.end()
	if _, ended, back := o.Read(); len(ended) != 1 || len(back) > 0 {
		t.Fatalf("ended %v, back %v", ended, back)
	}
	time.Sleep(20 * time.Millisecond) // two ticks of the kernel's start times
	c := newChild(t)
	c.do("fsync 10")
	var r result.Resources
	var ended, back []target.Process
	for range 50 { // a reading that finds no successor leaves it to the next one
		if r, ended, back = o.Read(); len(ended)+len(back) > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	want := []target.Process{{Name: "n1", PID: c.pid()}}
	if len(ended) > 0 || !slices.Equal(back, want) {
		t.Fatalf("ended %v, back %v", ended, back)
	}
	if got := useOf(t, r, "n1"); got.PID != c.pid() || got.RSSBytes == 0 {
		t.Errorf("it is read as %+v", got)
	}
	c.do("fsync 10")
	r, _, back = o.Read()
	if got := useOf(t, r, "n1"); len(back) > 0 || got.Syncs != nil && *got.Syncs != 10 {
		t.Errorf("back %v, it is read as %+v", back, got)
	}
	b.end()
	o.Read()
	time.Sleep(20 * time.Millisecond)
	newChild(t)
	newChild(t)
	if _, _, back := o.Read(); len(back) > 0 {
		t.Errorf("one of two candidates was chosen: %v", back)
	}
}

// Another process with the number of an ended server is not that server.
func TestReusedNumberIsAnEnd(t *testing.T) {
	a := newChild(t)
	o := watching(t, a)
	o.processes[0].started--
	if _, ended, _ := o.Read(); len(ended) != 1 {
		t.Errorf("ended: %v", ended)
	}
}

func TestInProcessServersAreThisProcess(t *testing.T) {
	self := os.Getpid()
	o, err := New([]target.Process{{Name: "n1", PID: self}, {Name: "n2", PID: self}})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	r, _, _ := o.Read()
	if !slices.Equal(o.Servers(), []string{result.Self}) || len(r.Processes) != 1 ||
		r.Processes[0].Name != result.Self {
		t.Errorf("servers %v, processes %+v", o.Servers(), r.Processes)
	}
}

func TestCheckRefusesUnobservableProcesses(t *testing.T) {
	gone := newChild(t)
	gone.end()
	for _, c := range []struct {
		process target.Process
		want    string
	}{
		{target.Process{Name: "n1", PID: gone.pid()}, "runs on this machine"},
		{target.Process{Name: "n1", PID: os.Getpid()}, "is plimsoll itself"},
		{target.Process{Name: result.Self, PID: 1}, "cannot be called plimsoll"},
	} {
		if err := Check([]target.Process{c.process}); !isSentence(err, c.want) {
			t.Errorf("%v: %v", c.process, err)
		}
	}
	if o, err := New([]target.Process{{Name: "n1", PID: gone.pid()}}); err == nil {
		o.Close()
		t.Error("New accepted a process that ended")
	}
	if err := Check([]target.Process{{Name: "n1", PID: 1}}); err != nil {
		t.Error(err)
	}
}

func TestCloseClosesEveryFile(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	o, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Read()
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if after := count(); after != before {
		t.Errorf("%d files were open, now %d", before, after)
	}
}

// BenchmarkRead reads three processes of a broker's size: 100 threads, 500 files and 50
// connections each.
func BenchmarkRead(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	var children []*child
	for range 3 {
		c := newChild(b)
		c.do("threads 100")
		c.do("files 500")
		for range 50 {
			c.do("connect %s", listener.Addr())
		}
		children = append(children, c)
	}
	o := watching(b, children...)
	b.ReportAllocs()
	for b.Loop() {
		o.Read()
	}
}
