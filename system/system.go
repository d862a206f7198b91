package system

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// System is one kind of messaging system. Its methods are safe for concurrent use.
type System interface {
	Describe() Description
	// Check returns all violations of a request as one strict.Violations, or nil. It does not
	// contact a server. Refuse looks at the description's deliveries before it.
	Check(c Check) error
	// Connect connects to the cluster at the options' endpoints. When an endpoint
	// does not answer, it returns an error within ten seconds.
	Connect(ctx context.Context, o Options) (Cluster, error)
}

// Description describes a system. It is known without a connection. A function in it tells what
// depends on settings, and may be nil.
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
	// Clients says what the driver sets for each word of a workload's key clients.
	Clients map[workload.Clients]Aim
	// Spreads: the servers that plimsoll starts can be on machines of their own (Site).
	Spreads bool
	// RefuseResize says why the servers of a request can neither join nor leave under load; empty:
	// they can, and their clusters are Scalers. nil: plimsoll's driver cannot do it.
	RefuseResize func(Check) string
	// RefuseAdding returns why topics cannot get more partitions under load; empty: they can, and
	// the Cluster is a PartitionAdder; nil: plimsoll's driver cannot do it.
	RefuseAdding func(s Settings) (why string)
	// Discovery names the setting that says how often clients look for partitions which were added;
	// empty: they know them at once.
	Discovery string
	Waits     []Wait // that settings cause, in the order of a message's way
	// Periods are those of work that the servers do from time to time, as plimsoll starts them.
	Periods []Period
	// Copies names the settings with the number of copies of each message, which may be left to
	// the number of servers.
	Copies []string
	// Redelivery says when the system delivers a message again although nothing fails; nil:
	// plimsoll assumes nothing.
	Redelivery func(s Settings, d workload.Delivery) Redelivery
	// RefuseReturns returns why consumers cannot give a message back that they could not handle, so
	// that it is delivered again, to any consumer of the subscription. The reason is a sentence
	// with a lower-case first letter; empty: they can; nil: the driver never can.
	RefuseReturns func(s Settings) (why string)
	// OwnsPartitions reports whether each partition belongs to one consumer of a subscription at a
	// time, so that order holds across consumers; nil: consumers share partitions.
	OwnsPartitions func(s Settings) bool
	// Unordered returns why order is not kept, not even of one producer's messages in one
	// partition, as a part of a sentence; empty or nil: it is kept.
	Unordered func(s Settings) (why string)
	// Spread is the rule of the system's own client for messages without a key; nil: each goes to
	// the next partition.
	Spread func(s Settings) Spread
	// RefuseExisting returns why topics that other applications use cannot be measured, as a part
	// of a sentence; empty: they can, and the Cluster is a TopicFinder; nil: OwnForm.
	RefuseExisting func(s Settings) (why string)
	// Variant names the variant that the options choose, such as a type of queue; empty or nil:
	// there is only one.
	Variant func(o Options) string
	// Capabilities are what the system's documentation says of capabilities, one statement at most
	// of each; nil: nothing is stated.
	Capabilities func(o Options) []Statement
	// IsHosted reports whether a target names a provider's service, which needs no endpoints and
	// which plimsoll does not start; nil: none does.
	IsHosted func(t *target.Target) bool
	// EstimateBill returns what the provider charges for a load on a target; charged is false when
	// it costs nothing. nil: nothing ever does.
	EstimateBill func(s Settings, t *target.Target, load Expected) (b Bill, charged bool)
}

// Always returns the function of a value that depends on no setting.
func Always[T any](value T) func(Settings) T { return func(Settings) T { return value } }

// Term is one of plimsoll's words and its counterpart on a system.
type Term struct{ Word, Means string }

// Guarantee says how a system gives a durability level, or why it cannot.
type Guarantee struct {
	How     string // the settings that give it, in the system's words
	Refusal string // not empty: why the system cannot give the level
}

// Options are the arguments of Connect.
type Options struct {
	Endpoints   []string
	Credentials Credentials
	// TLS is nil when connections are not encrypted.
	TLS        *tls.Config
	Settings   Settings
	Durability workload.Level
	// MaxUSD is the most that the connection may spend on a Spender; 0: no limit.
	MaxUSD float64
}

