package workload_test

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestBacklogDefaults(t *testing.T) {
	w, err := workload.Parse("w.yaml", []byte(
		"load: {rate: 10k/s}\nwarmup: 3s\nmessage: {size: 1KB}\nbacklog: {messages: 630k}\n"))
	if err != nil {
		t.Fatal(err)
	}
	// 600,000 messages are built after the warm-up: 60 s, slowly 90 s; then three
	// times 60 s to catch up, and 10 s.
	want := workload.Backlog{Messages: 630_000, Then: workload.BacklogDrain,
		Producers: workload.ProducersGoOn, Limit: 180 * time.Second, After: 10 * time.Second}
	if *w.Backlog != want {
		t.Errorf("%+v, want %+v", *w.Backlog, want)
	}
	if w.Duration != 280*time.Second || w.Load.Segments[0].For != w.Duration {
		t.Errorf("the window is %v, the load %v", w.Duration, w.Load.Segments[0].For)
	}
	if build := w.BacklogBuild(); build != time.Minute {
		t.Errorf("built in %v", build)
	}
	w.SetRate(20_000)
	if w.Duration != 28500*time.Millisecond*3/2+190*time.Second+250*time.Millisecond ||
		w.Validate() != nil {
		t.Errorf("at another rate the window is %v: %v", w.Duration, w.Validate())
	}
	if err := w.SetDuration(time.Minute); err == nil ||
		!strings.Contains(err.Error(), "change backlog in its file") {
		t.Errorf("a duration was set: %v", err)
	}
}

func TestBacklogIsReadBackAsPrinted(t *testing.T) {
	for _, src := range []string{"{size: 2GB, then: replay}",
		"{messages: 1M, limit: 90s, after: 0s}", "{for: 10m, then: drain}",
		"{size: 2GB, producers: stop}"} {
		w, err := workload.Parse("w.yaml", []byte("backlog: "+src+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := workload.Parse("again.yaml", []byte(w.YAML()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, w.YAML())
		}
		if *again.Backlog != *w.Backlog || again.Duration != w.Duration {
			t.Errorf("%s: %+v, printed and read %+v", src, *w.Backlog, *again.Backlog)
		}
	}
}

func TestBacklogRefusals(t *testing.T) {
	for src, want := range map[string]string{
		"duration: 20s\nbacklog: {size: 2GB}": "w.yaml:1:11: duration " +
			"cannot be combined with backlog",
		"backlog: {size: 2GB, for: 1m}": "backlog.for cannot be " +
			"combined with backlog.size",
		"backlog: {then: drain}": "backlog lacks its size",
		"backlog: {size: 0B}": "must have one of size, " +
			"messages and for above 0",
		"backlog: {size: 2GB, then: dran}": `did you mean "drain"`,
		"backlog: {size: 2GB}\nload: {closed: {}}": "cannot be combined with " +
			"load.closed",
		"backlog: {size: 2GB}\nload: {ramp: {from: 1k/s, to: 2k/s}}": "load.ramp cannot be " +
			"combined with backlog",
		"backlog: {size: 2GB}\nload: {steps: [{rate: 1k/s, for: 9s}, {rate: 2k/s, for: 9s}]}": "load.steps cannot be combined with backlog",
		"backlog: {size: 2GB}\nwarmup: auto":                                                  "warmup cannot be auto with a backlog",
		"backlog: {messages: 7k}\nwarmup: 3s":                                                 "of 7,000 messages is complete 500ms after the measured window begins",
		"backlog: {size: 1TB}\nload: {rate: 1/s}":                                             "may take longer than",
		"backlog: {size: 2GB, producers: rest}":                                               "backlog.producers must be go_on or stop",
		"backlog: {size: 2GB, producers: stop, after: 9s}": "backlog.after is the time after the " +
			"reading, and backlog.producers is stop",
		"backlog: {size: 2GB}\nsubscriptions: 0": "backlog needs consumers, and subscriptions is 0",
		"backlog: {size: 2GB, limit: 0s}":        "backlog.limit must be above 0s",
	} {
		_, err := workload.Parse("w.yaml", []byte(src+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\nwant %s", src, err, want)
		} else if n := strings.Count(err.Error(), "w.yaml:"); n > 1 {
			t.Errorf("%s is refused %d times:\n%v", src, n, err)
		}
	}
}
