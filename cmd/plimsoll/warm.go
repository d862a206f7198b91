package main

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
)

// warmed are the flags of a command that measures servers which it may have started itself.
type warmed struct {
	Warm *string `placeholder:"auto|LENGTH" help:"How servers are put under load before they are measured: auto, until they have levelled off, at most 5 minutes, or auto 1m; or for a length; 0s: not at all. Default: auto for servers that plimsoll starts, 0s for others."`

	usual bench.WarmUp // without the flag, of servers that plimsoll starts; the zero WarmUp: auto
}

// warm applies the flag to checked jobs.
func (f warmed) warm(jobs []*bench.Job) error {
	w := cmp.Or(f.usual, bench.WarmUp{Auto: true})
	if f.Warm != nil {
		var err error
		if w, err = bench.ParseWarmUp(*f.Warm); err != nil {
			return inputError{fmt.Errorf("--warm: %w", err)}
		}
	}
	for _, job := range jobs {
		if f.Warm == nil && !starts(job) {
			continue
		}
		job.WarmUp = w
		if err := job.Check(); err != nil {
			return inputError{fmt.Errorf("target %s: %w", job.Target.Name, err)}
		}
	}
	return nil
}
