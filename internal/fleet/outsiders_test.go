package fleet

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Whoever may not join is told why in a sentence, and changes nothing.
func TestRefusedWorkers(t *testing.T) {
	t.Parallel()
	c, _ := fleetOf(t, newCommon(), 2)
	stranger := listen(t, 1)
	options := func() WorkerOptions {
		return WorkerOptions{Coordinator: c.Address(), Token: c.Token(), Name: "late", Host: "here",
			Version: version, Systems: system.NewRegistry(), Clock: clock.Precise()}
	}
	for name, of := range map[string]struct {
		change func(o *WorkerOptions)
		want   string
	}{
		"token of another fleet": {func(o *WorkerOptions) { o.Token = stranger.Token() },
			"it is not the coordinator of this join token"},
		"another secret": {func(o *WorkerOptions) { o.Token.secret[0]++ },
			"the join token is not this coordinator's"},
		"another version": {func(o *WorkerOptions) { o.Version = "v2" },
			"the worker is plimsoll v2 and the coordinator is v1"},
		"a name again": {func(o *WorkerOptions) { o.Name = "w0" },
			"a worker named w0 has joined already"},
		"one too many": {func(*WorkerOptions) {}, "all 2 workers have joined"},
		"no name":      {func(o *WorkerOptions) { o.Name = "" }, "needs a name of its own"},
		"the coordinator's": {func(o *WorkerOptions) { o.Name = coordinatorCN },
			"a name of its own"},
		"escape sequences": {func(o *WorkerOptions) { o.Host = "\x1b[2J" }, "not printable"},
		"a long name": {func(o *WorkerOptions) { o.Name = strings.Repeat("x", nameMost+1) },
			"too long"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			of.change(&o)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := Work(ctx, o)
			if err == nil || !strings.Contains(err.Error(), of.want) {
				t.Errorf("%v, want %q", err, of.want)
			}
			if err != nil && strings.Contains(err.Error(), o.Token.Text()) {
				t.Error("the error shows the token")
			}
		})
	}
	if n := len(c.team()); n != 2 {
		t.Errorf("%d workers are there", n)
	}
}

