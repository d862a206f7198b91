package metrics

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	// lingers is the time for which a run is shown after its end, so that every scraper sees its
	// account.
	lingers = 10 * time.Minute
	// mostRuns bounds the runs that are shown; plimsoll_runs_left_out counts the others.
	mostRuns = 50
	// mostScrapes bounds the scrapes at the same time; a further one is answered with 503.
	mostScrapes = 4
)

// Options say what a Collector shows.
type Options struct {
	Source Source
	// Only chooses among the runs; nil: all.
	Only func(*result.Run) bool
	// ClassicOnly leaves out the native histograms.
	ClassicOnly bool
}

// Collector shows runs as metrics. It is a prometheus.Collector.
type Collector struct {
	options Options
	now     func() time.Time

	mu   sync.Mutex
	runs map[string]*run // by directory
	past map[string]bool // directories of runs that are not shown any more
}

// NewCollector returns a collector that has read nothing yet.
func NewCollector(o Options) *Collector {
	return &Collector{options: o, now: time.Now, runs: map[string]*run{}, past: map[string]bool{}}
}

// Handler returns the page that Prometheus scrapes. It asks for no credential.
func Handler(o Options) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(o))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: mostScrapes,
		// A damaged run must not hide the others.
		ErrorHandling: promhttp.ContinueOnError,
	})
}

var labels = []string{"run", "target", "system", "workload", "level"}

func desc(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("plimsoll_"+name, help, append(more, labels...), nil)
}

var (
	publishDesc = desc("publish_latency_seconds", "Publish latency, from due to acknowledged, of "+
		"messages due in the measured window. Messages that were never answered are beyond all "+
		"bounds once the run has ended.")
	endToEndDesc = desc("end_to_end_latency_seconds", "End-to-end latency, from due to first "+
		"received, of messages due in the measured window. Messages that were never received are "+
		"beyond all bounds once the run has ended.")
	ofClass          = " The same of the messages of one class."
	classPublishDesc = desc("class_publish_latency_seconds", "Publish latency, from due to "+
		"acknowledged."+ofClass, "class")
	classEndToEndDesc = desc("class_end_to_end_latency_seconds", "End-to-end latency, from due to "+
		"first received."+ofClass, "class")
	eventsDesc = desc("messages_total", "Messages by what happened to them, warm-up and drain "+
		"included: scheduled, sent, acked, failed, received by all subscriptions.", "event")
	inFlightDesc = desc("in_flight_messages", "Messages handed over and not answered.")
	backlogDesc  = desc("backlog_messages", "Messages acknowledged and not received, summed over "+
		"subscriptions.")
	rateDesc = desc("target_rate_messages_per_second",
		"Rate that the workload asks for, a mean over the measured window.")
	accountDesc = desc("account_messages", "Account of a run that has ended: the messages of the "+
		"measured window by their one outcome, and what the comparison with the received ones "+
		"shows, summed over subscriptions.", "outcome")
	verdictDesc = desc("verdict", "1 for the outcome that a verdict of a run has: holds, broken "+
		"or unknown.", "verdict", "outcome")
	infoDesc = desc("run_info", "1, with the state and the phase of the run, and the version of "+
		"plimsoll.", "state", "phase", "plimsoll")
	startedDesc = desc("run_started_timestamp_seconds", "When the run started.")
	leftOutDesc = prometheus.NewDesc("plimsoll_runs_left_out",
		"Runs that are not shown, because there are too many or they cannot be read.", nil, nil)
)

// Describe sends the descriptions of all metrics.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{publishDesc, endToEndDesc, classPublishDesc,
		classEndToEndDesc, eventsDesc, inFlightDesc,
		backlogDesc, rateDesc, accountDesc, verdictDesc, infoDesc, startedDesc, leftOutDesc} {
		out <- d
	}
}

