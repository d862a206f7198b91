package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// observe starts to observe the resources of the run. Everything is running by then, so the start
// is not counted.
func (s *session) observe() (err error) {
	s.observer, err = observerOf(s.job, s.testbed)
	if err != nil {
		return err
	}
	if a := s.run.Environment.Apart; a != nil {
		s.observer.ServersHave(a.Servers)
	}
	s.observedNs = s.job.Clock.Now()
	o := &s.run.Observation
	o.Servers = s.observer.Servers()
	if _, told := s.toldCPU(); told {
		o.Servers = []string{s.run.System.Name}
	}
	switch dir := s.job.dataDir(); {
	case dir != "":
		o.Disk = observe.DiskOf(dir)
		o.Limits, s.unlimited = observe.Stored(dir)
	case s.job.OnHosts > 0:
		s.unlimited = errors.New("the limits of the hosts are left out: plimsoll calibrate on a " +
			"host shows them")
	case len(s.job.Target.Processes) > 0:
		s.unlimited = errors.New(
			"this machine's limits are left out, because the folder of the servers' data is " +
				"unknown")
	}
	s.gauges = newGauges(s.cluster, s.created, s.dataDirs())
	// Saved now, in case the process is killed.
	o.Methods = s.methods()
	return nil
}

// serversOf returns the processes on this machine of a job's system, or of its testbed.
func serversOf(j *Job, bed *testbed.Testbed) []target.Process {
	var all []target.Process
	if j.embedded() {
		return append(all, target.Process{Name: result.Self, PID: os.Getpid()})
	}
	if bed == nil {
		return j.Target.Processes
	}
	if bed.Hosts() != nil {
		return nil
	}
	for _, n := range bed.Cluster().Nodes() {
		all = append(all, target.Process{Name: n.Name, PID: n.PID})
	}
	return all
}

// dataDirs returns the nodes' data folders, if the run is long enough for their growth to matter.
func (s *session) dataDirs() (all []dataDir) {
	if s.testbed == nil || s.testbed.Hosts() != nil ||
		s.job.Workload.Duration < sizedLeast {
		return nil
	}
	for _, n := range s.testbed.Cluster().Nodes() {
		all = append(all, dataDir{n.Name, filepath.Join(s.testbed.DataDir(), n.Name)})
	}
	return all
}

// methods returns sentences about how the figures of an observation were measured.
func (s *session) methods() []string {
	var all []string
	switch given := s.job.Target.Processes; {
	case len(given) > 0:
		names := make([]string, 0, len(given))
		for _, p := range given {
			names = append(names, p.Name)
		}
		all = append(all, fmt.Sprintf("Of the cluster only the processes that its target "+
			"names were observed: %s.", strings.Join(names, ", ")))
	case s.job.OnHosts == 0 && len(serversOf(s.job, s.testbed)) == 0:
		all = append(all,
			"The servers were not observed: if they run on this machine, give their "+
				"processes in the target, like processes: [{name: n1, pid: 4711}].")
	}
	all = append(all, s.observer.Methods()...)
	if err := s.gauges.gaps(); err != nil {
		all = append(all, fmt.Sprintf("Some figures of the system's own are missing: %v.", err))
	}
	if s.unlimited != nil {
		reason := s.unlimited.Error()
		all = append(all, strings.ToUpper(reason[:1])+reason[1:]+".")
	}
	return all
}

// toldCPU returns the CPU time of simulated servers.
func (s *session) toldCPU() (seconds float64, told bool) {
	if t, able := s.cluster.(system.Simulation); able {
		return t.CPUSeconds()
	}
	return 0, false
}

// resourceWatch is a Watch that also gets the resource use of each interval, after the interval.
type resourceWatch interface {
	Resources(r result.Resources, servers []string)
}

