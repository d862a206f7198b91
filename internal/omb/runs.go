package omb

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Tool names OMB in imported runs.
const Tool = "OpenMessaging Benchmark"

// Known has values that result files may lack.
type Known struct {
	MessageBytes int64    // as the user says; 0: not known either
	Dialects     Dialects // of the systems whose drivers may have measured
}

// Save makes the run directory of a result, below root, and returns it. The run is named after
// the file of the result.
func Save(root, path string, r *Result, known Known, build result.Build,
	command []string) (dir string, err error) {
	run, intervals, histograms := r.run(filepath.Base(path), known)
	run.Plimsoll, run.Asked.Command = build, command
	run.State = result.Running
	w, err := result.Create(root, run)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			w.Discard()
		}
	}()
	for i, interval := range intervals {
		// Each histogram is of the whole run, so it is written once.
		var whole []result.Logged
		if i == len(intervals)-1 {
			whole = result.LoggedOf(histograms)
		}
		if err := w.Interval(interval, whole); err != nil {
			return "", err
		}
	}
	run.State = result.Complete
	if run.StateReason != "" {
		run.State = result.Failed
	}
	if err := w.Close(run); err != nil {
		return "", err
	}
	return w.Dir(), nil
}

// run returns the result as a run of plimsoll. A value that OMB did not record is zero.
func (r *Result) run(file string, known Known) (*result.Run, []result.Interval, []*hdr.Histogram) {
	name := plainName(strings.TrimSuffix(file, filepath.Ext(file)))
	bytes, toldBytes := r.MessageBytes, false
	if bytes == 0 && known.MessageBytes > 0 {
		bytes, toldBytes = known.MessageBytes, true
	}
	started := r.started(file)
	window := int64(float64(len(r.Publish)) * r.PeriodSeconds * 1e9)
	run := &result.Run{
		SchemaVersion: result.SchemaVersion, ID: "omb-" + name, Name: name, StartedAt: started,
		Load: result.Load{
			Workload: r.Workload, Model: "open", MessageBytes: bytes, Topics: int(
				r.Topics), Partitions: int(r.Partitions),
			Producers: int(r.Producers), Consumers: int(r.Consumers), WindowSeconds: float64(
				window) / 1e9, Segments: []result.Segment{},
		},
		System: result.System{Name: known.Dialects.systemName(r.Driver), Servers: []string{},
			Endpoints: []string{}},
		Settings: []result.Setting{}, Durability: result.Durability{Evidence: []result.Fact{}},
		Phases: []result.Phase{{Name: result.PhaseMeasure, EndNs: window}},
		Ledger: result.Ledger{Subscriptions: []result.SubscriptionLedger{}},
		Imported: &result.Import{Tool: Tool, File: file,
			Notes: r.notes(known.Dialects, toldBytes), Recorded: r.recorded()},
		StateReason: r.nothing(),
	}
	for _, n := range r.PollErrors {
		run.Imported.PollErrors += int64(max(n, 0))
	}
	if !started.IsZero() {
		run.EndedAt = started.Add(time.Duration(window))
	}
	histograms := r.summarize(run, window)
	return run, r.intervals(), histograms
}

