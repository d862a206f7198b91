package driver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestReceiver(t *testing.T) {
	var got []string
	var failures []error
	r := Receiver{Options: system.ConsumerOptions{
		Receive: func(m system.Received) { got = append(got, string(m.Payload)) },
		Failed:  func(err error) { failures = append(failures, err) },
	}}
	if !r.Handle(system.Received{Payload: []byte("a")}) {
		t.Error("it did not hand a message over")
	}
	gone := errors.New("gone")
	r.Fail(gone)
	r.Fail(gone)
	if len(failures) != 1 || !errors.Is(failures[0], gone) {
		t.Errorf("reported %v", failures)
	}
	r.Stop()
	if r.Handle(system.Received{Payload: []byte("b")}) || len(got) != 1 {
		t.Errorf("it handed %v over", got)
	}
	closed := Receiver{Options: r.Options}
	closed.Stop()
	closed.Fail(gone)
	if len(failures) != 1 {
		t.Error("a consumer that was closed failed")
	}
	(&Receiver{}).Fail(gone) // Failed is nil: nothing happens
}

// End ends the loop, waits for it, and lets nothing more through.
func TestReceiversLoop(t *testing.T) {
	got := 0
	r := Receiver{Options: system.ConsumerOptions{Receive: func(system.Received) { got++ }}}
	r.Begin(func() {
		<-r.Life.Done()
		r.Handle(system.Received{}) // what was taken before is handled
	})
	if err := r.End(t.Context()); err != nil || got != 1 {
		t.Errorf("%v, %d messages", err, got)
	}
	if r.Handle(system.Received{}) {
		t.Error("it hands a message over after its end")
	}
}

func TestMade(t *testing.T) {
	var m Made
	calls := 0
	fails := errors.New("not yet")
	for _, want := range []error{fails, nil, nil} {
		err := m.Once(func() error { calls++; return want })
		if !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", calls, err, want)
		}
	}
	if calls != 2 {
		t.Errorf("made %d times, want until it succeeds", calls)
	}
}

func TestAwaitHandled(t *testing.T) {
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := AwaitHandled(ctx, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(ended)
	if err := AwaitHandled(t.Context(), ended); err != nil {
		t.Error(err)
	}
}

// Of 7 partitions and 3 consumers, two of them on this connection, each has 2 or 3.
func TestSharesOfSeveralConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares[string](system.ConsumerOptions{Topic: system.Topic{Partitions: 7}, Members: 3})
		s.Join("a")
		s.Join("b")
		s.Change("a", true, 0, 1, 2)
		s.Change("b", true, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.AwaitEven(ctx, time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), "2 of the 3 consumers") {
			t.Errorf("got %v", err)
		}
		s.Change("b", true, 4)
		if err := s.AwaitEven(t.Context(), time.Millisecond); err != nil {
			t.Error(err)
		}
	})
}

func TestSharesAreAwaitedUntilTheyAreEven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares[string](system.ConsumerOptions{Topic: system.Topic{Name: "t", Partitions: 3}})
		s.Join("a")
		s.Join("b")
		s.Change("a", true, 0, 1, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.AwaitEven(ctx, time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), "of 3 partitions 3 are with the 2 "+
			"consumers") {
			t.Errorf("got %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- s.AwaitEven(t.Context(), time.Millisecond) }()
		s.Change("a", false, 2)
		s.Change("b", true, 2, 2) // reported twice
		if err := <-done; err != nil || s.Of("a") != 2 || s.Of("b") != 1 {
			t.Errorf("%d and %d partitions, %v", s.Of("a"), s.Of("b"), err)
		}
		s.Leave("b")
		s.Change("b", true, 2)
		if s.Of("b") != 0 {
			t.Error("a consumer that left got a partition")
		}
	})
}

