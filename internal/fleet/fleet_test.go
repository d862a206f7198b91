package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/target"
)

// Any number of workers offers the same messages as one process, and the account is the same, with
// losses and copies planted.
func TestManyWorkersGiveOneAccount(t *testing.T) {
	t.Parallel()
	planted := []target.Setting{
		{Name: "lose_per_million", Value: "5000"}, {Name: "duplicate_per_million", Value: "5000"},
	}
	of := newCommon()
	alone, err := ran(t, jobOn(t, of, time.Second, planted...))
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3, 7} {
		of := newCommon()
		c, all := fleetOf(t, of, workers)
		job := jobOn(t, of, time.Second, planted...)
		job.Crew = c
		got, err := ran(t, job)
		if err != nil {
			t.Fatal(err)
		}
		same(t, workers, &got.Run, &alone.Run)
		if n := len(got.Run.Workers); n != workers {
			t.Errorf("%d workers: the result names %d", workers, n)
		}
		var scheduled int64
		for _, w := range got.Run.Workers {
			scheduled += w.Scheduled
			if w.Lost != "" || !w.SameClock {
				t.Errorf("%+v", w)
			}
		}
		if scheduled != got.Run.Counters.Scheduled {
			t.Errorf("%d workers scheduled %d of %d", workers, scheduled,
				got.Run.Counters.Scheduled)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for _, h := range all {
			if err := <-h.ended; err != nil {
				t.Errorf("a worker whose fleet ended: %v", err)
			}
		}
	}
}

// same holds that two runs counted the same messages.
func same(t *testing.T, workers int, got, want *result.Run) {
	t.Helper()
	if got.Counters != want.Counters {
		t.Errorf("%d workers counted %+v, one process %+v", workers, got.Counters, want.Counters)
	}
	for i, l := range got.Ledger.Subscriptions {
		w := want.Ledger.Subscriptions[i]
		// A lane's last messages are unread if they are missing: no later one shows them lost.
		if l.Lost == 0 || l.Lost+l.Unread != w.Lost+w.Unread || l.Duplicate != w.Duplicate ||
			l.Acked != w.Acked || l.Received != w.Received {
			t.Errorf("%d workers: %+v, one process: %+v", workers, l, w)
		}
	}
}

// A fleet measures one run after another.
func TestRunAfterRun(t *testing.T) {
	t.Parallel()
	of := newCommon()
	c, _ := fleetOf(t, of, 2)
	for range 2 {
		job := jobOn(t, of, time.Second/2)
		job.Crew = c
		if _, err := ran(t, job); err != nil {
			t.Fatal(err)
		}
	}
}

// A worker that is gone ends the run, which is marked and can be read; the others end their load
// and stay for the next run, which is refused.
func TestLostWorker(t *testing.T) {
	t.Parallel()
	of := newCommon()
	c, all := fleetOf(t, of, 3)
	job := jobOn(t, of, time.Minute)
	job.Crew = c
	time.AfterFunc(3*time.Second, all[1].leave)
	began := time.Now()
	got, err := ran(t, job)
	if !errors.Is(err, ErrLost) && (err == nil || !strings.Contains(err.Error(), "w1")) {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the run went on for %s", took)
	}
	r := &got.Run
	if r.State != result.Failed || !strings.Contains(r.StateReason, "the worker is lost: w1") {
		t.Errorf("state %s: %s", r.State, r.StateReason)
	}
	if r.Ledger.Accounted || r.Counters.Acked == 0 {
		t.Errorf("accounted %t, %d acknowledged", r.Ledger.Accounted, r.Counters.Acked)
	}
	if len(r.Workers) != 3 || r.Workers[1].Lost == "" || r.Workers[0].Lost != "" {
		t.Errorf("%+v", r.Workers)
	}
}

// The load ends when the coordinator is gone, and the worker says so.
func TestLostCoordinator(t *testing.T) {
	t.Parallel()
	of := newCommon()
	c, all := fleetOf(t, of, 2)
	job := jobOn(t, of, time.Minute)
	job.Crew = c
	time.AfterFunc(2*time.Second, func() { _ = c.Close() })
	got, err := ran(t, job)
	if err == nil || got.Run.State != result.Failed {
		t.Errorf("state %s, %v", got.Run.State, err)
	}
	for _, h := range all {
		select {
		case err := <-h.ended:
			if err == nil || !strings.Contains(err.Error(), "the coordinator is gone") {
				t.Errorf("the worker says %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a worker goes on without its coordinator")
		}
	}
}

// A worker that is lost while others are awaited ends the wait.
func TestLostWhileOthersAreAwaited(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	c, err := Listen(Options{Address: "127.0.0.1:0", Workers: 2, Version: version,
		Clock: clock.Precise(), Joined: func(string, string) { close(arrived) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	h := hire(t, c, newCommon(), "early")
	<-arrived
	time.AfterFunc(100*time.Millisecond, h.leave)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Await(ctx); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "early") {
		t.Error(err)
	}
}

// Workers that do not come are named.
func TestMissingWorkers(t *testing.T) {
	t.Parallel()
	c := listen(t, 0, "east", "west")
	hire(t, c, newCommon(), "west")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := c.Await(ctx)
	if err == nil || !strings.Contains(err.Error(), "these have not joined: east:") {
		t.Error(err)
	}
}