// recorded returns the names of the figures that the file has, whose zeros are measurements.
func (r *Result) recorded() []string {
	names := []string{result.RecordedAcked}
	for _, f := range []struct {
		name   string
		values []float64
	}{{result.RecordedReceived, r.Consume}, {result.RecordedBacklog, r.Backlog},
		{result.RecordedRefused, r.Failures}} {
		if f.values != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// nothing says why a run in which no message was acknowledged has failed; empty: some were.
func (r *Result) nothing() string {
	switch {
	case averageOf(r.Publish) > 0:
		return ""
	case averageOf(r.Failures) > 0:
		return "every message was refused: " + Tool + " recorded none that was acknowledged"
	}
	if averageOf(r.Consume) > 0 {
		return Tool + " recorded no message that was acknowledged, so those that consumers " +
			"received are of before the run"
	}
	return Tool + " recorded no message that was acknowledged or received"
}

// summarize fills the run's summary and returns its histograms.
func (r *Result) summarize(run *result.Run, window int64) []*hdr.Histogram {
	s := &run.Summary
	s.WindowNs = window
	s.AchievedRate, s.ReceivedRate = averageOf(r.Publish), averageOf(r.Consume)
	s.BytesPerS = s.AchievedRate * float64(run.Load.MessageBytes)
	for _, b := range r.Backlog {
		if !math.IsNaN(b) {
			s.EndBacklog = max(int64(b), 0)
			s.MaxBacklog = max(s.MaxBacklog, int64(b))
		}
	}
	seconds := float64(window) / 1e9
	run.Counters.Failed = int64(math.Round(averageOf(r.Failures) * seconds))
	var histograms []*hdr.Histogram
	for _, part := range r.latencies(s.AchievedRate, s.ReceivedRate, s.AchievedRate) {
		count := int64(math.Round(part.of * seconds))
		h, clamped := part.series.histogram(count)
		s.Latency = append(s.Latency, part.series.latency(part.name, count, h, clamped))
		if h == nil {
			continue
		}
		h.SetTag(string(part.name))
		h.SetStartTimeMs(run.StartedAt.UnixMilli())
		h.SetEndTimeMs(run.StartedAt.UnixMilli() + window/1e6)
		histograms = append(histograms, h)
	}
	return histograms
}

// timed is a series of latencies, and the rate or the number of messages that it is of.
type timed struct {
	name   result.Series
	series Series
	of     float64
}

// latencies returns OMB's three series of latencies.
func (r *Result) latencies(sent, received, delayed float64) []timed {
	return []timed{{result.Send, r.Send, sent}, {result.EndToEnd, r.EndToEnd, received},
		{result.Lag, r.lag(), delayed}}
}

// lag is how long messages that were due had to wait, in either of the series that files have.
func (r *Result) lag() Series {
	if r.Delay.recorded() {
		return r.Delay
	}
	return r.Schedule
}

// intervals returns OMB's periods.
func (r *Result) intervals() []result.Interval {
	out := make([]result.Interval, len(r.Publish))
	at := func(values []float64, i int) float64 {
		if i >= len(values) || math.IsNaN(values[i]) {
			return 0
		}
		return values[i]
	}
	length := r.PeriodSeconds
	for i := range out {
		v := result.Interval{
			StartNs: int64(float64(i) * length * 1e9), EndNs: int64(
				float64(i+1) * length * 1e9), Phase: result.PhaseMeasure,
			Acked: int64(math.Round(at(r.Publish, i) * length)), Failed: int64(
				math.Round(at(r.Failures, i) * length)),
			Received: int64(math.Round(at(r.Consume, i) * length)), Backlog: int64(
				at(r.Backlog, i)),
		}
		v.Sent = v.Acked + v.Failed
		for _, part := range r.latencies(float64(v.Acked), float64(v.Received), float64(v.Sent)) {
			if l, some := periodLatency(part.name, part.series, i, int64(part.of)); some {
				v.Latency = append(v.Latency, l)
			}
		}
		out[i] = v
	}
	return out
}

// averageOf ignores values that are not numbers; of no values it is 0.
func averageOf(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(max(n, 1))
}

var stampInName = regexp.MustCompile(`\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2}`)

// started returns the time at which the run was written or began, as far as file or name give
// it.
func (r *Result) started(file string) time.Time {
	if t := moment(r.Begin); !t.IsZero() {
		return t
	}
	end := moment(r.End)
	// OMB names a file after the time at which the run ended.
	if t, err := time.Parse("2006-01-02-15-04-05",
		stampInName.FindString(file)); err == nil && end.IsZero() {
		end = t
	}
	if end.IsZero() {
		return end
	}
	return end.Add(-time.Duration(float64(len(r.Publish)) * r.PeriodSeconds * 1e9))
}

// moment reads the time of a file; zero: there is none.
func moment(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05",
		"2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// systemName returns plimsoll's name of the system, or else the driver's name.
func (all Dialects) systemName(driver string) string {
	for _, d := range all {
		if strings.EqualFold(driver, d.System) {
			return d.System
		}
	}
	return cmp.Or(strings.TrimSpace(driver), "unknown")
}

// notes returns the notes that a reader of the figures must know.
func (r *Result) notes(dialects Dialects, toldBytes bool) []string {
	notes := []string{
		Tool + " measured this and plimsoll only read its file: target rate, subscriptions, " +
			"durability, settings, versions and machines are not in it, no message was accounted " +
			"for, and what its own generator did to the figures is not known",
		"latency of sending runs from handing over to the acknowledgement: it leaves out how " +
			"long messages that were due had to wait, and so does the end-to-end latency",
		"the end-to-end latency leaves out every sample that was not above 0",
		fmt.Sprintf("the distributions are made from %s's percentiles, and their counts are rate "+
			"x time; periods are taken to be the intended %v s", "OMB", r.PeriodSeconds),
	}
	if r.MessageBytes == 0 {
		note := "the size of messages is not in the file, so there are no bytes per second"
		if toldBytes {
			note = "the size of messages is not in the file: it was given when the file was " +
				"imported"
		}
		notes = append(notes, note)
	}
	if !r.lag().recorded() {
		notes = append(notes, "how long messages that were due had to wait is not in the file")
	} else {
		notes = append(notes,
			"schedule lag is how long due messages had to wait, whether for the system or for the "+
				"generator")
	}
	if p99, both := r.Schedule.top(); both && r.Delay.recorded() {
		notes = append(notes, fmt.Sprintf("scheduleLatency, how late the generator itself was "+
			"with messages that were due, has a p99 of %s", quantity.Duration(p99)))
	}
	if n := len(r.Unread); n > 0 {
		notes = append(notes, fmt.Sprintf("the file has data that plimsoll does not read: %s",
			strings.Join(quoted(r.Unread), ", ")))
	}
	notes = append(append(notes, r.Doubts...), dialects.caveats(r)...)
	if r.wholeMilliseconds() {
		notes = append(notes, "the end-to-end latency has a resolution of 1 ms, by its values")
	}
	return notes
}

// top returns the 99th percentile of the whole run, by the distribution.
func (s Series) top() (ns int64, has bool) {
	for _, q := range s.Quantiles {
		if q.Percentile >= 99 {
			return nanoseconds(q.Ns), true
		}
	}
	return 0, false
}

// quoted prepares names of keys for a sentence, and shortens a long list.
func quoted(keys []string) []string {
	const most = 20
	var out []string
	for i, key := range keys {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(keys)-most))
		}
		if strict.IsText(key) && len(key) <= maxNameBytes {
			out = append(out, key)
		} else {
			out = append(out, fmt.Sprintf("%.40q", key))
		}
	}
	return out
}

// caveats returns the notes on the driver that a result names.
func (all Dialects) caveats(r *Result) []string {
	driver := strings.ToLower(r.Driver)
	var notes []string
	for _, d := range all {
		for _, c := range d.Caveats {
			if strings.Contains(driver, c.Driver) && (!c.Upstream || r.MessageBytes > 0) {
				notes = append(notes, c.Note)
			}
		}
	}
	return notes
}

// wholeMilliseconds reports whether the end-to-end latencies are whole
// milliseconds, as far as OMB's histogram keeps them apart.
func (r *Result) wholeMilliseconds() bool {
	seen := 0
	for _, q := range r.EndToEnd.Quantiles {
		const exact = 100 * millisecond // above it the histogram rounds
		if q.Ns > exact {
			break
		}
		if math.Mod(q.Ns, millisecond) != 0 {
			return false
		}
		seen++
	}
	return seen > 2
}