// A partition whose loss was not reported to one consumer belongs to the one that got it last.
func TestSharesCountAPartitionOnce(t *testing.T) {
	s := NewShares[string](system.ConsumerOptions{Topic: system.Topic{Partitions: 3}})
	s.Join("a")
	s.Join("b")
	s.Change("a", true, 0, 1, 2)
	s.Change("b", true, 2)
	if err := s.AwaitEven(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	s.Change("b", false, 2) // and then back to the one that never gave it up
	if s.Of("a") != 3 || s.Of("b") != 0 {
		t.Errorf("%d and %d partitions", s.Of("a"), s.Of("b"))
	}
}

func TestGroups(t *testing.T) {
	var g Groups[int]
	made := 0
	create := func() *int { made++; n := made; return &n }
	a, b := system.Topic{Name: "a"}, system.Topic{Name: "b"}
	one := g.Of(a, "s", create)
	if g.Of(a, "s", create) != one || g.Of(b, "s", create) == one || g.Of(a, "r", create) == one {
		t.Error("a group is not one subscription's")
	}
	if dropped := g.Drop(a); len(dropped) != 2 || len(g.Drop(a)) != 0 || len(g.Drop(a, b)) != 1 {
		t.Errorf("dropped %v", dropped)
	}
	if g.Of(a, "s", create) == one {
		t.Error("the group of a topic that was deleted is still there")
	}
}

func TestUntil(t *testing.T) {
	last, other := errors.New("not yet"), errors.New("other")
	for _, c := range []struct {
		name    string
		answers []error // the last one repeats
		want    error
		tries   int
	}{
		{"at once", []error{nil}, nil, 1},
		{"later", []error{last, last, nil}, nil, 3},
		{"refused", []error{last, other}, other, 2},
		{"never", []error{last}, last, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 95*time.Millisecond)
				defer cancel()
				tries := 0
				err := Until(ctx, 10*time.Millisecond, func() (bool, error) {
					answer := c.answers[min(tries, len(c.answers)-1)]
					tries++
					return answer == last, answer
				})
				if err != c.want || tries != c.tries {
					t.Errorf("%v after %d tries", err, tries)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	err := Until(ctx, time.Millisecond, func() (bool, error) {
		if tries++; tries == 2 {
			cancel()
			return true, ctx.Err()
		}
		return true, last
	})
	if err != last {
		t.Errorf("the try that was ended hides the reason: %v", err)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	plain := Peer{Endpoints: []string{"a:1", "b:2"}, Protocol: "Test"}
	encrypted := Peer{Endpoints: []string{"a:1"}, Protocol: "Test", Encrypted: true,
		Advertises: true}
	for _, c := range []struct {
		got  error
		says []string
	}{
		{plain.Explain(&net.DNSError{Name: "nowhere"}), []string{"no host nowhere", "endpoints: "}},
		{encrypted.Explain(&net.DNSError{Name: "nowhere"}), []string{"what the servers advertise"}},
		{plain.Explain(fmt.Errorf("dial: %w", syscall.ECONNREFUSED)),
			[]string{"nothing listens", "a:1, b:2"}},
		{plain.Explain(context.DeadlineExceeded), []string{"a:1, b:2 does not answer", "network"}},
		{encrypted.Explain(context.DeadlineExceeded), []string{"or a server that it advertises"}},
		{encrypted.Explain(x509.UnknownAuthorityError{}),
			[]string{"without a trusted signature", "tls.ca_file"}},
		{encrypted.Explain(x509.CertificateInvalidError{Cert: &x509.Certificate{}}),
			[]string{"tls.server_name"}},
		{encrypted.Explain(tls.AlertError(42)), []string{"tls.cert_file"}},
		{encrypted.Explain(tls.RecordHeaderError{}), []string{"remove tls"}},
		{encrypted.HungUp(io.EOF), []string{"remove tls"}},
		{plain.HungUp(io.EOF), []string{"not Test's", "give the target tls"}},
		{plain.RefusesLogin(io.EOF, " and mechanism"), []string{"credentials and mechanism"}},
	} {
		if c.got == nil {
			t.Errorf("%v is not explained", c.says)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(c.got.Error(), says) {
				t.Errorf("%q does not say %q", c.got, says)
			}
		}
	}
	if err := plain.Explain(io.ErrUnexpectedEOF); err != nil {
		t.Errorf("explained what it does not know: %v", err)
	}
}

func TestOutcome(t *testing.T) {
	refusal := errors.New("too large")
	err := Outcome(fmt.Errorf("send: %w", refusal), []error{refusal})
	if errors.Is(err, system.ErrUnknown) {
		t.Errorf("a refusal is unknown: %v", err)
	}
	err = Outcome(io.EOF, []error{refusal})
	if !errors.Is(err, system.ErrUnknown) || !errors.Is(err, io.EOF) {
		t.Errorf("a lost connection is a refusal: %v", err)
	}
}

func TestEndpoints(t *testing.T) {
	for _, c := range []struct{ endpoint, says string }{
		{"host:1", ""}, {"[::1]:9092", ""},
		{"me:secret@host:1", "credentials"}, {"host", "like b:1"}, {"host:", "like b:1"},
		{"a:1,b:2", "like b:1"}, {"tcp://a:1", "like b:1"},
	} {
		err := CheckEndpoints([]string{c.endpoint}, "b:1")
		switch {
		case c.says == "" && err != nil, c.says != "" && err == nil:
			t.Errorf("%s: %v", c.endpoint, err)
		case err == nil:
		case !strings.Contains(err.Error(), c.says), strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: %v", c.endpoint, err)
		}
	}
	if err := CheckEndpoints(nil, "b:1"); err != ErrNoEndpoints {
		t.Errorf("got %v", err)
	}
}

func TestReading(t *testing.T) {
	r := Reading{Level: workload.SyncSync}
	r.Add("n1", "sync", "always", "asked")
	if e := r.Evidence(); e.Level != workload.SyncSync || len(e.Facts) != 1 {
		t.Errorf("%+v", e)
	}
	err := r.Contradicts("sync=always", "n1 has sync=%s: %w", "never", io.EOF)
	if err.Error() != "durability level 1 asks for sync=always, and n1 has sync=never: EOF" ||
		!errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for replicas, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3} {
		if got := Majority(replicas); got != want {
			t.Errorf("of %d replicas %d are a majority", replicas, got)
		}
	}
	given := system.Description{Levels: map[workload.Level]system.Guarantee{
		workload.AsyncAsync: {How: "somehow"}}}
	if CheckLevel(given, 0) == nil || CheckLevel(given, 5) == nil ||
		CheckLevel(given, 3) == nil || CheckLevel(given, 4) != nil {
		t.Error("the levels are 1 to 4")
	}
}
