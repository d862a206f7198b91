package fleet

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
)

// This file is the schema of what coordinator and worker say to each other, in CBOR (RFC 8949)
// within gRPC. Both ends are of one version, so there is one schema.

// joinAsk asks for a client certificate.
type joinAsk struct {
	Secret  []byte
	Hello   hello
	KeyPKIX []byte // the worker's public key
}

// joinAnswer has the worker's certificate, in DER, and the coordinator's hello.Kernel.
type joinAnswer struct {
	Certificate []byte
	Kernel      string
}

// hello is how a worker or a host introduces itself.
type hello struct {
	// Address is that on which a host's servers listen; empty: it is a worker.
	Address string
	Name    string
	Host    string
	Version string
	Cores   int
	// Kernel names the kernel whose monotonic clock the worker reads; empty: not known.
	Kernel string
	// Chrony is what chrony says of the clock of a worker on another machine; nil: nothing.
	Chrony *skew.Chrony
}

// hosts reports whether it is a host.
func (h hello) hosts() bool { return h.Address != "" }

// role is what it is, in a word.
func (h hello) role() string {
	if h.hosts() {
		return roleHost
	}
	return "worker"
}

const roleHost = "host"

// order asks a worker to do something. An answer has the same Call.
type order struct {
	Call    uint64
	Do      action
	LimitNs int64 // how long it may take; 0: no limit
	Body    cbor.RawMessage
}

// action is what a worker can be asked to do.
type action string

const (
	actionBegin   action = "begin"   // Assignment: connect to the target
	actionOpen    action = "open"    // as load.Worker has it, as are those that follow
	actionReady   action = "ready"   // readyAsk; answer: load.Readiness
	actionStart   action = "start"   // load.Window
	actionCut     action = "cut"     // load.Window
	actionSample  action = "sample"  // bool: with histograms; answer: load.Sample
	actionAccount action = "account" // answer: load.Account
	actionClose   action = "close"   // time.Duration
	actionFinish  action = "finish"  // disconnect from the target
	actionCancel  action = "cancel"  // uint64: the call that is no longer waited for
)

// What a host can be asked to do.
const (
	actionPrepare action = "prepare" // testbed.Request: see to what its servers need
	actionStage   action = "stage"   // staging: begin to start them
	actionStep    action = "step"    // turn: take a step of the start; answer: started
	actionAwait   action = "await"   // string: a server; answer: how it ended
	actionServer  action = "server"  // serverAsk; answer: started
	actionOperate action = "operate" // turn: run a program of an operator
	actionLog     action = "log"     // logAsk; answer: []byte
	actionObserve action = "observe" // observe the servers; answer: observing
	actionRead    action = "read"    // answer: reading
	actionForget  action = "forget"  // end the observation
	actionBreak   action = "break"   // testbed.Breakage; answer: string, what was done
	actionMend    action = "mend"    // undo it
	actionSync    action = "sync"    // write all data to the disks
	actionDrop    action = "drop"    // drop the machine's page cache
	actionClear   action = "clear"   // kill the servers, remove their data
)

// staging is what all hosts of a cluster know of its start. It holds secrets.
type staging struct {
	Machines  []string // addresses
	Seed      []byte
	Authority []byte // PEM
}

const seedBytes = 32

// check refuses a start in which a host of the address has no part.
func (s *staging) check(own string) error {
	if len(s.Seed) != seedBytes || len(s.Machines) > MostHosts ||
		!slices.Contains(s.Machines, own) {
		return errors.New("the plan of the start is impossible")
	}
	for _, m := range s.Machines {
		if err := checkAddress(m); err != nil {
			return err
		}
	}
	return nil
}

// checkAddress refuses what is not an IPv4 address of one machine.
func checkAddress(text string) error {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() || a.IsUnspecified() || a.IsMulticast() {
		return fmt.Errorf("%q is not an IPv4 address that servers can listen on", text)
	}
	return nil
}

// started is a server that runs, or that starts later if its PID is 0. It is the zero value when
// the step made none.
type started struct {
	PID  int
	Quit int // the signal
}

// serverAsk asks a host to do something with a server.
type serverAsk struct {
	Node  string
	Do    serverAction
	Grace time.Duration // of a stop
}

// serverAction is what a host can do with a server.
type serverAction string

const (
	serverKill    serverAction = "kill"
	serverRestart serverAction = "restart"
	serverStop    serverAction = "stop"
)

// logAsk asks for a part of a server's log.
type logAsk struct {
	Node string
	From int64
}

// observing says which servers are observed, and how.
type observing struct {
	Servers, Methods []string
}

// reading is the use of a host since the last reading.
type reading struct {
	Use         result.Resources
	Ended, Back []target.Process
}

type readyAsk struct {
	Again []int64
	Wait  time.Duration
}

// sampled is a sample, and the state of the clock that it was taken by; nil: the coordinator's own.
type sampled struct {
	Sample load.Sample
	Clock  *clockState
}

// clockState is the state of a disciplined clock.
type clockState struct {
	skew.State
	// GreatestBoundNs is the greatest bound since the sample before.
	GreatestBoundNs int64
}

// check refuses a state that no clock has; nil is one that all have.
func (s *clockState) check() error {
	if s == nil {
		return nil
	}
	if s.GreatestBoundNs < 0 || s.GreatestBoundNs > skew.Unbounded {
		return errors.New("the bound of its clock is impossible")
	}
	return s.Check()
}

// word is what a worker says: an event, or a part of an answer.
type word struct {
	Event *load.Event
	Call  uint64
	Last  bool   // the answer ends here
	Error string // with Last: the order failed
	Part  []byte `cbor:"-"` // of the answer, in CBOR, behind the rest (codec)
}

// tick asks for the coordinator's time. It also shows that the worker lives.
type tick struct{ SentNs int64 }

// tock answers a tick, on the coordinator's clock.
type tock struct{ SentNs, ReceivedNs, AnsweredNs int64 }

// Assignment is a worker's part of a run: all that it needs to connect and to offer its share.
type Assignment struct {
	Workload string // in YAML
	System   string
	Settings []target.Setting
	Plan     PlannedRun
	Options  Connection
}

// PlannedRun is what a load.Plan has beside the workload.
type PlannedRun struct {
	Run    uint32
	Prefix string
	Spread system.Spread
	Share  load.Share
	// Partitions of each topic: those of topics that exist are not in the workload's YAML.
	Partitions int
}

// Connection is how to connect to the target. Its secrets are in memory and on the encrypted wire
// only.
type Connection struct {
	Endpoints   []string
	Credentials system.Credentials
	Trust       *target.Trust // nil: not encrypted
	MaxUSD      float64
}
