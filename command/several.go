package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// leveled are the inputs of a command whose targets may have different durability levels.
type leveled struct {
	inputs
	OrWeaker bool `help:"Measure a target that cannot give the durability level at the next weaker level that it can give. Runs of different levels are not ranked against one another."`
}

// several are the inputs of a command that measures several targets.
type several struct {
	leveled
	warmed
	SkipMissing bool `help:"Leave out targets whose servers need software that this machine lacks, and name them with the package to install."`
}

// jobs turns the flags into checked jobs, one for each target that can be measured here, and
// tells what was assumed and left out.
func (in *several) jobs(con console, runs string) (jobs []*bench.Job, _ error) {
	all, err := in.inputs.jobs(runs, in.OrWeaker)
	if err == nil {
		err = in.warm(all)
	}
	if err != nil {
		return nil, err
	}
	for _, job := range all {
		left, err := lacking(in.SkipMissing, job.Target.Name, job.FindSoftware())
		if err != nil {
			return nil, err
		}
		if left == "" {
			jobs = append(jobs, job)
		} else {
			in.leftOut = append(in.leftOut, left)
		}
	}
	for _, job := range jobs {
		job.Asked.LeftOut = in.leftOut
	}
	tell(con, jobs, in.leftOut)
	if len(jobs) == 0 {
		return nil, errNothingLeft
	}
	return jobs, nil
}

var errNothingLeft = errors.New("no target is left: install what one of them needs, or " +
	"ask for what one of them can do")

// lacking judges the error of looking for a target's software: it returns the reason to leave the
// target out if skip allows it, and otherwise the error.
func lacking(skip bool, name string, err error) (leftOut string, _ error) {
	if err == nil {
		return "", nil
	}
	if _, missing := errors.AsType[*system.Missing](err); !skip || !missing {
		return "", fmt.Errorf("target %s: %w", name, err)
	}
	return name + ": " + err.Error(), nil
}

// tell writes what was assumed about the input, and the targets that are left out, as warnings.
func tell(con console, jobs []*bench.Job, leftOut []string) {
	var told []string
	say := func(sentence string) {
		if !slices.Contains(told, sentence) {
			told = append(told, sentence)
			fmt.Fprintf(con.err, "warning: %s\n", sentence)
		}
	}
	for _, job := range jobs {
		for _, note := range job.Asked.Notes {
			say(note)
		}
		if job.Asked.Weaker != "" {
			say(job.Target.Name + ": " + job.Asked.Weaker)
		}
	}
	for _, left := range leftOut {
		say("left out: " + left)
	}
}

// strongest returns the job's workload at its own durability level, or at the strongest weaker
// level that the target can give. why says why the level differs. If the target can give none, the
// workload is unchanged.
func strongest(job *bench.Job) (w *workload.Workload, why string) {
	refused := job.CheckLevel()
	if refused == nil {
		return job.Workload, ""
	}
	for level := job.Workload.Durability + 1; level <= workload.AsyncAsync; level++ {
		weaker, of := *job.Workload, *job
		weaker.Durability = level
		of.Workload = &weaker
		if of.CheckLevel() == nil {
			return &weaker, fmt.Sprintf("measured at durability level %d, not %d: %s", level,
				job.Workload.Durability, reason(refused))
		}
	}
	return job.Workload, ""
}

// reason returns an error's sentences without their places in a file.
func reason(err error) string {
	violations, is := errors.AsType[strict.Violations](err)
	if !is {
		return err.Error()
	}
	var all []string
	for _, v := range violations {
		all = append(all, v.Message)
	}
	return strings.Join(all, "; ")
}

// targetNames returns the names of the targets to measure: the default one if none is given, and
// all local targets for the name of all of them.
func targetNames(given []string) []string {
	if len(given) == 0 {
		return []string{systems.Default}
	}
	var out []string
	for _, name := range given {
		if name == systems.AllLocal {
			out = append(out, systems.Local()...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// warmed are the flags of a command that measures servers which it may have started itself.
type warmed struct {
	Warm *string `placeholder:"auto|LENGTH" help:"How servers are put under load before they are measured: auto, until they have levelled off, at most 5 minutes, or auto 1m; or for a length; 0s: not at all. Servers that serve several runs are warmed up once. Default: auto for servers that plimsoll starts, 0s for others."`

	// usual is that of servers that plimsoll starts, without the flag; its zero value: auto.
	usual bench.WarmUp
	there map[string]*bench.Warmth // of servers that run already, by their endpoints
}

// warm applies the flag to checked jobs.
func (f *warmed) warm(jobs []*bench.Job) error {
	w := cmp.Or(f.usual, bench.WarmUp{Auto: true})
	if f.Warm != nil {
		var err error
		if w, err = bench.ParseWarmUp(*f.Warm); err != nil {
			return fmt.Errorf("--warm: %w", err)
		}
	}
	for _, job := range jobs {
		if f.Warm == nil && !starts(job) {
			continue
		}
		job.WarmUp = w
		if !starts(job) {
			job.Warmth = f.warmth(job.Target)
		}
		if err := job.Check(); err != nil {
			return fmt.Errorf("target %s: %w", job.Target.Name, err)
		}
	}
	return nil
}

// warmth returns what the jobs on the endpoints of a target share.
func (f *warmed) warmth(t *target.Target) *bench.Warmth {
	if len(t.Endpoints) == 0 {
		return nil // each run on the simulated system has new servers
	}
	servers := strings.Join(t.Endpoints, " ")
	if f.there == nil {
		f.there = map[string]*bench.Warmth{}
	}
	if f.there[servers] == nil {
		f.there[servers] = &bench.Warmth{}
	}
	return f.there[servers]
}
