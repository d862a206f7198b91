package bench

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// separateCPUs returns the separate CPUs of servers and load, or the reason why they share all;
// nil: the workload does not ask for separation.
func (j *Job) separateCPUs() *result.Apart {
	if j.Workload.Isolate.CPUs != workload.CPUsSplit {
		return nil
	}
	switch {
	case j.embedded():
		return &result.Apart{Why: j.System.Describe().Name + " runs in plimsoll's own process"}
	case !j.starts() && len(j.Target.Processes) == 0:
		return &result.Apart{Why: "plimsoll started no server, and the target names none under " +
			"processes"}
	case j.OnHosts > 0:
		return &result.Apart{Why: "the servers are on hosts of their own"}
	case j.Crew != nil:
		return &result.Apart{Why: "other processes offer the load"}
	}
	cpus, err := process.CPUs(os.Getpid())
	if err != nil {
		return &result.Apart{Why: err.Error()}
	}
	return split(cpus, process.Core)
}

// split gives the load half of the CPUs, rounded down. The threads of a core stay together where
// there is more than one core.
func split(cpus []int, core func(cpu int) int) *result.Apart {
	if len(cpus) < 2 {
		return &result.Apart{Why: "plimsoll may use only one CPU"}
	}
	all := slices.Clone(cpus)
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(core(a), core(b)), cmp.Compare(a, b))
	})
	at := (len(all) + 1) / 2
	for whole := at; whole < len(all); whole++ {
		if core(all[whole-1]) != core(all[whole]) {
			at = whole
			break
		}
	}
	return &result.Apart{Servers: all[:at:at], Load: all[at:]}
}

// separate gives the load its CPUs, and servers that are started from now on theirs.
func (s *session) separate() error {
	a := s.job.separateCPUs()
	if s.run.Environment.Apart = a; a == nil {
		return nil
	}
	if a.Why == "" {
		before, err := process.CPUs(os.Getpid())
		if err != nil {
			return fmt.Errorf("isolate.cpus: %w", err)
		}
		undo := process.StartOn(a.Servers)
		s.rejoin = func() error {
			undo()
			return errors.Join(process.Confine(os.Getpid(), before), s.confine(before))
		}
		if err := process.Confine(os.Getpid(), a.Load); err != nil {
			return fmt.Errorf("isolate.cpus: %w", err)
		}
	}
	return s.writer.Event(
		result.Event{AtNs: s.sinceBegan(), Kind: "note", Sentence: "CPUs: " + a.String()})
}

// separateServers gives running servers their CPUs.
func (s *session) separateServers() error {
	if a := s.run.Environment.Apart; a != nil && a.Why == "" {
		return s.confine(a.Servers)
	}
	return nil
}

// confine restricts the run's servers to the given CPUs.
func (s *session) confine(cpus []int) error {
	var errs []error
	for _, p := range serversOf(s.job, s.testbed) {
		for _, pid := range process.Family(p.PID) {
			errs = append(errs, process.Confine(pid, cpus))
		}
	}
	return errors.Join(errs...)
}
