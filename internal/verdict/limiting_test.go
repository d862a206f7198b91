package verdict

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// observed is a good run of ten seconds on a machine of four cores, with three
// servers on it.
func observed() *result.Run {
	r := good()
	r.Environment.Cores, r.System.SharesHost = 4, true
	r.Load = result.Load{Delivery: "at_least_once", Subscriptions: 1, TargetRate: 1000,
		MessageBytes: 1024}
	r.Phases = []result.Phase{{Name: result.PhaseWarmup, StartNs: 0, EndNs: 3e9},
		{Name: result.PhaseMeasure, StartNs: 3e9, EndNs: 13e9}}
	r.Observation = result.Observation{
		Servers: []string{"n1", "n2", "n3"}, WindowNs: 10e9, Host: result.HostUse{CPUSeconds: 20},
		Processes: []result.ProcessUse{{Name: "n1", CPUSeconds: 6}, {Name: "n2", CPUSeconds: 5},
			{Name: "n3", CPUSeconds: 5}, {Name: result.Self, CPUSeconds: 1}},
		Shares: []result.Share{
			{Resource: "disk", Used: 30e6, Limit: 100e6, Unit: "bytes_per_s", Share: 0.3}},
	}
	return r
}

var limits = map[string]struct {
	change func(*result.Run)
	want   string
	say    string
}{
	"nothing near its limit": {func(*result.Run) {}, NoneSeen,
		"the most used one was cpu, 50% of all cores (2 of 4 cores)"},
	"disk": {func(r *result.Run) { r.Observation.Shares[0].Share = 0.80 },
		"disk", "80% of its sequential limit"},
	"disk, just below": {func(r *result.Run) { r.Observation.Shares[0].Share = 0.799 },
		NoneSeen, "no resource reached 80%"},
	"cpu, not calibrated": {
		func(r *result.Run) {
			r.Observation.Shares, r.Observation.Host.CPUSeconds = nil, 36
		}, "cpu", "90% of all cores"},
	"cpu, as calibrated": {func(r *result.Run) {
		r.Observation.Shares = append(r.Observation.Shares,
			result.Share{Resource: "cpu", Used: 3.9, Limit: 4, Unit: "cores", Share: 0.97})
	}, "cpu", "97% of all cores"},
	"the greater of two": {func(r *result.Run) {
		r.Observation.Shares[0].Share, r.Observation.Host.CPUSeconds = 0.85, 38
	}, "cpu", "95% of all cores"},
	"the generator before all": {func(r *result.Run) {
		r.Observation.Shares[0].Share, r.Summary.Generator.OwnLagP99Ns = 0.99, 1e10
	}, Generator, "the load generator was the limit"},
	"not observed": {func(r *result.Run) { r.Observation = result.Observation{} },
		NotKnown, "were not observed"},
	"not observed, elsewhere than on Linux": {func(r *result.Run) {
		r.Observation, r.Environment.OS = result.Observation{}, "darwin/arm64"
	}, NotKnown, "measured on Linux only, and plimsoll ran on darwin"},
	"figures of the system's own alone": {func(r *result.Run) {
		r.Observation, r.Environment.OS = result.Observation{WindowNs: 10e9,
			Shares: []result.Share{{Resource: "disk", Limit: 1}}}, "darwin/arm64"
	}, NotKnown, "measured on Linux only"},
	"not observed on Linux": {func(r *result.Run) {
		r.Observation, r.Environment.OS = result.Observation{}, "linux/amd64"
	}, NotKnown, "were not observed"},
	"the generator, unseen": {func(r *result.Run) {
		r.Observation = result.Observation{}
		r.Summary.Generator.OwnLagP99Ns = 1e10
	}, Generator, ""},
	"servers elsewhere": {
		func(r *result.Run) {
			r.Observation.Servers, r.System.SharesHost = nil, false
		}, NotKnown, "the servers' machines were not observed"},
	"servers elsewhere, cpu": {func(r *result.Run) {
		r.Observation.Servers, r.System.SharesHost, r.Observation.Host.CPUSeconds = nil, false,
			39
	}, "cpu", "on the machine that offered the load"},
	"a host": {func(r *result.Run) { r.Observation.Shares = nil; onHosts(r, 36, 36, 0) },
		"cpu of host h1", "90% of its limit (3.6 of 4 cores) was used"},
	"an idle machine": {
		func(r *result.Run) {
			r.Observation.Shares, r.Observation.Host.CPUSeconds = nil, 0
		}, NoneSeen, "no resource with a known limit was used"},
	"no numbers": {func(r *result.Run) {
		r.Observation.Shares[0].Share, r.Observation.Host.CPUSeconds = math.NaN(), math.Inf(1)
	}, NotKnown, ""},
}

