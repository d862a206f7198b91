package omb

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// mostGB keeps the bytes of a backlog within 64 bits; a backlog that large is refused for its
// time.
const mostGB = 1 << 32

// backlogged reports whether the file asks for a backlog.
func (t *translation) backlogged() bool { return t.file.ConsumerBacklogSizeGB > 0 }

// backlog gives the workload the backlog that the file asks for. OMB reads during the warm-up,
// then pauses its consumers until they have to read consumerBacklogSizeGB together, and lets them
// read. Its run ends when they have read the backlog and the time of the test is over.
func (t *translation) backlog(w *workload.Workload) {
	if !t.backlogged() {
		return
	}
	subscriptions := max(t.file.SubscriptionsPerTopic, 1)
	b := workload.Backlog{
		Bytes: min(t.file.ConsumerBacklogSizeGB, mostGB) << 30 / subscriptions,
		Then:  workload.BacklogDrain,
	}
	w.Backlog = &b
	build := w.BacklogBuild()
	b.After = max(0, w.Duration-build).Truncate(time.Second)
	if t.file.ConsumerOnly {
		b.Producers, b.After = workload.ProducersStop, 0
		t.note("consumerOnly is backlog.producers: stop: the backlog is made first, and nothing " +
			"is produced while it is read")
	}
	w.SetBacklog(b)
	t.note("consumerBacklogSizeGB is a backlog of %s of messages: its consumers open when it is "+
		"complete, so the messages of the warm-up are part of it; OMB reads those before",
		quantity.Bytes(b.Bytes))
	if subscriptions > 1 {
		t.note("consumerBacklogSizeGB counts what %s subscriptions have to read, each message %s "+
			"times, as in OMB", quantity.Count(subscriptions), quantity.Count(subscriptions))
	}
	after := "the run ends when the backlog has been read"
	if w.Backlog.After > 0 {
		after = fmt.Sprintf("the run goes on for %s when the backlog has been read",
			quantity.Duration(int64(w.Backlog.After)))
	}
	t.note("testDurationMinutes is the least time of a run with a backlog: building the backlog "+
		"takes %s at producerRate, and %s",
		quantity.Duration(int64(build.Round(time.Second))), after)
	t.note("readers may take %s to catch up; OMB waits without a limit",
		quantity.Duration(int64(w.Backlog.Limit)))
	if t.doc.Has("backlogDrainRatio") {
		t.note("backlogDrainRatio has no effect: the backlog is read until its readers have " +
			"caught up with the producers")
	}
}

// refusePauses rejects pauses of the producers while a backlog is read.
func (t *translation) refusePauses() {
	if !t.backlogged() {
		return
	}
	for key, pause := range map[string]int64{
		"producerPauseBeforeDrain": t.file.PauseBeforeDrain,
		"producerPauseDuringDrain": t.file.PauseDuringDrain,
	} {
		if pause != 0 {
			t.doc.Reject(key, "pauses the producers for a time while the backlog is read: write "+
				"0, or consumerOnly: true to stop them until the end")
		}
	}
}

// refuseForEver rejects a run without an end.
func (t *translation) refuseForEver() {
	switch {
	case t.file.TestDurationMinutes != 0:
	case t.backlogged():
		t.doc.Reject("testDurationMinutes",
			"is 0 or absent, and OMB then runs for ever: write the least number of minutes of "+
				"the run")
	case !t.given.Duration && !t.given.Search:
		t.doc.Reject("testDurationMinutes",
			"is 0 or absent, and OMB then runs for ever: write the number of minutes to measure, "+
				"or give --duration")
	}
}