// Without a certificate nothing but joining is answered, also for those who speak the protocol.
func TestWithoutCertificate(t *testing.T) {
	t.Parallel()
	c := listen(t, 1)
	w := &workerEnd{options: WorkerOptions{Coordinator: c.Address(), Token: c.Token()}}
	conn, err := w.dial(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for method, desc := range map[string]*grpc.StreamDesc{
		methodWork: &workStream, methodTime: &timeStream,
	} {
		stream, err := conn.NewStream(t.Context(), desc, method)
		if err != nil {
			t.Fatal(err)
		}
		_ = stream.SendMsg(&hello{Name: "w0"})
		if err := stream.RecvMsg(new(order)); err == nil ||
			!strings.Contains(err.Error(), "join first") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// Garbage, other protocols, silent peers and very many connections cost bounded memory, and a run
// goes on beside them.
func TestCrowdOfOutsiders(t *testing.T) {
	of := newCommon()
	c, _ := fleetOf(t, of, 2)
	job := jobOn(t, of, 3*time.Second)
	job.Crew = c
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		pester(c.Address(), stop)
	}()
	got, err := ran(t, job)
	close(stop)
	<-done
	if err != nil || got.Run.Counters.Acked != 6000 {
		t.Errorf("%d acknowledged: %v", got.Run.Counters.Acked, err)
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 200<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

// pester opens up to 10,000 connections, some at a time, until it is stopped.
func pester(address string, stop <-chan struct{}) {
	const together = 200
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range 10_000 {
		select {
		case <-stop:
			return
		default:
		}
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue
		}
		open = append(open, conn)
		switch i % 3 {
		case 0:
			_, _ = fmt.Fprintf(conn, "GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n")
		case 1:
			_, _ = conn.Write(make([]byte, 1<<10))
		}
		if len(open) > together {
			_ = open[0].Close()
			open = open[1:]
		}
	}
}

// However many connections idle after their handshake, a worker joins at once.
func TestIdleOutsiders(t *testing.T) {
	t.Parallel()
	c := listen(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var idle sync.WaitGroup
	defer idle.Wait()
	defer cancel()
	for range 2 * (4 + spareConns) {
		idle.Go(func() {
			dialer := tls.Dialer{Config: c.Token().pinned(nil)}
			if conn, err := dialer.DialContext(ctx, "tcp", c.Address()); err == nil {
				<-ctx.Done()
				_ = conn.Close()
			}
		})
	}
	time.Sleep(time.Second) // they are all there, or wait for a place
	hire(t, c, newCommon(), "honest")
	within, stop := context.WithTimeout(ctx, 4*time.Second)
	defer stop()
	if err := c.Await(within); err != nil {
		t.Error(err)
	}
}

// A machine whose clock is decades behind knows its coordinator, and takes no other for it. Its clock
// is measured after it has joined.
func TestClockThatIsFarOff(t *testing.T) {
	t.Parallel()
	c, other := listen(t, 1), listen(t, 1)
	conn, err := tls.Dial("tcp", c.Address(), c.Token().pinned(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	state := conn.ConnectionState()
	synctest.Test(t, func(t *testing.T) { // it is the year 2000
		if err := c.Token().verify(state); err != nil || time.Now().Year() != 2000 {
			t.Errorf("in %d: %v", time.Now().Year(), err)
		}
		if err := other.Token().verify(state); err == nil {
			t.Error("it takes another coordinator for its own")
		}
	})
}

// A peer that speaks TLS and another protocol gets no answer of use.
func TestOtherProtocol(t *testing.T) {
	t.Parallel()
	c := listen(t, 1)
	conn, err := tls.Dial("tcp", c.Address(), c.Token().pinned(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	raw, _ := io.ReadAll(io.LimitReader(conn, 1<<16))
	if strings.Contains(string(raw), "plimsoll") {
		t.Errorf("the answer is %q", raw)
	}
}

// connect joins a fleet as a worker named rogue.
func (w *workerEnd) connect(t *testing.T) (*grpc.ClientConn, grpc.ClientStream) {
	t.Helper()
	me := hello{Name: "rogue", Host: "there", Version: version, Kernel: kernel()}
	return w.connectAs(t, me, me)
}

// connectAs joins with one hello, and then says another.
func (w *workerEnd) connectAs(t *testing.T, me, then hello) (*grpc.ClientConn,
	grpc.ClientStream) {
	t.Helper()
	mine, err := w.join(t.Context(), me)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := w.dial(mine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	stream, err := conn.NewStream(t.Context(), &workStream, methodWork)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.SendMsg(&then); err != nil {
		t.Fatal(err)
	}
	return conn, stream
}

// rogue joins as a worker and answers as it likes.
func rogue(t *testing.T, c *Coordinator, answer func(o *order) *word) {
	t.Helper()
	w := &workerEnd{options: WorkerOptions{Coordinator: c.Address(), Token: c.Token(),
		Clock: clock.Precise()}}
	_, stream := w.connect(t)
	go func() {
		for {
			o := new(order)
			if stream.RecvMsg(o) != nil {
				return
			}
			if a := answer(o); a != nil && stream.SendMsg(a) != nil {
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Await(ctx); err != nil {
		t.Fatal(err)
	}
}

// What a worker answers wrongly costs it its place, with a sentence and without a panic.
func TestRogueWorker(t *testing.T) {
	t.Parallel()
	plan := &load.Plan{Workload: *jobOn(t, newCommon(), time.Second).Workload}
	for name, of := range map[string]struct {
		answer func(o *order) *word
		want   string
	}{
		"garbage": {func(o *order) *word {
			return &word{Call: o.Call, Part: []byte{0xff, 0x00}, Last: true}
		}, "decode"},
		"a sample of another plan": {func(o *order) *word {
			raw, _ := encoding.Marshal(sampled{Sample: load.Sample{Clock: clockName}})
			return &word{Call: o.Call, Part: raw, Last: true}
		}, "a sample has counts of 0 and 0 subscriptions"},
		"an answer to nothing": {func(o *order) *word {
			return &word{Call: o.Call + 7, Last: true}
		}, "it answered order 8, which it was not given"},
		// Its announced length is refused, so how much larger it is does not matter.
		"a part that is too large": {func(o *order) *word {
			return &word{Call: o.Call, Part: make([]byte, 2*wireMost), Last: true}
		}, "larger than max"},
		"silence": {func(*order) *word { return nil }, "it was silent for"},
	} {
		t.Run(name, func(t *testing.T) {
			c := listen(t, 1)
			rogue(t, c, of.answer)
			r := newRemote(c.team()[0], 0, plan, clock.Precise())
			if _, err := r.Sample(true); err != nil {
				t.Errorf("a lost worker's sample: %v", err)
			}
			if err := r.err(); err == nil || !strings.Contains(err.Error(), of.want) {
				t.Errorf("%v, want %q", err, of.want)
			}
		})
	}
}

// Whatever comes over the wire is refused, or fits the plan and can be merged and judged.
func FuzzAnswers(f *testing.F) {
	plan := load.Plan{Workload: workloadOf(time.Second)}
	sample, _ := encoding.Marshal(sampled{Sample: load.Sample{Counters: load.Counters{
		ReceivedWithin: []int64{1, 2}, FreshAt: []int64{3, 4}}}})
	f.Add(sample)
	account, _ := encoding.Marshal(load.Account{})
	f.Add(account)
	f.Fuzz(func(_ *testing.T, b []byte) {
		var answer sampled
		before := load.Sample{Counters: load.Counters{
			ReceivedWithin: make([]int64, 2), FreshAt: make([]int64, 2)}}
		if decode(b, &answer) == nil && plan.CheckSample(&answer.Sample, &before, 0) == nil {
			_, _ = load.MergeSamples(answer.Sample, answer.Sample)
		}
		var a load.Account
		if decode(b, &a) == nil && plan.CheckAccount(&a) == nil {
			if merged, err := load.MergeAccounts(a, a); err == nil {
				plan.Judge(merged, load.Evidence{Passed: true})
			}
		}
		var asked Assignment
		if decode(b, &asked) == nil {
			_, _, _, _ = asked.read(system.NewRegistry())
		}
	})
}
