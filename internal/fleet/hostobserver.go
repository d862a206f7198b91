package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/target"
)

const (
	readWait    = time.Second     // for a host's reading, which comes with the next one otherwise
	closeLimit  = 5 * time.Second // of the end of an observation
	mostDisks   = 256             // of a host
	mostMethods = 64
)

// hostsObserver reads the use of all hosts that have servers. It is used by one goroutine.
type hostsObserver struct {
	hosts   *Hosts
	readers []*hostReader
	servers []string
	methods []string
	late    bool // a reading came with a later one
}

// hostReader reads the use of one host, one reading at a time.
type hostReader struct {
	host  *member
	nodes []string
	// under is where the reading that is under way will be; nil: there is none.
	under chan *reading
}

// Observe implements testbed.Hosts.
func (h *Hosts) Observe() (testbed.Observer, error) {
	o := &hostsObserver{hosts: h}
	var names []string
	if s := h.present(); s != nil {
		for node := range s.all() {
			names = append(names, node)
		}
	}
	for m, nodes := range h.hostsOf(names) {
		o.readers = append(o.readers, &hostReader{host: m, nodes: nodes})
	}
	slices.SortFunc(o.readers, func(a, b *hostReader) int {
		return slices.Index(h.team, a.host) - slices.Index(h.team, b.host)
	})
	var mu sync.Mutex
	err := o.each(func(r *hostReader) error {
		var now observing
		if err := r.host.order(actionObserve, nil, &now); err != nil {
			return err
		}
		if len(now.Methods) > mostMethods {
			return errors.New("a host has too many methods")
		}
		mu.Lock()
		defer mu.Unlock()
		for _, one := range now.Servers {
			if slices.Contains(r.nodes, one) {
				o.servers = append(o.servers, one)
			}
		}
		for _, one := range now.Methods {
			one = document.Clean(load.BoundText(one))
			if !slices.Contains(o.methods, one) {
				o.methods = append(o.methods, one)
			}
		}
		return nil
	})
	slices.Sort(o.servers)
	return o, err
}

// each calls do for all readers at once.
func (o *hostsObserver) each(do func(*hostReader) error) error {
	return errors.Join(driver.DoAll(len(o.readers), func(i int) error {
		return do(o.readers[i])
	})...)
}

// Servers implements testbed.Observer.
func (o *hostsObserver) Servers() []string { return o.servers }

// Methods implements testbed.Observer.
func (o *hostsObserver) Methods() []string {
	if !o.late {
		return o.methods
	}
	return append(slices.Clone(o.methods),
		"Some readings of hosts came late, and count in a later interval.")
}

// Read implements testbed.Observer. The reading of a host that answers late comes with a later one.
func (o *hostsObserver) Read() (r result.Resources, ended, back []target.Process) {
	deadline, cancel := context.WithTimeout(context.Background(), readWait)
	defer cancel()
	for _, one := range o.readers {
		one.begin()
	}
	machines := map[string]bool{o.hosts.kernel: true} // each is read once
	var own []result.ProcessUse                       // of plimsoll's processes there
	for _, one := range o.readers {
		now, here := one.take(deadline)
		if !here {
			o.late = true
		}
		if now == nil {
			continue
		}
		name := one.host.hello.Name
		ended, back = append(ended, now.Ended...), append(back, now.Back...)
		for _, p := range now.Use.Processes {
			if p.Name == result.Self {
				p.Name = result.HostProcess(name)
				own = append(own, p)
				continue
			}
			r.Processes = append(r.Processes, p)
		}
		if kernel := one.host.hello.Kernel; kernel != "" && machines[kernel] {
			continue
		}
		machines[one.host.hello.Kernel] = true
		for _, d := range now.Use.Disks {
			d.Name = name + " " + document.Clean(load.BoundText(d.Name))
			r.Disks = append(r.Disks, d)
		}
		r.Hosts = append(r.Hosts, result.NamedHostUse{Name: name, HostUse: now.Use.Host})
	}
	r.Processes = append(r.Processes, own...)
	return r, ended, back
}

// take returns the reading that is under way, when it is there in time; nil: the host is lost.
func (r *hostReader) take(within context.Context) (now *reading, here bool) {
	select {
	case now = <-r.under:
	default:
		select {
		case now = <-r.under:
		case <-within.Done():
			return nil, false
		}
	}
	r.under = nil
	return now, true
}

// begin asks for a reading, unless one is under way. Its end is that of the host's answer, or of
// the host.
func (r *hostReader) begin() {
	if r.under != nil {
		return
	}
	under := make(chan *reading, 1)
	r.under = under
	go func() {
		now := new(reading)
		err := r.host.ask(context.Background(), actionRead, nil, now)
		if err == nil {
			if err = now.check(r.nodes); err != nil {
				r.host.lose(err)
			}
		}
		if err != nil {
			now = nil // the loss of a host ends the run
		}
		under <- now
	}()
}

// check refuses a reading that a host with these nodes cannot have.
func (r *reading) check(nodes []string) error {
	known := func(name string) bool { return name == result.Self || slices.Contains(nodes, name) }
	ends := slices.Concat(r.Ended, r.Back)
	if len(r.Use.Processes) > len(nodes)+1 || len(ends) > 2*len(nodes) ||
		len(r.Use.Disks) > mostDisks {
		return errors.New("a reading has more processes or disks than there are")
	}
	for _, p := range r.Use.Processes {
		if !known(p.Name) || !possible(p.CPUSeconds) {
			return fmt.Errorf("a reading has an impossible process %q", load.BoundText(p.Name))
		}
	}
	for _, p := range ends {
		if !known(p.Name) {
			return fmt.Errorf("a reading has the end of an unknown server %q",
				load.BoundText(p.Name))
		}
	}
	use := r.Use.Host
	shares := []float64{use.CPUSeconds, use.IOWaitSeconds, use.StealSeconds}
	for _, p := range []*float64{use.PressureCPU, use.PressureIO, use.PressureMemory} {
		if p != nil {
			shares = append(shares, *p)
		}
	}
	for _, d := range r.Use.Disks {
		shares = append(shares, d.Utilization)
	}
	if !slices.ContainsFunc(shares, func(v float64) bool { return !possible(v) }) {
		return nil
	}
	return errors.New("a reading has an impossible number")
}

func possible(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// Close implements testbed.Observer.
func (o *hostsObserver) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return o.each(func(r *hostReader) error {
		return unlessLost(r.host.ask(ctx, actionForget, nil, nil))
	})
}