// Collect reads new lines of all runs, and sends their metrics.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	leftOut := 0
	for _, r := range c.runs {
		r.seen = false
	}
	gone := map[string]bool{} // those of past that still exist
	for _, f := range c.options.Source() {
		if c.past[f.Dir] {
			gone[f.Dir] = true
			continue
		}
		r, err := c.run(f)
		switch {
		case err != nil:
			leftOut++
		case r == nil:
			gone[f.Dir] = true
		case len(c.runs) > mostRuns:
			delete(c.runs, f.Dir)
			leftOut++
		default:
			r.seen = true
			c.send(out, f, r)
		}
	}
	for dir, r := range c.runs {
		if !r.seen {
			delete(c.runs, dir)
		}
	}
	c.past = gone
	out <- prometheus.MustNewConstMetric(leftOutDesc, prometheus.GaugeValue, float64(leftOut))
}

// run returns a run as it is now; nil when it is no longer shown.
func (c *Collector) run(f Found) (*run, error) {
	r := c.runs[f.Dir]
	if r == nil {
		// Its head is enough to decide whether it is shown.
		head, err := result.ReadHead(f.Dir)
		if err != nil || !c.shows(f, head) {
			return nil, err
		}
		r = newRun(f.Dir)
		c.runs[f.Dir] = r
	}
	if err := r.read(f.Dir); err != nil {
		return nil, err
	}
	if !c.shows(f, r.head) {
		return nil, nil
	}
	return r, nil
}

// shows reports whether a run is shown.
func (c *Collector) shows(f Found, head *result.Run) bool {
	if c.options.Only != nil && !c.options.Only(head) {
		return false
	}
	return head.State == result.Running ||
		c.now().Sub(endedAt(head, f.Dir)) < lingers
}

// send sends the metrics of a run.
func (c *Collector) send(out chan<- prometheus.Metric, f Found, r *run) {
	h := r.head
	s := sender{out: out, about: []string{f.Name, h.Name, h.System.Name, h.Load.Workload,
		strconv.Itoa(max(h.Durability.Level, 0))}}
	for series, t := range r.tallies {
		d, own := descOf(series)
		m, err := t.metric(d, r.missing(series), h.StartedAt, !c.options.ClassicOnly,
			s.labels(own))
		s.send(m, err, d)
	}
	for _, e := range r.events() {
		m, err := prometheus.NewConstMetricWithCreatedTimestamp(eventsDesc,
			prometheus.CounterValue, e.count, h.StartedAt, s.labels([]string{e.name})...)
		s.send(m, err, eventsDesc)
	}
	s.gauge(inFlightDesc, float64(r.last.InFlight))
	s.gauge(backlogDesc, float64(r.last.Backlog))
	if h.Load.TargetRate > 0 {
		s.gauge(rateDesc, h.Load.TargetRate)
	}
	s.gauge(infoDesc, 1, string(h.State), string(r.last.Phase), h.Plimsoll.Version)
	s.gauge(startedDesc, float64(h.StartedAt.UnixMilli())/1e3)
	if r.ended() {
		s.account(h)
	}
}

// descOf describes the latencies of a series, and returns the values of their own labels.
func descOf(series result.Series) (d *prometheus.Desc, own []string) {
	of, class := result.ClassOf(series)
	switch {
	case class == "" && of == result.Publish:
		return publishDesc, nil
	case class == "":
		return endToEndDesc, nil
	case of == result.Publish:
		return classPublishDesc, []string{class}
	}
	return classEndToEndDesc, []string{class}
}

// sender sends the metrics of one run.
type sender struct {
	out   chan<- prometheus.Metric
	about []string // values of labels
}

// labels returns the values of a metric's own labels and of those of the run.
func (s sender) labels(own []string) []string {
	all := append(slices.Clone(own), s.about...)
	for i := range all {
		all[i] = strings.ToValidUTF8(all[i], "?")
	}
	return all
}

func (s sender) send(m prometheus.Metric, err error, d *prometheus.Desc) {
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	s.out <- m
}

func (s sender) gauge(d *prometheus.Desc, v float64, own ...string) {
	m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, v, s.labels(own)...)
	s.send(m, err, d)
}

// account sends the account of a run that has ended.
func (s sender) account(r *result.Run) {
	for _, o := range outcomes(r) {
		s.gauge(accountDesc, o.count, o.name)
	}
	for _, v := range r.Verdicts {
		for _, outcome := range []string{result.Holds, result.Broken, result.Unknown} {
			is := 0.0
			if v.Outcome == outcome {
				is = 1
			}
			s.gauge(verdictDesc, is, v.Name, outcome)
		}
	}
}
