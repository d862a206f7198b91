package omb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
// An OMB file holds one run: several runs are an error.
func Write(w io.Writer, runs []*result.Saved) error {
	if len(runs) != 1 {
		return errors.New("an OMB result file holds one run: name one run directory")
	}
	o := object{}
	export(&o, runs[0])
	var b bytes.Buffer
	if err := json.Indent(&b, o.close(), "", "  "); err != nil {
		return fmt.Errorf("encode the OMB result: %w", err)
	}
	_, err := w.Write(append(b.Bytes(), '\n'))
	return err
}

func export(o *object, s *result.Saved) {
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
	periods := periodsOf(s)
	o.list("publishRate", false, periods,
		func(p *period) float64 { return float64(p.acked) / p.seconds })
	o.list("publishErrorRate", false, periods,
		func(p *period) float64 { return float64(p.failed) / p.seconds })
	o.list("consumeRate", false, periods,
		func(p *period) float64 { return float64(p.received) / p.seconds })
	o.list("backlog", true, periods, func(p *period) float64 { return float64(max(p.backlog, 0)) })
	for _, part := range []struct {
		name   string
		series result.Series
		unit   float64
		whole  bool // OMB writes whole numbers, but for the mean
	}{{sendName, result.Send, millisecond, false}, {delayName, result.Lag, microsecond, true},
		{endToEndName, result.EndToEnd, millisecond, false}} {
		for _, c := range columns {
			o.list(part.name+c.suffix, part.whole && c.suffix != "Avg", periods,
				func(p *period) float64 {
					return figure(p.latency(part.series), c) / part.unit
				})
		}
		total, summary := s.Total(part.series), r.Summary.Series(part.series)
		for _, c := range columns {
			v := figure(wholeLatency(summary, total), c) / part.unit
			if part.whole && c.suffix != "Avg" {
				v = math.Round(v)
			}
			o.number(aggregated(part.name)+c.suffix, v)
		}
		o.quantiles(aggregated(part.name)+"Quantiles", total, part.unit, part.whole)
		o.bounds("plimsoll"+strings.TrimPrefix(aggregated(part.name), "aggregated")+"Censored",
			summary, part.unit)
	}
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

// figure returns one of OMB's figures in nanoseconds in OMB's format, and 0 when nothing was
// recorded.
func figure(l result.Latency, c column) float64 {
	switch c.suffix {
	case "Avg":
		return l.MeanNs
	case "Max":
		return float64(l.MaxNs)
	}
	ns, _ := l.At(c.percentile)
	return float64(ns)
}

// period is one of OMB's periods.
type period struct {
	seconds                 float64
	acked, failed, received int64
	backlog                 int64
	histograms              map[result.Series]*hdr.Histogram
	printed                 []result.Latency // of an interval as long as a period
}

func (p *period) latency(series result.Series) result.Latency {
	if h := p.histograms[series]; h != nil {
		return figuresOf(h)
	}
	return result.Summary{Latency: p.printed}.Series(series)
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
				&period{histograms: map[result.Series]*hdr.Histogram{}}), append(ends, 0)
			begin = i.StartNs
		}
		p := out[len(out)-1]
		p.seconds += float64(i.EndNs-i.StartNs) / 1e9
		p.acked, p.failed, p.received, p.backlog = p.acked+i.Acked, p.failed+i.Failed,
			p.received+i.Received, i.Backlog
		p.printed = i.Latency
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

func (o *object) list(name string, whole bool, periods []*period, value func(*period) float64) {
	o.key(name)
	o.b.WriteByte('[')
	for i, p := range periods {
		if i > 0 {
			o.b.WriteByte(',')
		}
		o.b.WriteString(printed(value(p), whole))
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

// printed returns a number that JSON can hold: 0 in place of NaN and infinity.
func printed(v float64, whole bool) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	if whole {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