// Credentials are secrets. They are never written to a result or a log.
type Credentials struct {
	User, Password string
	// AdminUser and AdminPassword belong to an operator, who may read more, such as
	// a server's configuration. Empty: the same as User and Password.
	AdminUser, AdminPassword string
}

// Admin returns the credentials with the operator as the user, if they name one.
func (c Credentials) Admin() Credentials {
	if c.AdminUser != "" || c.AdminPassword != "" {
		c.User, c.Password = c.AdminUser, c.AdminPassword
	}
	return c
}

// Cluster is a connection to a running system. Its methods are safe for concurrent
// use.
type Cluster interface {
	// CreateTopic creates a topic at the options' durability level and returns
	// when every partition accepts messages. It returns an error if a topic of that name exists.
	CreateTopic(ctx context.Context, t Topic) error
	DeleteTopic(ctx context.Context, t Topic) error
	// ReadDurability returns the servers' configuration of the topics, at least one. An error means
	// that it contradicts the durability level, and names both values, or that the servers did not
	// answer.
	ReadDurability(ctx context.Context, topics []Topic) (Evidence, error)
	// ServerVersions returns a line for each server, such as "n1 2.15.2".
	ServerVersions(ctx context.Context) ([]string, error)
	OpenProducer(ctx context.Context, p ProducerOptions) (Producer, error)
	// OpenConsumer returns when the subscription exists: it receives every
	// message sent afterwards.
	OpenConsumer(ctx context.Context, c ConsumerOptions) (Consumer, error)
	// Close closes all producers and consumers of the cluster.
	Close(ctx context.Context) error
}

// Topic is a topic to create.
type Topic struct {
	Name       string
	Partitions int
}

// ProducerOptions describes the producer to open.
type ProducerOptions struct {
	Topic      Topic // with the partitions that it will have in the end
	Index      int   // of this producer among those of the topic
	InFlight   int   // most messages sent and not answered at one time
	MessageMax int   // largest payload in bytes
	Delivery   workload.Delivery
	// Answered, if not nil, is called for each request to the servers that was answered, from any
	// goroutine, with the time since it was written. Only producers whose client library tells
	// this without a cost for each message call it.
	Answered func(took time.Duration)
}

// Producer sends messages to one topic.
type Producer interface {
	// Send hands a message to the client library and returns without waiting
	// for the answer. One goroutine at a time calls it. The producer calls
	// m.Done exactly once for every Send, even when Send fails, the connection
	// is lost or the producer is closed. Send may block while the client
	// library's buffer is full.
	Send(m *Message)
	// Close waits, within ctx, for outstanding answers. Then it calls Done with
	// an error on the messages without an answer.
	Close(ctx context.Context) error
}

// BatchSender is a Producer whose client library takes several messages in one call.
// On other producers, the engine calls Send for each message of a batch.
type BatchSender interface {
	// SendBatch sends the messages, in their order, in one call. Like Send it does
	// not wait for answers, and each message has its own Done. It does not keep the
	// slice.
	SendBatch(batch []*Message)
}

// ConsumerOptions describes the consumer to open.
type ConsumerOptions struct {
	Topic        Topic
	Subscription string
	Index        int // of this consumer among those of the subscription
	// Members is the number of the subscription's consumers if other connections open some of
	// them; 0: this cluster opens all.
	Members  int
	Delivery workload.Delivery
	// AtEnd lets a new subscription begin at the topic's end; see TopicFinder. Otherwise earlier
	// messages of the topic may be delivered too.
	AtEnd bool
	// Receive is called for each message, by one goroutine at a time. The message
	// is valid until Receive returns. With at_least_once and exactly_once, the
	// consumer acknowledges the message after Receive returns; with at_most_once,
	// before it calls Receive. With exactly_once, it receives committed messages
	// only, and no copy that a producer's retry made.
	Receive func(m Received)
	// GiveBack, if not nil, is called after each Receive and before the next, by the same
	// goroutine. When it returns true, the consumer gives the message back instead of
	// acknowledging it. It is nil where RefuseReturns refuses.
	GiveBack func() bool
	// Failed is called, from any goroutine, with an error from which the consumer
	// cannot recover, such as the deletion of its topic or subscription by somebody else.
	Failed func(err error)
}

