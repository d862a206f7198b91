package fleet

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/firewall"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A host says what its servers used, under the names of its own nodes. An impossible reading is
// refused.
func TestReadingsOfHosts(t *testing.T) {
	t.Parallel()
	l := newToyLab(t, 2, newToy())
	bed, err := l.up(t, 2)
	if err != nil {
		t.Fatal(err)
	}
	o, err := bed.Hosts().Observe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bed.Cluster().(system.Restarter).Kill("n2"); err != nil {
		t.Fatal(err)
	}
	r, ended, _ := o.Read()
	names := map[string]bool{}
	for _, p := range r.Processes {
		names[p.Name] = true
	}
	if !slices.Equal(o.Servers(), []string{"n1", "n2"}) || !names["n1"] ||
		!names[result.HostProcess("h1")] || !names[result.HostProcess("h2")] {
		t.Errorf("%v, %v", o.Servers(), names)
	}
	if len(ended) != 1 || ended[0].Name != "n2" || len(o.Methods()) == 0 {
		t.Errorf("ended: %v; methods %v", ended, o.Methods())
	}
	if err := errors.Join(o.Close(), bed.Close(t.Context())); err != nil {
		t.Error(err)
	}
	use := func(change func(*reading)) error {
		one := &reading{Use: result.Resources{Processes: []result.ProcessUse{{Name: "n1"},
			{Name: result.Self}}}}
		change(one)
		return one.check([]string{"n1"})
	}
	if err := use(func(*reading) {}); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*reading){
		"another host's node": func(r *reading) { r.Use.Processes[0].Name = "n2" },
		"no number":           func(r *reading) { r.Use.Processes[0].CPUSeconds = math.NaN() },
		"too much":            func(r *reading) { r.Use.Host.StealSeconds = math.Inf(1) },
		"less than nothing":   func(r *reading) { r.Use.Host.CPUSeconds = -1 },
		"more processes than there are": func(r *reading) {
			r.Use.Processes = append(r.Use.Processes, r.Use.Processes[0])
		},
		"the end of another's server": func(r *reading) {
			r.Ended = []target.Process{{Name: "n2"}}
		},
		"many ends":  func(r *reading) { r.Ended = make([]target.Process, 3) },
		"many disks": func(r *reading) { r.Use.Disks = make([]result.DiskUse, mostDisks+1) },
	} {
		if use(change) == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// What a coordinator may not ask for is refused before it reaches a driver or a firewall.
func TestHostileCoordinator(t *testing.T) {
	t.Parallel()
	h := &hosted{Hosting: Hosting{Address: "127.9.9.9", Base: t.TempDir()},
		systems: system.NewRegistry(newToy()), say: func(string) {}}
	good := testbed.Request{System: "toy", Nodes: 1, Durability: workload.SyncSync}
	for want, change := range map[string]func(*testbed.Request){
		"1099511627776 nodes": func(r *testbed.Request) { r.Nodes = 1 << 40 },
		"1099511627776 extra": func(r *testbed.Request) { r.Extra = 1 << 40 },
		"1 extra nodes, 2":    func(r *testbed.Request) { r.Extra, r.Later = 1, 2 },
		"0 extra nodes, -1":   func(r *testbed.Request) { r.Later = -1 },
		"neither join nor":    func(r *testbed.Request) { r.Extra = 1 },
		"0 is no group":       func(r *testbed.Request) { r.Groups = map[string]int{"n1": 0} },
		"unknown system":      func(r *testbed.Request) { r.System = "../x" },
		"programs names": func(r *testbed.Request) {
			r.Settings = []target.Setting{{Name: driver.SetPrograms, Value: "/x"}}
		},
		"version": func(r *testbed.Request) { r.Versions = []string{"9;reboot"} },
	} {
		r := good
		change(&r)
		if err := h.prepare(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	s := &hostStage{staging: staging{Machines: []string{"127.9.9.9"}},
		request: testbed.Request{Groups: map[string]int{"n1": 2_000_200_192}}}
	own := netip.MustParseAddr("127.9.9.9")
	member := firewall.Member{Group: 2_000_200_192, Hosts: []netip.Addr{own}}
	cut := workload.Fault{Do: workload.FaultPartition}
	if err := s.check(testbed.Breakage{Fault: cut, Sides: [][]firewall.Member{{member}}}); err != nil {
		t.Error(err)
	}
	root, elsewhere := member, member
	root.Group, elsewhere.Hosts = 0, []netip.Addr{netip.MustParseAddr("8.8.8.8")}
	for want, b := range map[string]testbed.Breakage{
		"0 is no group":      {Fault: cut, Sides: [][]firewall.Member{{root}}},
		"8.8.8.8 is no host": {Fault: cut, Sides: [][]firewall.Member{{elsewhere}}},
		"kill has 1 sides": {Fault: workload.Fault{Do: workload.FaultKill},
			Sides: [][]firewall.Member{{member}}},
		"was not asked for": {Fault: workload.Fault{Do: workload.FaultRollingRestart,
			ToVersion: "9"}},
	} {
		if err := s.check(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Who has joined as a host stays one, at its address.
func TestHostsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	joined := hello{Name: "h1", Host: "there", Version: version, Address: "127.1.1.1"}
	for name, change := range map[string]func(*hello){
		"a worker":           func(h *hello) { h.Address = "" },
		"at another address": func(h *hello) { h.Address = "127.1.1.2" },
		"of more cores":      func(h *hello) { h.Cores = 9 },
	} {
		c, err := Listen(Options{Address: "127.0.0.1:0", Hosts: 1, Workers: 1, Version: version,
			Clock: clock.Precise()})
		if err != nil {
			t.Fatal(err)
		}
		w := &workerEnd{options: WorkerOptions{Coordinator: c.Address(), Token: c.Token(),
			Clock: clock.Precise()}}
		then := joined
		change(&then)
		_, stream := w.connectAs(t, joined, then)
		if err := stream.RecvMsg(new(order)); err == nil || len(c.hosts())+len(c.team()) > 0 {
			t.Errorf("%s: %v; %d hosts, %d workers", name, err, len(c.hosts()), len(c.team()))
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Whatever a coordinator orders, a host answers it, and runs nothing that its driver does not.
func FuzzHostOrders(f *testing.F) {
	for do, body := range map[action]any{
		actionPrepare: testbed.Request{System: "toy", Nodes: 1, Durability: workload.SyncSync},
		actionStage:   staging{Machines: []string{"127.9.9.9"}, Seed: make([]byte, seedBytes)},
		actionStep:    turn{"n1", "launch"},
		actionAwait:   "n1",
		actionOperate: turn{"n1", "grow"},
		actionServer:  serverAsk{Node: "n1", Do: serverRestart},
		actionLog:     logAsk{Node: "../../../etc/passwd"},
		actionObserve: nil, actionRead: nil, actionForget: nil,
		actionBreak: testbed.Breakage{Nodes: []string{"n1"}},
		actionMend:  nil, actionSync: nil, actionClear: nil,
	} {
		raw, err := encoding.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(do), raw)
	}
	w := &workerEnd{}
	f.Fuzz(func(t *testing.T, do string, body []byte) {
		h := &hosted{Hosting: Hosting{Address: "127.9.9.9", Base: t.TempDir()},
			systems: system.NewRegistry(newToy()), say: func(string) {}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		request := testbed.Request{System: "toy", Nodes: 1, Durability: workload.SyncSync}
		if err := h.prepare(ctx, request); err != nil {
			t.Fatal(err)
		}
		_, _ = h.do(ctx, ctx, &order{Do: action(do), Body: body}, w.read)
		if err := h.clear(); err != nil {
			t.Error(err)
		}
	})
}
