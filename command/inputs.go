package command

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// inputs are the flags for the workload and the targets.
type inputs struct {
	Workload string   `short:"w" default:"${default_workload}" placeholder:"NAME|FILE" help:"The load to offer: a built-in workload (plimsoll workloads), a YAML file, or a workload file of the OpenMessaging Benchmark."`
	Target   []string `short:"t" sep:"none" placeholder:"NAME|FILE" help:"The target of the load: a system or one of its targets (plimsoll systems), or a YAML file; repeat it to measure several in turn; all: every built-in target whose servers plimsoll can start. Default: ${default_target}."`

	Nodes      *int    `placeholder:"3" help:"Number of servers to start, instead of the target's."`
	Durability *int    `placeholder:"1-4" help:"Durability level, instead of the workload's: 1 replicated and synced, 2 replicated, 3 synced on one, 4 received by one."`
	Clients    *string `placeholder:"AIM" help:"Aim of the clients' settings, instead of the workload's: default, latency (no client waits for more messages) or throughput (up to 20ms); a target's own settings win."`
	Rate       *string `placeholder:"10k/s" help:"Constant rate over all producers, instead of the workload's."`
	Duration   *string `placeholder:"20s" help:"Length of the measured window, instead of the workload's."`
	Warmup     *string `placeholder:"3s|auto" help:"Length of the warm-up, instead of the workload's; auto: until the system is steady."`
	Seed       *uint64 `placeholder:"N" help:"Seed of all random choices, instead of the workload's."`
	keyFlags

	MaxCost float64 `name:"max-cost" placeholder:"USD" help:"The most that the requests of each run may cost, where the provider charges for them: a run that is estimated at more is refused, and one that reaches it stops sending."`

	elsewhere int  // machines that share the load; 0: this one has all of it
	onHosts   int  // machines that servers start on; 0: this one
	search    bool // the workload is for a search, which finds the rate

	source string   // the workload as it was read
	text   string   // its YAML, with the keys that flags set
	notes  []string // what plimsoll assumes about a workload of the OpenMessaging Benchmark

	onlyAble bool              // targets that cannot carry the workload are left out
	leftOut  []string          // those, and why
	named    map[string]string // the words that name targets in -t, by the targets' names

	Fault []string `sep:"none" placeholder:"FAULT" help:"A fault to inject while load is offered, instead of the workload's faults: 'kill leader at 20s for 10s'; repeat it for several."`
}

