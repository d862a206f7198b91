package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Strategy decides what an experiment measures. One goroutine calls its methods.
type Strategy interface {
	// Next returns the next measurement, or nil when the experiment has ended.
	Next() (*Measurement, error)
	// Take receives the outcome of the measurement that Next returned last, and saves it. An error
	// ends the experiment.
	Take(ctx context.Context, o Outcome) error
}

// Measurement is one run, or something else that takes a job.
type Measurement struct {
	// Job is the run to make. The loop sets its Runs and its Cluster.
	Job *bench.Job
	// Servers names the servers that successive measurements share; "": if its target has no
	// endpoints, the run starts its own servers.
	Servers string
	// Begin, if not nil, is called when the servers are ready.
	Begin func(job *bench.Job)
	// Do replaces the run; nil: the job is run and judged.
	Do func(ctx context.Context, job *bench.Job) Outcome
}

// Outcome is the outcome of a measurement.
type Outcome struct {
	// Dir is the directory of the run or of another measurement; "": none.
	Dir string
	// Run is the judged run; nil when there is none, or it cannot be read.
	Run         *result.Saved
	State       result.State // of the run or of another measurement
	StateReason string
	// Err says why the measurement failed. There may be a run nevertheless.
	Err    error
	TookNs int64 // without the start of shared servers
}

// Reason says why a measurement is not complete; "": it is complete.
func (o *Outcome) Reason() string {
	switch {
	case o.Err != nil:
		return o.Err.Error()
	case o.State == result.Complete:
		return ""
	}
	return cmp.Or(o.StateReason, "the measurement did not finish")
}

// Options describes how to run an experiment.
type Options struct {
	Dir   string // the experiment's folder
	Watch bench.Watch
	// Cluster, if set, serves all measurements that share servers, and stays up.
	Cluster *bench.Cluster
	// Renewals bounds how often the servers of one name are started again, because a
	// measurement failed on them.
	Renewals int
	// Ran, if not nil, is called with each run that did not fail.
	Ran func(run *result.Saved) error

	own bool // Dir has this experiment alone, and becomes the latest beside it
}

// run makes a strategy's measurements one by one, until the strategy has ended, ctx is cancelled,
// or an error occurs. Servers that it started are stopped at the end.
func run(ctx context.Context, s Strategy, o Options) (err error) {
	l := &loop{Options: o, renewed: map[string]int{}, broken: map[string]error{}}
	defer func() { err = errors.Join(err, l.end()) }()
	for ctx.Err() == nil {
		m, err := s.Next()
		if m == nil || err != nil {
			return err
		}
		outcome := l.measure(ctx, m)
		if o.own && outcome.Dir != "" && !l.shown {
			l.shown = true
			result.PointLatest(filepath.Dir(o.Dir), filepath.Base(o.Dir))
		}
		err = s.Take(ctx, outcome)
		// Strategies drop the error of a measurement that was interrupted.
		if ctx.Err() != nil {
			err = errors.Join(err, bench.LeftBy(outcome.Err))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loop is an experiment under way.
type loop struct {
	Options
	serves  string         // the name of the running servers
	cluster *bench.Cluster // the running servers; nil: none
	used    bool           // a measurement has used them
	shown   bool           // the folder has a run, so that latest points at it
	renewed map[string]int
	broken  map[string]error // servers that did not start
}

// measure makes a measurement. When it cannot begin on servers that an earlier measurement
// used, it is tried again on new ones.
func (l *loop) measure(ctx context.Context, m *Measurement) Outcome {
	used := l.used && l.serves == m.Servers
	o := l.once(ctx, m)
	if o.Err == nil || ctx.Err() != nil || m.Servers == "" {
		return o
	}
	again := used && o.Dir == ""
	renewed, err := l.renew()
	if err != nil {
		o.Err = errors.Join(o.Err, err)
		return o
	}
	if again && renewed {
		return l.once(ctx, m)
	}
	return o
}

func (l *loop) once(ctx context.Context, m *Measurement) Outcome {
	job := *m.Job
	job.Runs = l.Dir
	if m.Servers != "" {
		err := job.CheckShared()
		if err == nil {
			job.Cluster, err = l.serve(ctx, m)
		}
		if err != nil {
			return Outcome{Err: err}
		}
	}
	if m.Begin != nil {
		m.Begin(&job)
	}
	do := m.Do
	if do == nil {
		do = l.run
	}
	began := job.Clock.Now()
	o := do(ctx, &job)
	o.TookNs = job.Clock.Now() - began
	l.used = m.Servers != ""
	return o
}

// run runs a job and judges its run.
func (l *loop) run(ctx context.Context, job *bench.Job) Outcome {
	dir, err := bench.Run(ctx, job, l.Watch)
	if dir == "" {
		return Outcome{Err: err}
	}
	run, unread := verdict.Keep(dir)
	// A full disk causes both errors; the first one names the cause.
	o := Outcome{Dir: dir, Run: run, Err: cmp.Or(err, unread)}
	if run != nil {
		o.State, o.StateReason = run.Run.State, run.Run.StateReason
	}
	if o.Err == nil && l.Ran != nil {
		o.Err = l.Ran(run)
	}
	return o
}

// serve returns the servers of a measurement, and starts them if necessary.
func (l *loop) serve(ctx context.Context, m *Measurement) (*bench.Cluster, error) {
	if l.Cluster != nil {
		return l.Cluster, nil
	}
	if l.cluster != nil && l.serves == m.Servers {
		return l.cluster, nil
	}
	if err := l.broken[m.Servers]; err != nil {
		return nil, err
	}
	if err := l.end(); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-level-%d", m.Job.Target.Name, m.Job.Workload.Durability)
	cluster, err := bench.OpenCluster(ctx, m.Job,
		filepath.Join(l.Dir, result.LogsDir, result.NamePart(name)), l.Watch)
	if err != nil {
		if ctx.Err() == nil {
			l.broken[m.Servers] = err
		}
		return nil, err
	}
	l.serves, l.cluster, l.used = m.Servers, cluster, false
	job := *m.Job
	job.Cluster, job.Runs = cluster, l.Dir
	if err := bench.Warm(ctx, &job, l.Watch); err != nil {
		return nil, errors.Join(err, l.end())
	}
	return cluster, nil
}

// renew stops servers on which a measurement failed, because they may be damaged. The next
// measurement starts new ones. It reports whether it did so.
func (l *loop) renew() (bool, error) {
	if l.cluster == nil || l.renewed[l.serves] >= l.Renewals {
		return false, nil
	}
	l.renewed[l.serves]++
	return true, l.end()
}

// end stops the servers.
func (l *loop) end() error {
	cluster := l.cluster
	l.cluster, l.used = nil, false
	return cluster.Close()
}

// The number of readings of a run's window: enough for a narrow interval of the slope of waiting
// messages, and for the interval of a figure of a single run in internal/compare.
const (
	readings      = 20
	leastInterval = 100 * time.Millisecond
	mostInterval  = time.Second
)

// Interval returns the time between two readings of a run with a window.
func Interval(window time.Duration) time.Duration {
	return min(max(window/readings, leastInterval), mostInterval)
}
