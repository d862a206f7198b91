package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/target"
)

// CheckHosts refuses a job whose servers cannot be started on other machines.
func (j *Job) CheckHosts() error {
	if j.OnHosts == 0 {
		return nil
	}
	d := j.System.Describe()
	name := d.Name
	switch {
	case !j.starts():
		return fmt.Errorf("hosts are for servers that plimsoll starts, and those of %s run "+
			"already or are part of plimsoll: leave out --hosts or --lab", name)
	case !d.Spreads:
		return OnOneMachine(name)
	case j.Target.Testbed.Dir != "":
		return errors.New("testbed.dir names a folder of this machine, and the servers start on " +
			"hosts: leave it out, and give each host its --dir")
	case len(j.System.(system.Provisioner).NodeNames(j.provision(""))) == 0:
		return fmt.Errorf("the servers of %s run in plimsoll's own process: choose a target whose "+
			"servers are processes, or leave out --hosts or --lab", name)
	}
	return nil
}

// OnOneMachine is the error of a system whose servers cannot be on machines of their own.
func OnOneMachine(name string) error {
	return fmt.Errorf("plimsoll starts the servers of %s on one machine only: leave out --hosts "+
		"or --lab, or start servers by yourself and give the target their endpoints", name)
}

// observer reads the resources of a run once an interval.
type observer interface {
	testbed.Observer
	ServersHave(cpus []int)
	Follow(p target.Process) error
}

// observerOf observes the servers of a job, or of its testbed, and this process.
func observerOf(j *Job, bed *testbed.Testbed) (observer, error) {
	own, err := observe.New(serversOf(j, bed))
	if err != nil || bed == nil || bed.Hosts() == nil {
		return own, err
	}
	away, err := bed.Hosts().Observe()
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return &observers{own, away}, nil
}

// observers observes this process here and the servers on their hosts.
type observers struct {
	*observe.Observer
	away testbed.Observer
}

// Read returns the use of both.
func (a *observers) Read() (r result.Resources, ended, back []target.Process) {
	r, _, _ = a.Observer.Read()
	there, ended, back := a.away.Read()
	r.Processes = slices.Concat(there.Processes, r.Processes)
	r.Disks, r.Hosts = append(r.Disks, there.Disks...), there.Hosts
	return r, ended, back
}

// Follow does nothing: the host of a server observes it.
func (a *observers) Follow(target.Process) error { return nil }

// Servers returns the names of the servers.
func (a *observers) Servers() []string { return a.away.Servers() }

// Methods says how both were measured.
func (a *observers) Methods() []string {
	all := a.Observer.Methods()
	for _, one := range a.away.Methods() {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return append(all, "The disks, and the use of the servers, are those of their hosts.")
}

// Close ends both.
func (a *observers) Close() error { return errors.Join(a.Observer.Close(), a.away.Close()) }

// listen ends the run when a host is lost, until the session is torn down. The runs of a warm-up
// listen for themselves.
func (s *session) listen() {
	if s.testbed == nil {
		return
	}
	if hosts := s.testbed.Hosts(); hosts != nil {
		hosts.Listen(func(sentence string) {
			s.hear(load.Event{Kind: load.Failure, Sentence: sentence})
		})
	}
}

// deafen ends what listen began.
func (s *session) deafen() {
	if s.testbed != nil && s.testbed.Hosts() != nil {
		s.testbed.Hosts().Listen(nil)
	}
}

// where says where the servers of a job start.
func (j *Job) where() string {
	if j.OnHosts == 0 {
		return "on this machine"
	}
	return "on " + quantity.Plural(j.OnHosts, "host", "hosts")
}
