package omb

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Write writes a run as an OMB result file, with all of OMB's keys, its units, and its periods
// of 10 seconds. It merges the histograms of the intervals, because percentiles cannot be
// merged. publishLatency is the latency from the hand-over (send), and publishDelayLatency is
// the schedule lag, as in OMB. No key of OMB has the latency from the due time. OMB's percentiles
// exclude messages without a latency; if there are any, keys of plimsoll's own have the
// percentiles that include them.
//
// A figure that is not known is left out: its key is absent or, where it is known of other periods,
// its place in the list is null. A 0 would be read as a measurement.
//
// An OMB file holds one run: several runs are an error, and so is a run that measured nothing.
func Write(w io.Writer, runs []*result.Saved) error {
	if len(runs) != 1 {
		return errors.New("an OMB result file holds one run: name one run directory")
	}
	periods := periodsOf(runs[0])
	if err := nothingToWrite(runs[0], periods); err != nil {
		return err
	}
	o := object{}
	export(&o, runs[0], periods)
	var b bytes.Buffer
	if err := json.Indent(&b, o.close(), "", "  "); err != nil {
		return fmt.Errorf("encode the OMB result: %w", err)
	}
	_, err := w.Write(append(b.Bytes(), '\n'))
	return err
}

// nothingToWrite returns the sentence on a run without a period: all of OMB's figures are of
// periods.
func nothingToWrite(s *result.Saved, periods []*period) error {
	ended := slices.Contains([]result.State{result.Complete, result.Interrupted, result.Failed},
		s.Run.State)
	name := cmp.Or(s.Dir, s.Run.ID)
	switch {
	case len(periods) > 0:
		return nil
	case len(s.Damage) > 0 && len(s.Intervals) == 0:
		return fmt.Errorf("%s has no interval that can be read (%s), and an OMB result is made of "+
			"them: name another run", name, s.Damage[0])
	case ended || len(s.Intervals) > 0:
		return fmt.Errorf("%s measured nothing: it ended before its measured window began: name "+
			"another run", name)
	}
	return nil
}

func export(o *object, s *result.Saved, periods []*period) {
	r, l := &s.Run, s.Run.Load
	o.text("workload", l.Workload)
	o.text("driver", r.System.Name)
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"messageSize", l.MessageBytes}, {"topics", int64(l.Topics)},
		{"partitions", int64(l.Partitions)},
		{"producersPerTopic", int64(l.Producers)}, {"consumersPerTopic", int64(l.Consumers)},
	} {
		// A run of another tool may not have this value.
		if n.value > 0 {
			o.whole(n.key, float64(n.value))
		}
	}
	knows := func(figure string) bool { return r.Imported == nil || r.Imported.Knows(figure) }
	for _, f := range []struct {
		key, figure string
		whole       bool
		of          func(*period) float64
	}{
		{"publishRate", result.RecordedAcked, false,
			func(p *period) float64 { return float64(p.acked) / p.seconds }},
		{"publishErrorRate", result.RecordedRefused, false,
			func(p *period) float64 { return float64(p.failed) / p.seconds }},
		{"consumeRate", result.RecordedReceived, false,
			func(p *period) float64 { return float64(p.received) / p.seconds }},
		{"backlog", result.RecordedBacklog, true,
			func(p *period) float64 { return float64(max(p.backlog, 0)) }},
	} {
		values := make([]float64, len(periods))
		known := knows(f.figure)
		for i, p := range periods {
			values[i] = f.of(p)
			// Imports of earlier versions have the figures, and do not say so.
			known = known || values[i] != 0
		}
		if known {
			o.list(f.key, f.whole, values)
		}
	}
	for _, part := range []latencyPart{{sendName, result.Send, millisecond, false},
		{delayName, result.Lag, microsecond, true},
		{endToEndName, result.EndToEnd, millisecond, false}} {
		part.export(o, s, periods)
	}
}

// latencyPart is a latency series of a result file.
type latencyPart struct {
	name   string
	series result.Series
	unit   float64
	whole  bool // OMB writes whole numbers, but for the mean
}