func TestLimiting(t *testing.T) {
	for name, c := range limits {
		t.Run(name, func(t *testing.T) {
			r := observed()
			c.change(r)
			if got := Limiting(r); got.Resource != c.want ||
				!strings.Contains(got.Sentence, c.say) {
				t.Errorf("%s: %s; want %s: …%s", got.Resource, got.Sentence, c.want, c.say)
			}
		})
	}
}

// codes returns the codes of a run's warnings.
func codes(r *result.Run, events ...result.Event) string {
	Judge(r, events...)
	var out []string
	for _, w := range r.Warnings {
		if w.Code != "shared_host" {
			out = append(out, w.Code)
		}
	}
	return strings.Join(out, " ")
}

// onHosts moves the servers of a run to a host of four cores, which was busy for so many seconds of
// its 40, the servers' among them.
func onHosts(r *result.Run, busy, servers, stolen float64) {
	o := &r.Observation
	r.System.SharesHost = false
	r.System.Hosts = []result.Host{{Name: "h1", Address: "10.0.0.1", Cores: 4}}
	o.Hosts = []result.NamedHostUse{{Name: "h1",
		HostUse: result.HostUse{CPUSeconds: busy, StealSeconds: stolen}}}
	r.System.Nodes, o.Host.CPUSeconds = nil, 0
	for i := range o.Processes {
		p := &o.Processes[i]
		if p.Name == result.Self {
			o.Host.CPUSeconds = p.CPUSeconds
			continue
		}
		r.System.Nodes = append(r.System.Nodes, result.Node{Name: p.Name, Address: "10.0.0.1:1"})
		p.CPUSeconds = servers / float64(len(o.Processes)-1)
	}
}

func TestHostsAreWarnedOf(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result.Run)
		want   string
	}{
		"a full host":        {func(r *result.Run) { onHosts(r, 38, 38, 0) }, "machine_full"},
		"a host with others": {func(r *result.Run) { onHosts(r, 20, 15, 0) }, "noisy_machine"},
		"a host that was stolen from": {func(r *result.Run) { onHosts(r, 20, 20, 3) },
			"noisy_machine"},
		"two hosts on one machine": {func(r *result.Run) {
			onHosts(r, 20, 10, 0)
			r.System.Hosts = append(r.System.Hosts, result.Host{Name: "h2", Address: "10.0.0.2"})
			r.System.Nodes = append(r.System.Nodes, result.Node{Name: "n9", Address: "10.0.0.2:1"})
			r.Observation.Processes = append(r.Observation.Processes,
				result.ProcessUse{Name: "n9", CPUSeconds: 9})
		}, ""},
		"a host on the load's machine": {func(r *result.Run) {
			onHosts(r, 20, 19, 0)
			r.System.Hosts = append(r.System.Hosts,
				result.Host{Name: "h2", Address: "10.0.0.2", SameMachine: true})
			r.System.Nodes = append(r.System.Nodes, result.Node{Name: "n9", Address: "10.0.0.2:1"})
			r.Observation.Processes = append(r.Observation.Processes,
				result.ProcessUse{Name: "n9", CPUSeconds: 9})
			r.Observation.Host.CPUSeconds += 9
		}, ""},
		"a host that waits for a disk": {func(r *result.Run) {
			onHosts(r, 20, 19, 0)
			r.Observation.Hosts[0].IOWaitSeconds = 3
		}, "disk_wait"},
		"quiet hosts": {func(r *result.Run) { onHosts(r, 20, 19, 0) }, ""},
	} {
		r := observed()
		c.change(r)
		if got := codes(r); got != c.want {
			t.Errorf("%s: warnings %q, want %q: %v", name, got, c.want, r.Warnings)
		}
	}
}

