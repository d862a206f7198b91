package system

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// System is one kind of messaging system. Its methods may be called from any
// goroutine.
type System interface {
	Describe() Description
	// Connect reaches the cluster at the given options' endpoints. An
	// endpoint that does not answer is an error within ten seconds.
	Connect(ctx context.Context, o Options) (Cluster, error)
}

// Description is what a system says of itself before anything is connected.
type Description struct {
	Name    string // as written in a target
	Summary string // one sentence
	Client  string // the client library and its version
	// Terms maps plimsoll's words (topic, partition, subscription, …) to the
	// system's own.
	Terms    []Term
	Levels   map[workload.Level]Guarantee
	Delivery []workload.Delivery
	Settings []Setting
}

// Term is one of plimsoll's words and what it is on a system.
type Term struct{ Word, Means string }

// Guarantee says how a system gives a durability level, or why it cannot.
type Guarantee struct {
	How     string // settings that make it, in the system's words
	Refusal string // not empty: the level cannot be had, and why
}

// Options is what Connect needs to know.
type Options struct {
	Endpoints   []string
	Credentials Credentials
	// TLS is nil when connections are not encrypted.
	TLS        *tls.Config
	Settings   Settings
	Durability workload.Level
}

// Credentials are secrets. They are never written to a result or a log.
type Credentials struct {
	User, Password string
	// AdminUser and AdminPassword open what only an operator may read, such
	// as a server's own configuration. Empty: the same as User and Password.
	AdminUser, AdminPassword string
}

// Cluster is a connection to a running system. Its methods may be called from
// any goroutine, and several at a time.
type Cluster interface {
	// CreateTopic makes a topic at the asked durability level and returns
	// when every partition can be written to. A topic of that name that
	// exists already is an error.
	CreateTopic(ctx context.Context, t Topic) error
	OpenProducer(ctx context.Context, p ProducerOptions) (Producer, error)
	// OpenConsumer returns when the subscription is in place: a message sent
	// afterwards reaches it.
	OpenConsumer(ctx context.Context, c ConsumerOptions) (Consumer, error)
	// Close ends everything that the cluster opened.
	Close(ctx context.Context) error
}

// Topic is a topic to create.
type Topic struct {
	Name       string
	Partitions int
}

// ProducerOptions says which producer to open.
type ProducerOptions struct {
	Topic      Topic
	Index      int // of this producer among those of the topic
	InFlight   int // most messages handed over and not answered at one time
	MessageMax int // largest payload in bytes
	Delivery   workload.Delivery
}

// Producer sends messages to one topic.
type Producer interface {
	// Send hands one message to the client library and returns without
	// waiting for the answer. It is called from one goroutine at a time.
	// m.Done is called exactly once for every Send, also when Send fails, the
	// connection is lost or the producer is closed. Send may block when the
	// client library's buffer is full.
	Send(m *Message)
	// Close waits, within ctx, for the answers still under way, then calls
	// Done with an error on the messages that got none.
	Close(ctx context.Context) error
}

// BatchSender is a Producer whose client library takes several messages in one
// call. Where a producer is none, whoever sends a batch calls Send for each.
type BatchSender interface {
	// SendBatch is Send for each of the messages, in their order, in one call.
	// It does not wait for answers either: each message has its own Done. The
	// slice is the caller's again when SendBatch returns.
	SendBatch(batch []*Message)
}

// ConsumerOptions says which consumer to open.
type ConsumerOptions struct {
	Topic        Topic
	Subscription string
	Index        int // of this consumer among those of the subscription
	Delivery     workload.Delivery
	// Receive is called for each message, by one goroutine at a time. The
	// message is valid until it returns. At least once and exactly once: the
	// message is acknowledged after Receive returns; at most once: before it is
	// called. Exactly once: only messages that count as sent are delivered, and
	// none that a producer sent twice by itself.
	Receive func(m Received)
	// Failed is told of an error that the consumer cannot recover from. It
	// may be called from any goroutine.
	Failed func(err error)
}

// Consumer receives from one subscription until it is closed.
type Consumer interface {
	// Close stops receiving. When it has returned, Receive is not called
	// again; what was not acknowledged goes to another consumer of the
	// subscription, now or when one opens.
	Close(ctx context.Context) error
}

// AssignmentWaiter is a Consumer that gets its share of the partitions only when the
// consumers of its subscription are all open.
type AssignmentWaiter interface {
	// AwaitAssignment returns when the partitions are shared out.
	AwaitAssignment(ctx context.Context) error
}

// Message is one message to send. It belongs to whoever sends it until Send,
// to the system until Done, and must not be touched by the system afterwards.
type Message struct {
	Partition int32  // index of the partition it must go to
	Key       []byte // nil: none
	Payload   []byte
	// Attached is the producer's own, from its first Send of the message on: a
	// place for what it would otherwise have to find or make at every Send. A
	// message is only ever sent by one producer.
	Attached any
	complete Completer
}

// ErrUnknown is what an error wraps when the system neither acknowledged nor
// refused a message: no answer came in time, or the connection was lost. Such
// a message may legally arrive.
var ErrUnknown = errors.New("the outcome is unknown")

// Completer is told what became of a message.
type Completer interface {
	// Complete is called once per Send: err is nil when the system has
	// acknowledged the message at the asked level, and wraps ErrUnknown when
	// it has not answered.
	Complete(err error)
}

// Bind sets who is told what becomes of the message. It is called once,
// before the first Send.
func (m *Message) Bind(c Completer) { m.complete = c }