// Consumer receives from one subscription until it is closed.
type Consumer interface {
	// Close stops receiving. After it has returned, Receive is not called again.
	// Messages without an acknowledgement go to another consumer of the
	// subscription, now or when it opens.
	Close(ctx context.Context) error
}

// AssignmentWaiter is a Consumer that gets its partitions only when all consumers of
// its subscription are open.
type AssignmentWaiter interface {
	// AwaitAssignment returns when each partition has a consumer.
	AwaitAssignment(ctx context.Context) error
}

// Gatherer is a Producer that can send messages together which are due together.
type Gatherer interface {
	// Gather lets Send keep messages back until Flush.
	Gather()
	// Flush sends what was kept back. It may block as Send does. The caller calls it before it
	// waits for anything.
	Flush()
}

// Message is a message to send. It belongs to the sender until Send and to the system
// until Done. The system must not touch it afterwards.
type Message struct {
	Partition int32  // index of its partition
	Key       []byte // nil: none
	Payload   []byte
	// Attached holds a value of the producer's from its first Send of the message
	// on, so that it need not look up or allocate that value at every Send. Only
	// one producer ever sends a message.
	Attached any
	complete Completer
}

// ErrUnknown is wrapped by the error of a message that the system neither
// acknowledged nor refused: no answer came in time, or the connection was lost. Such
// a message may arrive.
var ErrUnknown = errors.New("the outcome is unknown")

// Completer receives the result of a message.
type Completer interface {
	// Complete is called once per Send. err is nil when the system has acknowledged
	// the message at the durability level, and wraps ErrUnknown when it has not
	// answered.
	Complete(err error)
}

// Bind sets the receiver of the message's result. It is called once, before the first
// Send.
func (m *Message) Bind(c Completer) { m.complete = c }

// Done reports the message's result: nil when the system has acknowledged it. It does
// not block and may be called from any goroutine.
func (m *Message) Done(err error) { m.complete.Complete(err) }

// Evidence is the durability that the servers report.
type Evidence struct {
	Level workload.Level // the level that follows from the facts
	// Stated: the facts are the provider's statements, because its servers cannot be asked.
	Stated bool
	// Copies is the number of copies of each message, of the topic with the fewest; 0: not known.
	Copies int
	Facts  []Fact
}

// Fact is a value that a part of a live cluster reported.
type Fact struct {
	Where  string // the node, topic or stream asked
	Name   string // in the system's own words
	Value  string
	Source string // the way by which it was read
}

// StandIn is the name of a fact about a server that speaks the system's protocol but is not the
// system itself. Its value is the server. Every result with such a fact has a warning.
const StandIn = "stand-in"

// Unready is the error of CreateTopic for a topic that exists from then on and is not ready. The
// caller deletes it.
type Unready struct{ Err error }

func (e *Unready) Error() string {
	return "the topic was created and is not ready: " + e.Err.Error()
}

func (e *Unready) Unwrap() error { return e.Err }

// BatchAdmin is a Cluster whose servers take many topics in one request.
type BatchAdmin interface {
	// CreateTopics creates the topics as CreateTopic does. When it fails, some of
	// them may exist.
	CreateTopics(ctx context.Context, topics []Topic) error
	// DeleteTopics deletes the topics. A topic that does not exist is no error.
	DeleteTopics(ctx context.Context, topics []Topic) error
}

// Period is the period of work that servers do from time to time: a window that is shorter has only
// a part of its cost, or none.
type Period struct {
	What    string        // the work
	Setting string        // the setting with the period; "": Every has it
	Every   time.Duration // that the servers have by default
}

// Embedded is a System that runs in this process and needs neither endpoints nor a testbed.
type Embedded interface {
	// Renew makes the next connection one to new servers. Each run that is kept has new ones,
	// because servers have a state that outlives a connection, such as how warm they are.
	Renew()
}

// Provisioner is a System whose servers plimsoll can start on this machine.
type Provisioner interface {
	// Provision starts a cluster for a request that passed Check, and returns when it accepts
	// connections. After an error it leaves nothing behind.
	Provision(ctx context.Context, p Provision) (Provisioned, error)
	// NodeNames returns the names of the nodes that Provision would start, as in
	// Provisioned.Nodes. Each node keeps its data, and nothing else, in the folder of
	// its name below the data directory. An empty folder of that name may exist already. No names:
	// the nodes run in this process.
	NodeNames(p Provision) []string
}

