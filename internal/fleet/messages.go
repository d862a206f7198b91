package fleet

import (
	"errors"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/skew"
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

// hello is how a worker introduces itself.
type hello struct {
	Name    string
	Host    string
	Version string
	Cores   int
	// Kernel names the kernel whose monotonic clock the worker reads; empty: not known.
	Kernel string
	// Chrony is what chrony says of the clock of a worker on another machine; nil: nothing.
	Chrony *skew.Chrony
}

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
