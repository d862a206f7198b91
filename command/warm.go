package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/target"
)

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