// Starts reports whether plimsoll starts the servers of a target itself: the system can be
// provisioned, and the target names neither endpoints nor a provider's service.
func Starts(s System, t *target.Target) bool {
	_, provisions := s.(Provisioner)
	return provisions && !RunsElsewhere(s, t)
}

// Fetcher is a Provisioner whose server software is downloaded before the servers are
// started.
type Fetcher interface {
	// Fetch downloads the software that servers with these settings need. It does nothing when the
	// software is on this machine already. It calls progress, which may be nil, with what it does.
	Fetch(ctx context.Context, s Settings, progress func(sentence string)) error
}

// Provision describes the cluster to start.
type Provision struct {
	Nodes int
	// Extra are servers beside these, for a cluster whose size changes (see Scaler). The last
	// Later of them are made ready, and start when Restarter.Restart starts them.
	Extra, Later int
	// DataDir is a directory of the caller. Each node keeps its data in the folder of its name
	// there. Such a folder may exist, when a file system is mounted on it, and may hold nothing
	// but lost+found.
	DataDir    string
	LogDir     string // directory of the nodes' logs
	Durability workload.Level
	Settings   Settings
	// Breakable requests nodes that are separate processes, even if the system's nodes usually are
	// not, so that faults can be injected into them and CPUs assigned to them.
	Breakable bool
	// Groups maps the names of nodes to the group ids under which their processes
	// run. A node without an entry runs under this process's group.
	Groups map[string]int
	// Site has the machines that the servers run on; nil: all on this one.
	Site Site
}

// All returns the number of servers, with those that start later.
func (p Provision) All() int { return p.Nodes + p.Extra }

// NodeServer is a Provisioner whose nodes are processes of this program.
type NodeServer interface {
	// NodeCommand returns the command of such a process. The node's name and folder
	// are its arguments. A program that provisions nodes must run ServeNode for it.
	NodeCommand() string
	// ServeNode runs a node until ctx ends. It reads the node's configuration and
	// writes the log to the file. It returns an error when the node cannot run.
	ServeNode(ctx context.Context, config io.Reader, log *os.File) error
}

// Provisioned is a cluster that runs on this machine.
type Provisioned interface {
	Endpoints() []string
	Credentials() Credentials
	// TLS returns the clients' configuration, nil when connections are not encrypted.
	TLS() *tls.Config
	// CAFile returns the PEM file of the authority that signed the nodes'
	// certificates. It is empty when connections are not encrypted.
	CAFile() string
	Nodes() []Node
	// Stop ends every node. The caller deletes the data directory.
	Stop(ctx context.Context) error
}

// Restarter is a Provisioned whose nodes can be killed and restarted one by one.
type Restarter interface {
	// Kill ends a node at once, without a clean shutdown. Unlike after a power cut,
	// the kernel still writes its buffers to disk.
	Kill(node string) error
	// Restart starts a killed node with its data and addresses, and returns when its
	// process runs. The node joins the others by itself.
	Restart(node string) error
	// Upgrade makes Restart start a version of the software from now on, on the node's data. The
	// Provisioner declares the server setting SettingVersion, and Fetch has downloaded that
	// version.
	Upgrade(ctx context.Context, node, version string) error
}

// Resizable is a Restarter that can have extra servers (Provision.Extra).
type Resizable interface {
	Restarter
	// Joining returns the nodes of the machine that starts next of those that start later, in the
	// order of their start, and Leaving those of the extra machine that started last. They return
	// nothing when there is none.
	Joining() []Node
	Leaving() []Node
	// Retire ends a node cleanly, for good.
	Retire(ctx context.Context, node string) error
	// Operate runs a program on a node's machine to its end, with which an operator changes the
	// cluster. The driver has given it this name for the node.
	Operate(ctx context.Context, node, program string) error
}

// Node is one server of a provisioned cluster.
type Node struct {
	Name    string
	Address string
	PID     int // on its machine; this process's when the node runs in it
	Ended   bool
	Log     string
	// Quit is the signal that makes the node end cleanly. 0 means SIGTERM.
	Quit syscall.Signal
}