func (part latencyPart) export(o *object, s *result.Saved, periods []*period) {
	for _, c := range columns {
		values, some := make([]float64, len(periods)), false
		for i, p := range periods {
			v, known := figure(p.latency(part.series), c)
			if values[i] = math.NaN(); known {
				values[i], some = v/part.unit, true
			}
		}
		if some {
			o.list(part.name+c.suffix, part.whole && c.suffix != "Avg", values)
		}
	}
	total, summary := s.Total(part.series), s.Run.Summary.Series(part.series)
	if total != nil && (total.TotalCount() == 0 || total.TotalCount() < summary.Count) {
		total = nil // a part of it was lost, and with it the distribution
	}
	all := wholeLatency(summary, total)
	for _, c := range columns {
		v, known := figure(all, c)
		if !known {
			continue
		}
		v /= part.unit
		if part.whole && c.suffix != "Avg" {
			v = math.Round(v)
		}
		o.number(aggregated(part.name)+c.suffix, v)
	}
	if total != nil {
		o.quantiles(aggregated(part.name)+"Quantiles", total, part.unit, part.whole)
	}
	o.bounds("plimsoll"+strings.TrimPrefix(aggregated(part.name), "aggregated")+"Censored",
		summary, part.unit)
}

// bounds writes the percentiles of a series that include the messages without a latency, which
// OMB's keys do not. Each has the suffix of OMB's key, the value and its bound, which is
// not_reached if there is no value.
func (o *object) bounds(name string, l result.Latency, unit float64) {
	if l.Missing.Total() == 0 {
		return
	}
	in := object{}
	in.whole("missing", float64(l.Missing.Total()))
	for _, c := range columns {
		p, has := l.Point(c.percentile)
		if !has {
			continue
		}
		if p.Bound != result.NotReached {
			in.number(c.suffix, float64(p.LatencyNs)/unit)
		}
		if p.Bound != result.Exact {
			in.text(c.suffix+"Bound", string(p.Bound))
		}
	}
	o.key(name)
	o.b.Write(in.close())
}

// wholeLatency returns a series of the whole run with all of OMB's percentiles, also those that
// the number of samples does not support, because OMB prints them.
func wholeLatency(summary result.Latency, total *hdr.Histogram) result.Latency {
	like := summary
	if summary.Missing.Total() > 0 {
		// OMB's percentiles are those of the answered messages.
		like.Percentiles = summary.Answered
	}
	if total == nil {
		return like
	}
	out := figuresOf(total)
	for i, p := range out.Percentiles {
		if ns, has := like.At(p.Percentile); has {
			out.Percentiles[i].LatencyNs = ns
		}
	}
	if summary.Count > 0 {
		out.MeanNs, out.MaxNs = summary.MeanNs, summary.MaxNs
	}
	return out
}

// figuresOf returns OMB's figures of a histogram.
func figuresOf(h *hdr.Histogram) result.Latency {
	l := result.Latency{Count: h.TotalCount(), MeanNs: h.Mean(), MaxNs: h.Max()}
	for _, c := range columns {
		if c.suffix != "Avg" && c.suffix != "Max" {
			l.Percentiles = append(l.Percentiles,
				result.Percentile{Percentile: c.percentile,
					LatencyNs: h.ValueAtPercentile(c.percentile)})
		}
	}
	return l
}

// figure returns one of OMB's figures in nanoseconds, and whether it is known. A series of another
// tool may have only some of them: a mean or a greatest latency of 0 beside one that is above 0 was
// not recorded.
func figure(l result.Latency, c column) (ns float64, known bool) {
	most := float64(l.MaxNs)
	for _, p := range l.Percentiles {
		most = max(most, float64(p.LatencyNs))
	}
	switch {
	case l.Count == 0:
		return 0, false
	case c.suffix == "Avg":
		return l.MeanNs, l.MeanNs > 0 || most == 0
	case c.suffix == "Max":
		return float64(l.MaxNs), l.MaxNs > 0 || most == 0 && l.MeanNs == 0
	}
	at, known := l.At(c.percentile)
	if l.MaxNs > 0 { // a histogram rounds up, also above the greatest latency
		at = min(at, l.MaxNs)
	}
	return float64(at), known
}

// period is one of OMB's periods.
type period struct {
	seconds                 float64
	acked, failed, received int64
	backlog                 int64
	damaged                 bool // a part of the run cannot be read
	histograms              map[result.Series]*hdr.Histogram
	printed                 []result.Latency // of each interval
}

// latency returns the figures of a series: those of the histogram if it has all that the intervals
// counted. Otherwise they are the intervals' own, of which percentiles cannot be merged.
func (p *period) latency(series result.Series) result.Latency {
	var own []result.Latency
	sum := result.Latency{Series: series}
	for _, l := range p.printed {
		if l.Series != series || l.Count == 0 {
			continue
		}
		own = append(own, l)
		sum.MeanNs += l.MeanNs * float64(l.Count)
		sum.Count, sum.MaxNs = sum.Count+l.Count, max(sum.MaxNs, l.MaxNs)
	}
	sum.MeanNs /= float64(max(sum.Count, 1))
	h := p.histograms[series]
	switch {
	case h != nil && h.TotalCount() > 0 && (!p.damaged || h.TotalCount() >= sum.Count):
		return figuresOf(h)
	case len(own) == 1:
		if own[0].Missing.Total() > 0 {
			own[0].Percentiles = own[0].Answered
		}
		return own[0]
	}
	return sum
}