// Servers that log each message are warned of, even where only the log of one is seen; a log below
// 1 MiB is not, nor one of few bytes for each message.
func TestLogsOfMessagesAreWarnedOf(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		rate  float64
		warns bool
	}{
		{leastLogged, 1000, true}, {leastLogged - 1, 1000, false}, {leastLogged - 1, 1, false},
		{leastLogged, leastLogged / leastLoggedEach / 10, true},
		{leastLogged, leastLogged/leastLoggedEach/10 + 1, false}, {leastLogged, 0, false},
	} {
		r := observed()
		r.Summary.AchievedRate, r.Observation.Processes[0].LogBytes = c.rate, &c.bytes
		if got := codes(r); strings.Contains(got, codeLogging) != c.warns {
			t.Errorf("%d bytes at %g/s: warnings %q", c.bytes, c.rate, got)
		}
	}
}

func TestTheMachineIsWarnedOf(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result.Run)
		want   string
	}{
		"a quiet machine": {func(*result.Run) {}, ""},
		"full": {
			func(r *result.Run) {
				r.Observation.Host.CPUSeconds,
					r.Observation.Processes[0].CPUSeconds = 36, 24
			}, "machine_full"},
		"nearly full": {
			func(r *result.Run) {
				r.Observation.Host.CPUSeconds,
					r.Observation.Processes[0].CPUSeconds = 35.9, 24
			}, ""},
		"full of load only": {func(r *result.Run) {
			r.Observation.Host.CPUSeconds, r.Observation.Processes[3].CPUSeconds,
				r.System.SharesHost = 39, 22, false
		}, "machine_full"},
		"full of others": {func(r *result.Run) { r.Observation.Host.CPUSeconds = 36 },
			"machine_full noisy_machine"},
		"others": {func(r *result.Run) { r.Observation.Host.CPUSeconds = 21.1 },
			"noisy_machine"},
		"a few others": {func(r *result.Run) { r.Observation.Host.CPUSeconds = 21 }, ""},
		"servers not observed": {
			func(r *result.Run) {
				r.Observation.Servers, r.Observation.Host.CPUSeconds = nil,
					30
			}, ""},
		"a server not seen": {func(r *result.Run) {
			r.Observation.Servers, r.Observation.Host.CPUSeconds = append(r.Observation.Servers,
				"n4"), 30
		}, ""},
		"stolen": {func(r *result.Run) { r.Observation.Host.StealSeconds = 2.1 },
			"noisy_machine"},
		"waiting for a disk": {func(r *result.Run) { r.Observation.Host.IOWaitSeconds = 2.1 },
			"disk_wait"},
		"hardly waiting": {func(r *result.Run) { r.Observation.Host.IOWaitSeconds = 2 }, ""},
		"both": {
			func(r *result.Run) {
				r.Observation.Host.IOWaitSeconds,
					r.Observation.Host.StealSeconds = 3, 3
			}, "noisy_machine disk_wait"},
		"page cache": {func(r *result.Run) { r.Load.DropPageCache = true }, "page_cache"},
		"cores not on record": {
			func(r *result.Run) { r.Environment.Cores, r.Observation.Host.CPUSeconds = 0, 99 }, ""},
		"nothing was observed": {func(r *result.Run) { r.Observation = result.Observation{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := observed()
			c.change(r)
			if got := codes(r); got != c.want {
				t.Errorf("warnings %q, want %q: %v", got, c.want, r.Warnings)
			}
		})
	}
}