// jobs turns the flags into checked jobs, one for each target. With weaker, a target that
// cannot give the durability level gets the next weaker level that it can give.
func (in *inputs) jobs(runs string, weaker bool) ([]*bench.Job, error) {
	w, err := in.workload()
	if err != nil {
		return nil, err
	}
	var jobs []*bench.Job
	set := experiment.NewSet()
	in.named = map[string]string{}
	for _, name := range targetNames(in.Target) {
		t, targetSource, err := in.find(name)
		if err != nil {
			return nil, err
		}
		job, err := uncheckedJob(w, t, runs)
		why := ""
		if err == nil {
			job.Workers, job.OnHosts = in.elsewhere, in.onHosts
			if weaker {
				job.Workload, why = strongest(job)
			}
			err = job.Check()
		}
		if err != nil && job != nil && in.onlyAble {
			in.leftOut = append(in.leftOut, name+": "+reason(err))
			continue
		}
		if err == nil {
			err = in.limit(job)
		}
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", name, builtIn(name, err))
		}
		if _, is := in.named[t.Name]; is {
			return nil, fmt.Errorf("two targets have the name %s, and results could not tell them "+
				"apart: name it once, or give one of them another name in its file", t.Name)
		}
		in.named[t.Name] = name
		job.Asked = result.Asked{Command: os.Args, Workload: in.source, Target: targetSource,
			Set: set, Notes: in.notes, Weaker: why}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// builtIn returns an error without its places in the file of a built-in target, which the user does
// not have.
func builtIn(name string, err error) error {
	all, is := errors.AsType[strict.Violations](err)
	if !is || strict.IsPath(name) || slices.ContainsFunc(all,
		func(v strict.Violation) bool { return v.File != name+".yaml" }) {
		return err
	}
	return errors.New(reason(err))
}

// limit limits the cost of the requests of a job's run. It refuses a run whose estimate is higher.
func (in *inputs) limit(job *bench.Job) error {
	if in.MaxCost < 0 {
		return errors.New("--max-cost: an amount in USD is positive")
	}
	job.MaxUSD = in.MaxCost
	return job.CheckBill()
}

// workload reads the workload and returns it with the values of the flags.
func (in *inputs) workload() (*workload.Workload, error) {
	w, err := in.read()
	if err != nil {
		return nil, err
	}
	in.text = in.source
	if omb.IsWorkload([]byte(in.source)) {
		in.text = w.YAML()
	}
	if given := in.settings(); len(given) > 0 {
		w, in.text, err = in.set(in.text, given)
	}
	if err == nil {
		err = in.override(w)
	}
	return w, err
}

// read reads the workload.
func (in *inputs) read() (w *workload.Workload, err error) {
	if slices.Contains(workload.Names(), in.Workload) || !strict.IsPath(in.Workload) {
		w, in.source, err = workload.Find(in.Workload)
		return w, err
	}
	// The file is read once, because it may be a pipe.
	src, err := strict.ReadFile(in.Workload)
	in.source = string(src)
	switch {
	case err != nil:
		return nil, fmt.Errorf("workload file %w", err)
	case omb.IsWorkload(src):
		w, in.notes, err = omb.ParseWorkload(in.Workload, src,
			omb.Given{Rate: in.Rate != nil, Duration: in.Duration != nil, Search: in.search})
	default:
		w, err = workload.Parse(in.Workload, src)
	}
	return w, otherKind("-w", in.Workload, err)
}

// find returns the target that a -t names, with the number of servers that a flag gives, and its
// source.
func (in *inputs) find(name string) (*target.Target, string, error) {
	t, source, err := findTarget(name)
	if err != nil || in.Nodes == nil {
		return t, source, err
	}
	s, err := systems.Registry().Get(t.System)
	if err == nil && system.RunsElsewhere(s, t) {
		err = errors.New("its servers run already: leave --nodes out")
	}
	if err == nil {
		t.Testbed.Nodes = *in.Nodes
		err = t.Validate()
	}
	if err != nil {
		return nil, "", fmt.Errorf("target %s: --nodes: %w", name, builtIn(name, err))
	}
	return t, source, nil
}

// findTarget returns the target that a -t names, and its source.
func findTarget(name string) (*target.Target, string, error) {
	t, source, err := systems.FindTarget(name)
	if several := strings.Split(name, ","); err != nil && len(several) > 1 && !strict.IsPath(name) {
		return nil, "", fmt.Errorf("-t names one target, and is repeated for several: -t %s",
			strings.Join(several, " -t "))
	}
	return t, source, otherKind("-t", name, err)
}

// tellBills prints the estimated cost of runs, if a provider charges for requests.
func tellBills(con console, jobs []*bench.Job) {
	for _, job := range jobs {
		if sentence := billOf(job); sentence != "" {
			fmt.Fprintf(con.err, "%s costs %s\n", job.Target.Name, sentence)
		}
	}
}

// billOf returns the estimated cost of a run as text; empty: none.
func billOf(job *bench.Job) string {
	b, charged := job.EstimateBill()
	if !charged {
		return ""
	}
	return fmt.Sprintf("about %s for %s requests: %s", result.Dollars(b.USD),
		quantity.Count(b.Requests), b.Price)
}

// override applies the flags to the workload.
func (in *inputs) override(w *workload.Workload) error {
	if in.Durability != nil {
		w.Durability = workload.Level(*in.Durability)
	}
	if in.Clients != nil {
		w.Clients = workload.Clients(*in.Clients)
	}
	if in.Seed != nil {
		w.Seed = *in.Seed
	}
	// The rate comes first: it replaces steps, whose length cannot be set, by a constant rate.
	if in.Rate != nil {
		rate, err := quantity.ParseRate(*in.Rate)
		if err != nil {
			return fmt.Errorf("--rate: %w", err)
		}
		w.SetRate(rate)
	}
	if in.Duration != nil {
		d, err := quantity.ParseDuration(*in.Duration)
		if err != nil {
			return fmt.Errorf("--duration: %w", err)
		}
		if err := w.SetDuration(d); err != nil {
			return fmt.Errorf("--duration: %w", err)
		}
	}
	if in.Warmup != nil {
		if err := w.SetWarmup(*in.Warmup); err != nil {
			return fmt.Errorf("--warmup: %w", err)
		}
	}
	if len(in.Fault) > 0 {
		w.Faults = nil
	}
	for _, text := range in.Fault {
		f, given, err := workload.ParseFault(text)
		switch {
		case err != nil:
			return fmt.Errorf("--fault: %w", err)
		case !given.At:
			return fmt.Errorf("--fault: %q does not say when: write it like '%s at 5s for 2s'",
				text, text)
		}
		if !given.For {
			f.For = f.DefaultFor(w.Duration)
		}
		w.Faults = append(w.Faults, f)
	}
	return w.Validate()
}

// newJob returns the checked job of a workload on a target, whose servers start on so many hosts;
// 0: on this machine.
func newJob(w *workload.Workload, t *target.Target, runs string, onHosts int) (*bench.Job, error) {
	job, err := uncheckedJob(w, t, runs)
	if err != nil {
		return nil, err
	}
	job.OnHosts = onHosts
	return job, job.Check()
}

// uncheckedJob is the job of a workload on a target, with what the target's file leaves to
// defaults, to the environment and to other files.
func uncheckedJob(w *workload.Workload, t *target.Target, runs string) (*bench.Job, error) {
	s, err := systems.Registry().Get(t.System)
	if err != nil {
		return nil, err
	}
	var aim workload.Clients
	if w != nil {
		aim = w.Clients
		if _, err := objectivesOf(w); err != nil {
			return nil, err
		}
	}
	settings, err := s.Describe().Resolve(aim, t.Settings)
	if err != nil {
		return nil, err
	}
	secrets, err := t.Credentials.Resolve(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	trust, err := t.TLS.Trust()
	if err != nil {
		return nil, err
	}
	return &bench.Job{
		Workload: w, Target: t, System: s, Settings: settings, Secrets: secrets, Trust: trust,
		Runs: runs, Clock: clock.Precise(), Build: build(), Process: began,
	}, nil
}

// decodePath decodes one path or several. An empty one, which would mean the working directory, is
// refused.
func decodePath(ctx *kong.DecodeContext, into reflect.Value) error {
	for _, token := range ctx.Scan.PeekAll() {
		if !token.IsValue() {
			break
		}
		if token.Value == "" {
			return errors.New("the path is empty: name a file or a folder")
		}
		if ctx.Value.Flag != nil {
			break
		}
	}
	return kong.NewRegistry().RegisterDefaults().ForNamedType("path", into.Type()).Decode(ctx, into)
}

// kinds recognise files by keys that no other kind has. The way says how a file of the kind is
// used, with %s for its path; it begins with the flag that takes it, if there is one.
var kinds = []struct {
	is   func(src []byte) bool
	name string
	way  string
}{
	{has(`(?m)^driverClass\s*:`), "a driver file of the OpenMessaging Benchmark",
		"plimsoll import omb-driver %s writes a target file from it, for -t"},
	{has(`"(publishRate|aggregatedPublishLatencyAvg)"\s*:`),
		"a result file of the OpenMessaging Benchmark", "plimsoll import omb %s makes a run of it"},
	{omb.IsWorkload, "a workload file of the OpenMessaging Benchmark", "-w %s offers its load"},
	{has(`(?m)^system\s*:`), "a target file", "-t %s measures it"},
	{has(`(?m)^(claims|tables)\s*:`), "a study file", "plimsoll study run %s measures it"},
	{has(`(?m)^(load|message|producers|durability)\s*:`), "a workload file",
		"-w %s offers its load"},
}

func has(pattern string) func(src []byte) bool { return regexp.MustCompile(pattern).Match }

// otherKind replaces the error of reading a flag's file when the flag does not take files of that
// kind. The new error names the kind and how to use the file.
func otherKind(flag, path string, err error) error {
	if err == nil || !strict.IsPath(path) {
		return err
	}
	src, unread := strict.ReadFile(path)
	if unread != nil {
		return err
	}
	for _, k := range kinds {
		if !k.is(src) {
			continue
		}
		if strings.HasPrefix(k.way, flag+" ") {
			return err
		}
		return fmt.Errorf("%s %s: it is %s: "+k.way, flag, path, k.name, path)
	}
	return err
}