// periodsOf groups the intervals of the measured window into periods. The last period may be
// shorter.
func periodsOf(s *result.Saved) []*period {
	const length = defaultPeriod * int64(1e9)
	var out []*period
	var ends []int64 // of each period
	begin := int64(0)
	for _, i := range s.Intervals {
		if i.Phase != result.PhaseMeasure || i.EndNs <= i.StartNs {
			continue
		}
		// An interval belongs to the period of its middle.
		if n := len(out); n == 0 || i.StartNs/2+i.EndNs/2 >= begin+length {
			out, ends = append(out,
				&period{histograms: map[result.Series]*hdr.Histogram{},
					damaged: len(s.Damage) > 0}), append(ends, 0)
			begin = i.StartNs
		}
		p := out[len(out)-1]
		p.seconds += float64(i.EndNs-i.StartNs) / 1e9
		p.acked, p.failed, p.received, p.backlog = p.acked+i.Acked, p.failed+i.Failed,
			p.received+i.Received, i.Backlog
		p.printed = append(p.printed, i.Latency...)
		ends[len(ends)-1] = i.EndNs
	}
	fill(out, ends, s)
	return out
}

// fill merges each interval's histograms into those of its period. It leaves out histograms of
// several periods, which imported runs have.
func fill(periods []*period, ends []int64, s *result.Saved) {
	// Times in the log of histograms are cut to milliseconds.
	const slack = int64(1e6)
	n := 0
	for _, l := range s.Latency {
		if l.Warmup || l.EndNs-l.StartNs > 2*defaultPeriod*int64(1e9) {
			continue
		}
		middle := l.StartNs/2 + l.EndNs/2
		for n > 0 && middle < ends[n-1] {
			n--
		}
		for n < len(ends) && middle >= ends[n] {
			n++
		}
		if n == len(ends) {
			continue // of the drain
		}
		if p := periods[n]; middle >= ends[n]-int64(p.seconds*1e9)-slack {
			if p.histograms[l.Series] == nil {
				p.histograms[l.Series] = result.NewLike(l.Histogram)
			}
			l.Histogram.MergeInto(p.histograms[l.Series])
		}
	}
}

// object is a JSON object whose keys keep their order.
type object struct{ b bytes.Buffer }

func (o *object) key(name string) {
	if o.b.Len() == 0 {
		o.b.WriteByte('{')
	} else {
		o.b.WriteByte(',')
	}
	o.b.WriteString(strconv.Quote(name) + ":")
}

func (o *object) text(name, value string) {
	o.key(name)
	raw, _ := json.Marshal(value) // a string always encodes
	o.b.Write(raw)
}

func (o *object) number(name string, v float64) {
	o.key(name)
	o.b.WriteString(printed(v, false))
}

func (o *object) whole(name string, v float64) {
	o.key(name)
	o.b.WriteString(printed(v, true))
}

func (o *object) list(name string, whole bool, values []float64) {
	o.key(name)
	o.b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			o.b.WriteByte(',')
		}
		o.b.WriteString(printed(v, whole))
	}
	o.b.WriteByte(']')
}

// quantiles writes a distribution as OMB does. Each step is a hundredth of the distance to the
// next halving of the rest, with the share of all values that are at most this long, in the
// order of the percentiles.
func (o *object) quantiles(name string, h *hdr.Histogram, unit float64, whole bool) {
	o.key(name)
	o.b.WriteByte('{')
	if h != nil && h.TotalCount() > 0 {
		last := ""
		for i, at := range h.CumulativeDistributionWithTicks(100) {
			percentile := strconv.FormatFloat(100*float64(at.Count)/float64(h.TotalCount()), 'g',
				-1, 64)
			if percentile == last {
				continue
			}
			if last = percentile; i > 0 {
				o.b.WriteByte(',')
			}
			o.b.WriteString(strconv.Quote(percentile) + ":" +
				printed(float64(at.ValueAt)/unit, whole))
		}
	}
	o.b.WriteByte('}')
}

func (o *object) close() []byte {
	o.b.WriteByte('}')
	return o.b.Bytes()
}

// printed returns a number that JSON can hold: null in place of NaN and infinity, which is how a
// value that is not known is read.
func printed(v float64, whole bool) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "null"
	}
	if whole {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