// Of a window of milliseconds, on virtual time, and beyond what a machine has, no share of CPU time
// is known: a few steps of the kernel's count are many times such a window.
func TestSharesOfCPUTimeNeedAWindow(t *testing.T) {
	for name, change := range map[string]func(*result.Run){
		"milliseconds":       func(r *result.Run) { r.Observation.WindowNs = 3e6 },
		"virtual time":       func(r *result.Run) { r.Environment.Clock = clock.VirtualName },
		"counters that leap": func(*result.Run) {},
	} {
		r := observed()
		r.Observation.Host = result.HostUse{CPUSeconds: 99, StealSeconds: 50, IOWaitSeconds: 50}
		r.Observation.Shares = append(r.Observation.Shares, result.Share{Resource: "cpu", Used: 33,
			Limit: 4, Unit: "cores", Share: 8.3})
		change(r)
		if got := codes(r); got != "" {
			t.Errorf("%s: warnings %q: %+v", name, got, r.Warnings)
		}
		if l := Limiting(r); l.Resource != NoneSeen ||
			!strings.Contains(l.Sentence, "the most used one was disk") {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestFaultsInTheMeasuredWindowAreWarnedOf(t *testing.T) {
	fault := func(at int64) result.Event {
		return result.Event{AtNs: at, Kind: "fault", Sentence: "node n2 (pid 123) ended"}
	}
	for name, c := range map[string]struct {
		events []result.Event
		want   string
	}{
		"in it":     {[]result.Event{fault(5e9)}, "after 2s: node n2 (pid 123) ended"},
		"before it": {[]result.Event{fault(1e9)}, ""},
		"after it":  {[]result.Event{fault(13e9)}, ""},
		"no fault":  {[]result.Event{{AtNs: 5e9, Kind: "note", Sentence: "x"}}, ""},
		"more than fit": {[]result.Event{fault(4e9), fault(5e9), fault(6e9), fault(7e9),
			fault(8e9)}, "; and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			r := observed()
			got := codes(r, c.events...)
			if (got == "fault") != (c.want != "") {
				t.Fatalf("warnings %q", got)
			}
			if c.want != "" && !strings.HasSuffix(r.Warnings[0].Sentence, c.want) {
				t.Errorf("%s", r.Warnings[0].Sentence)
			}
		})
	}
	running := observed()
	running.Phases[1].EndNs = 0
	if got := codes(running, fault(1e12)); got != "fault" {
		t.Errorf("a window that lasts: warnings %q", got)
	}
	if got := codes(observed(), result.Event{AtNs: 2e10, Kind: result.EventLeftOut,
		Sentence: "kill one at 4s was left out: the run ended before it"}); got != codeLeftOut {
		t.Errorf("a fault that was left out: warnings %q", got)
	}
}

func TestExactlyOnceForbidsDuplicates(t *testing.T) {
	outcome := func(r *result.Run, name string) string {
		Judge(r)
		for _, v := range r.Verdicts {
			if v.Name == name {
				return v.Outcome
			}
		}
		return "none"
	}
	r := observed()
	r.Ledger.Subscriptions[0].Duplicate = 1
	if got := outcome(r, Duplicates); got != result.Broken || !Sound(r) {
		t.Errorf("at least once: duplicates %s, sound %v", got, Sound(r))
	}
	r.Load.Delivery = "exactly_once"
	if got := outcome(r, Duplicates); got != result.Broken || Sound(r) {
		t.Errorf("exactly once: duplicates %s, sound %v", got, Sound(r))
	}
	if got := outcome(r, Order); got != result.Holds {
		t.Errorf("a duplicate is told twice: order %s", got)
	}
	r.Ledger.Subscriptions[0].Duplicate, r.Ledger.Subscriptions[0].Reordered = 0, 1
	if d, o := outcome(r, Duplicates), outcome(r, Order); d != result.Holds || o != result.Broken ||
		!Sound(r) {
		t.Errorf("duplicates %s, order %s, sound %v", d, o, Sound(r))
	}
	r.Ledger.Subscriptions[0].Received = 0
	if got := outcome(r, Duplicates); got != result.Unknown {
		t.Errorf("nothing received: duplicates %s", got)
	}
	r.Ledger.Accounted = false
	if got := outcome(r, Duplicates); got != result.Unknown || !Sound(r) {
		t.Errorf("not accounted: duplicates %s", got)
	}
}

func TestComparable(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result.Run)
		want   string
	}{
		"alike": {func(*result.Run) {}, ""},
		"another name": {func(r *result.Run) { r.Load.Workload, r.Name = "other", "other" },
			""},
		"another warm-up": {func(r *result.Run) { r.Load.WarmupSeconds = 9 }, ""},
		"durability": {func(r *result.Run) { r.Durability.Level = 1 },
			"durability_differs"},
		"not read back": {func(r *result.Run) { r.Durability.Level = 0 },
			"durability_differs"},
		"delivery": {func(r *result.Run) { r.Load.Delivery = "exactly_once" },
			"delivery_differs"},
		"rate": {func(r *result.Run) { r.Load.TargetRate = 2000 },
			"workload_differs"},
		"message size": {func(r *result.Run) { r.Load.MessageBytes = 1 }, "workload_differs"},
		"curve of same mean": {
			func(r *result.Run) {
				r.Load.Segments = []result.Segment{
					{From: 0, To: 2000, Seconds: 1}}
			}, "workload_differs"},
		"rate and level": {func(r *result.Run) { r.Load.TargetRate, r.Durability.Level = 1, 1 },
			"durability_differs workload_differs"},
	} {
		t.Run(name, func(t *testing.T) {
			other := observed()
			c.change(other)
			var got []string
			for _, w := range Comparable([]*result.Run{observed(), other}) {
				got = append(got, w.Code)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("warnings %q, want %q", got, c.want)
			}
		})
	}
	if got := Comparable(nil); len(got) > 0 {
		t.Errorf("no runs: %v", got)
	}
}