// spent writes the resource use since the last call, and the processes that ended.
func (s *session) spent(phase result.PhaseName) error {
	// The time is that of the host's counters, which are read first: all others may take long.
	now := s.job.Clock.Now()
	s.meet()
	r, ended, back := s.observer.Read()
	r.Gauges = s.gauges.take()
	r.StartNs, r.EndNs, r.Phase = s.observedNs-s.beganNs, now-s.beganNs, phase
	s.observedNs = now
	var errs []error
	tell := func(format string, p target.Process) {
		sentence := fmt.Sprintf(format, p.Name, p.PID)
		s.watch.Phase(phase, sentence)
		errs = append(errs,
			s.writer.Event(result.Event{AtNs: r.EndNs, Kind: "fault", Sentence: sentence}))
	}
	for _, p := range ended {
		tell("node %s (pid %d) ended", p)
		if len(s.ended) < mostEnds {
			s.ended = append(s.ended, result.ServerEnd{Node: p.Name, PID: p.PID, AtNs: r.EndNs})
		}
	}
	for _, p := range back {
		tell("node %s is back (pid %d)", p)
	}
	if seconds, told := s.toldCPU(); told {
		r.Processes = append(r.Processes, result.ProcessUse{Name: s.run.System.Name,
			CPUSeconds: seconds - s.toldSeconds})
		s.toldSeconds = seconds
	}
	if w, able := s.watch.(resourceWatch); able {
		w.Resources(r, toldOf(s.run.Observation.Servers, r, ended))
	}
	// Without observed figures there is nothing to write.
	if len(r.Processes) == 0 && len(r.Gauges) == 0 {
		return errors.Join(errs...)
	}
	if phase == result.PhaseMeasure {
		s.run.Observation.Add(r)
	}
	return errors.Join(append(errs, s.writer.Resources(r))...)
}

// meet begins to observe servers that have joined the cluster.
func (s *session) meet() {
	if s.testbed == nil {
		return
	}
	if _, later := s.job.Workload.Extra(); later == 0 {
		return
	}
	for _, n := range s.testbed.Cluster().Nodes() {
		if slices.ContainsFunc(s.run.System.Nodes,
			func(of result.Node) bool { return of.Name == n.Name }) {
			continue
		}
		s.run.System.Nodes = append(s.run.System.Nodes, s.nodeOf(n))
		s.run.Observation.Servers = append(s.run.Observation.Servers, n.Name)
		if err := s.observer.Follow(target.Process{Name: n.Name, PID: n.PID}); err != nil {
			s.ended = append(s.ended, result.ServerEnd{Node: n.Name, PID: n.PID,
				AtNs: s.sinceBegan()}) // meanwhile
		}
	}
}

// toldOf returns the servers that a reading tells of: those of a host that answers late are not
// among them.
func toldOf(servers []string, r result.Resources, ended []target.Process) (all []string) {
	for _, name := range servers {
		if slices.ContainsFunc(r.Processes,
			func(p result.ProcessUse) bool { return p.Name == name }) ||
			slices.ContainsFunc(ended, func(p target.Process) bool { return p.Name == name }) {
			all = append(all, name)
		}
	}
	return all
}

const (
	// mostEnds bounds the ends of servers that a run keeps: one may be started again and again.
	mostEnds = 1000
	// afterFault is how long after its heal a fault may still end a server that it hit.
	afterFault = 10 * time.Second
)

// unasked returns the ends of servers that no fault hit at that time. A fault whose servers are
// unknown may have hit any of them. A change of the cluster's size only ends the server that
// leaves.
func unasked(ended []result.ServerEnd, faults []result.Fault) []result.ServerEnd {
	return slices.DeleteFunc(slices.Clone(ended), func(e result.ServerEnd) bool {
		return slices.ContainsFunc(faults, func(f result.Fault) bool {
			if do := workload.FaultKind(f.Do); do.Stays() && (do != workload.FaultScaleIn ||
				len(f.Nodes) == 0) {
				return false
			}
			return e.AtNs >= f.StartNs &&
				(f.HealedNs == 0 || e.AtNs <= f.HealedNs+int64(afterFault)) &&
				(len(f.Nodes) == 0 || slices.Contains(f.Nodes, e.Node))
		})
	})
}