// Done ends the message: err is nil when the system has acknowledged it, and
// says why otherwise. It does not block and may be called from any goroutine.
func (m *Message) Done(err error) { m.complete.Complete(err) }

// DurabilityReader is a Cluster that can read its durability back from the
// live servers.
type DurabilityReader interface {
	// ReadDurability says what the servers report for the topics. An error
	// means that the servers contradict the asked level, or could not be
	// asked; it names both values.
	ReadDurability(ctx context.Context, topics []Topic) (Evidence, error)
}

// Evidence is what was read back from the servers.
type Evidence struct {
	Level workload.Level // the level that the facts amount to
	Facts []Fact
}

// Fact is one value that one part of a live cluster reported.
type Fact struct {
	Where  string // the node, topic or stream asked
	Name   string // in the system's own words
	Value  string
	Source string // how it was read
}

// VersionReader is a Cluster that can tell its servers' versions.
type VersionReader interface {
	// ServerVersions returns a line for each server, such as "n1 2.15.2".
	ServerVersions(ctx context.Context) ([]string, error)
}

// TopicDeleter is a Cluster that can delete topics.
type TopicDeleter interface {
	DeleteTopic(ctx context.Context, t Topic) error
}

// BatchAdmin is a TopicDeleter whose servers take many topics in one request.
type BatchAdmin interface {
	// CreateTopics does what CreateTopic does for each of the topics. When it
	// fails some of them may be there.
	CreateTopics(ctx context.Context, topics []Topic) error
	// DeleteTopics deletes those of the topics that are there.
	DeleteTopics(ctx context.Context, topics []Topic) error
}

// Checker is a System that can tell before anything starts that it cannot do
// what is asked of it.
type Checker interface {
	// Check says all that is wrong, in one strict.Violations, or nothing. It
	// reaches for no server.
	Check(c Check) error
}

// Check is what is asked of a system.
type Check struct {
	Settings   Settings
	Durability workload.Level
	Delivery   workload.Delivery
	Nodes      int // of the testbed to start; 0 when endpoints are given
}

// TargetLister is a System with targets of its own beside the one without settings.
type TargetLister interface {
	// Targets holds the targets as files targets/NAME.yaml, each called as its target.
	Targets() fs.FS
}

// Embedded is a System that lives inside this process and needs neither
// endpoints nor a testbed.
type Embedded interface {
	Embedded()
}

// Provisioner is a System that can be started on this machine.
type Provisioner interface {
	// Provision starts a cluster and returns when it can be connected to. On
	// an error nothing is left behind.
	Provision(ctx context.Context, p Provision) (Provisioned, error)
	// NodeNames are the names of the nodes that Provision would start, as
	// Provisioned.Nodes has them. Each keeps all of its data in the folder of
	// its name below the data directory, and nothing that is not its own; the
	// folder may be there before, and empty. No names: the nodes live in this process.
	NodeNames(p Provision) []string
}

// Starts reports whether plimsoll starts the servers of a target itself: the system can be
// provisioned and the target names no endpoints.
func Starts(s System, t *target.Target) bool {
	_, provisions := s.(Provisioner)
	return provisions && len(t.Endpoints) == 0
}

// Fetcher is a Provisioner whose servers are brought to this machine before
// they are started.
type Fetcher interface {
	// Fetch does nothing when they are there already; otherwise progress,
	// which may be nil, is told what takes so long.
	Fetch(ctx context.Context, progress func(sentence string)) error
}

// Provision says what cluster to start.
type Provision struct {
	Nodes int
	// DataDir is a directory of the caller's; the cluster keeps its data here, each
	// node's in a folder that is called like it. Such a folder may be there, for a
	// file system mounted on it, and hold nothing but lost+found.
	DataDir    string
	LogDir     string // where each node's log goes
	Durability workload.Level
	Settings   Settings
	// Breakable asks for nodes that can be broken one by one, even where that is not
	// how they usually run.
	Breakable bool
	// Groups are the numbers of the groups that the nodes' processes run under,
	// by the nodes' names; a node that is not there runs under this process's.
	Groups map[string]int
}

// NodeServer is a Provisioner whose nodes are processes of this program.
type NodeServer interface {
	// NodeCommand is the command of such a process. The node's name and its folder
	// follow it. A program that provisions nodes must answer it with ServeNode.
	NodeCommand() string
	// ServeNode is a node, with the configuration that it reads, until ctx ends. It
	// writes its log to the file. A node that cannot run is an error.
	ServeNode(ctx context.Context, config io.Reader, log *os.File) error
}

// Provisioned is a cluster that runs on this machine.
type Provisioned interface {
	Endpoints() []string
	Credentials() Credentials
	// TLS is what clients connect with; nil when connections are not encrypted.
	TLS() *tls.Config
	// CAFile is the certificate, in PEM, that signed those of the nodes; empty when
	// connections are not encrypted.
	CAFile() string
	Nodes() []Node
	// Stop ends every node. The data directory is the caller's to delete.
	Stop(ctx context.Context) error
}

// Restarter is a Provisioned whose nodes can be ended and brought back one by
// one.
type Restarter interface {
	// Kill ends a node at once, as when its machine is switched off, but for
	// what the kernel has not written to disk yet: that is written.
	Kill(node string) error
	// Restart starts a node that has ended on the data and the addresses that
	// it had, and returns when its process runs. It joins the others by itself.
	Restart(node string) error
}

// Node is one server of a provisioned cluster.
type Node struct {
	Name    string
	Address string
	PID     int // this process's own when the node is embedded
	Log     string
}