// If servers and load have separate cores, each side's limit is that of its own cores.
func TestLimitsOfCoresApart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result.Run)
		want   string
		say    string
	}{
		"the servers' own cores": {func(r *result.Run) {
			r.Observation.Host.ServersCPUSeconds = 16
			r.Environment.Apart = &result.Apart{Servers: []int{0, 1}, Load: []int{2, 3}}
		}, result.ResourceServers, "80% of the servers' own cores (1.6 of 2 cores)"},
		"cores of all, and not of the servers": {func(r *result.Run) {
			r.Environment.Apart = &result.Apart{Servers: []int{0, 1, 2}, Load: []int{3}}
			r.Observation.Host.CPUSeconds, r.Observation.Host.ServersCPUSeconds = 38, 16
		}, NoneSeen, "the most used one was servers' cores, 53%"},
		"the load's own cores": {func(r *result.Run) {
			r.Environment.Apart = &result.Apart{Servers: []int{0, 1, 2}, Load: []int{3}}
			r.Summary.Generator.CPUShare = 0.23
		}, Generator, "it used 92% of its own cores"},
		"not apart": {func(r *result.Run) {
			r.Environment.Apart = &result.Apart{Why: "one CPU"}
			r.Observation.Host.CPUSeconds = 36
		}, "cpu", "90% of all cores"},
	} {
		r := observed()
		c.change(r)
		if got := Limiting(r); got.Resource != c.want || !strings.Contains(got.Sentence, c.say) {
			t.Errorf("%s: %s: %s; want %s: …%s", name, got.Resource, got.Sentence, c.want, c.say)
		}
	}
}
