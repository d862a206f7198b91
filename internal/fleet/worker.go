package fleet

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// WorkerOptions are the arguments of Work.
type WorkerOptions struct {
	Coordinator string // host:port
	Token       Token
	Name        string // of this worker, its own in the fleet
	Host        string
	Version     string // of plimsoll
	Cores       int
	Systems     *system.Registry
	Clock       clock.Clock
	// Hosting makes it a host, which runs servers, in place of a worker.
	Hosting *Hosting
	// elsewhere has a test's worker disregard that it shares the coordinator's clock.
	elsewhere bool
	// chronys returns what chrony says, in a test; nil: skew.AskChrony.
	chronys func(context.Context) *skew.Chrony
	// Wait is how long it tries to reach its coordinator, which may start later; 0: a minute.
	Wait time.Duration
	// Say, which may be nil, receives what the worker does, a sentence each, from any goroutine.
	Say func(sentence string)
}

const (
	joinWait  = time.Minute
	joinPause = time.Second
	callLimit = 10 * time.Second
	wordsRoom = 64 // words that wait to be sent
	// exchangesLeast is how many exchanges of time come before a run.
	exchangesLeast = 20
)

// Work joins a fleet and does what its coordinator asks, until the coordinator ends the fleet
// (nil), ctx ends, or the coordinator is gone. The load has ended when it returns.
func Work(ctx context.Context, o WorkerOptions) error {
	w := &workerEnd{options: o, words: make(chan *word, wordsRoom),
		running: make(map[uint64]context.CancelFunc)}
	me := hello{Name: o.Name, Host: o.Host, Version: o.Version, Cores: o.Cores, Kernel: kernel()}
	if o.elsewhere {
		me.Kernel = ""
	}
	if o.Hosting != nil {
		me.Address = o.Hosting.Address
		w.hosted = &hosted{Hosting: *o.Hosting, systems: o.Systems, say: w.say}
	}
	mine, err := w.join(ctx, me)
	if err != nil {
		return err
	}
	if w.skewed != nil {
		w.say("another machine than the coordinator's: " + orNone(skew.Evidence()))
		if o.chronys == nil {
			o.chronys = skew.AskChrony
		}
		me.Chrony = o.chronys(ctx)
	}
	conn, err := w.dial(mine)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := openStream(ctx, conn)
	if err != nil {
		return fmt.Errorf("join %s: %w", o.Coordinator, plain(err))
	}
	if err := stream.SendMsg(&me); err != nil {
		return fmt.Errorf("join %s: %w", o.Coordinator, plain(err))
	}
	w.say("joined " + o.Coordinator + " as " + o.Name)
	err = w.serve(ctx, cancel, conn, stream)
	if w.hosted != nil {
		err = errors.Join(err, w.hosted.clear())
	}
	return errors.Join(err, w.share.finish())
}

// workerEnd is the worker's end of the connection.
type workerEnd struct {
	options WorkerOptions
	words   chan *word
	share   runShare
	hosted  *hosted     // nil: it is a worker
	clock   clock.Clock // the coordinator's time
	skewed  *skew.Clock // clock, where the worker's own is another one; nil: it is the same

	mu      sync.Mutex
	running map[uint64]context.CancelFunc // orders under way
	orders  sync.WaitGroup
}

func (w *workerEnd) say(sentence string) {
	if w.options.Say != nil {
		w.options.Say(sentence)
	}
}

func (w *workerEnd) dial(mine *tls.Certificate) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("passthrough:///"+w.options.Coordinator,
		grpc.WithTransportCredentials(credentials.NewTLS(w.options.Token.pinned(mine))),
		grpc.WithInitialWindowSize(windowBytes), grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{}),
			grpc.MaxCallRecvMsgSize(wireMost+headRoom)))
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", w.options.Coordinator, err)
	}
	return conn, nil
}

// join exchanges the token for a certificate. It goes on trying for a time, because the
// coordinator may start later than its workers.
func (w *workerEnd) join(ctx context.Context, me hello) (*tls.Certificate, error) {
	key, public, err := newKey()
	if err != nil {
		return nil, err
	}
	pkix, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	conn, err := w.dial(nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	ask := &joinAsk{Secret: w.options.Token.secret[:], Hello: me, KeyPKIX: pkix}
	ended := time.Now().Add(cmp.Or(w.options.Wait, joinWait))
	for {
		answer := new(joinAnswer)
		within, cancel := context.WithTimeout(ctx, callLimit)
		err := conn.Invoke(within, methodJoin, ask, answer)
		cancel()
		if err == nil {
			w.setClock(me.Kernel != "" && me.Kernel == answer.Kernel)
			return &tls.Certificate{Certificate: [][]byte{answer.Certificate}, PrivateKey: key}, nil
		}
		again := droppedBefore(err) || status.Code(err) == codes.DeadlineExceeded
		if !again || time.Now().After(ended) || !clock.Sleep(ctx, joinPause) {
			return nil, fmt.Errorf("join %s: %w", w.options.Coordinator, plain(err))
		}
		conn.ResetConnectBackoff()
	}
}

// setClock chooses the clock of the worker's part: its own where that is the coordinator's.
func (w *workerEnd) setClock(same bool) {
	w.clock = w.options.Clock
	if !same {
		w.skewed = skew.New(w.options.Clock)
		w.clock = w.skewed
	}
}

// orNone is what the machine says of its clock.
func orNone(evidence string) string {
	if evidence == "" {
		return "its kernel reports nothing about its clock"
	}
	return evidence
}

// plain unwraps an error of gRPC: it returns an error with only its message.
func plain(err error) error {
	if s, is := status.FromError(err); is && s.Message() != "" {
		return errors.New(s.Message())
	}
	return err
}

// serve does what it is told until the connection ends.
func (w *workerEnd) serve(ctx context.Context, cancel context.CancelFunc, conn *grpc.ClientConn,
	stream grpc.ClientStream,
) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	defer w.orders.Wait()
	defer cancel()
	beside.Go(func() { w.send(ctx, stream) })
	silent := make(chan error, 1)
	beside.Go(func() {
		if err := w.keepTime(ctx, conn); err != nil {
			silent <- err
			cancel()
		}
	})
	for {
		o := new(order)
		if err := stream.RecvMsg(o); err != nil {
			select {
			case err := <-silent:
				return err
			default:
			}
			return w.ended(ctx, err)
		}
		w.begin(ctx, o)
	}
}

// ended says how the connection ended.
func (w *workerEnd) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if w.idle() {
		w.say("the coordinator has ended the fleet")
		return nil
	}
	if w.hosted != nil {
		return fmt.Errorf("the coordinator is gone, so the servers have been ended: %w", plain(err))
	}
	return fmt.Errorf("the coordinator is gone, so the load has ended: %w", plain(err))
}

// idle reports whether nothing is under way.
func (w *workerEnd) idle() bool {
	return w.share.idle() && (w.hosted == nil || w.hosted.idle())
}

// keepTime exchanges time with the coordinator until ctx ends, or the coordinator is silent.
func (w *workerEnd) keepTime(ctx context.Context, conn *grpc.ClientConn) error {
	stream, err := conn.NewStream(ctx, &timeStream, methodTime)
	if err != nil {
		return fmt.Errorf("ask the coordinator for its time: %w", plain(err))
	}
	answered := make(chan struct{}, 1)
	go func() {
		for {
			t := new(tock)
			if stream.RecvMsg(t) != nil {
				return // the stream ends with ctx
			}
			w.learn(ctx, t)
			select {
			case answered <- struct{}{}:
			default:
			}
		}
	}()
	next := time.NewTimer(w.pace())
	defer next.Stop()
	owner := time.NewTimer(ownerLimit)
	defer owner.Stop()
	for {
		select {
		case <-next.C:
			if err := stream.SendMsg(&tick{SentNs: w.options.Clock.Now()}); err != nil {
				return nil // the other stream says why
			}
			next.Reset(w.pace())
		case <-answered:
			owner.Reset(ownerLimit)
		case <-owner.C:
			return fmt.Errorf("the coordinator was silent for %s, so the load has ended",
				ownerLimit)
		case <-ctx.Done():
			return nil
		}
	}
}

// pace is how long to wait for the next exchange. Where the clocks are one, an exchange only shows
// that both ends live.
func (w *workerEnd) pace() time.Duration {
	if w.skewed == nil {
		return skew.CalmPace
	}
	return w.skewed.Pace()
}

// learn gives an exchange to the disciplined clock. A step ends the run.
func (w *workerEnd) learn(ctx context.Context, t *tock) {
	if w.skewed == nil {
		return
	}
	step, err := w.skewed.Add(skew.Exchange{SentNs: t.SentNs, ReceivedNs: t.ReceivedNs,
		AnsweredNs: t.AnsweredNs, ReturnedNs: w.skewed.Own()})
	if err == nil && step != nil && !w.share.idle() {
		w.speak(ctx, &word{Event: &load.Event{Kind: load.Failure,
			Sentence: "the clock of worker " + w.options.Name + " " + step.String()}})
	}
}

// awaitClock returns when the coordinator's time is known, and sets the clock to it.
func (w *workerEnd) awaitClock(ctx context.Context) error {
	if w.skewed == nil {
		return nil
	}
	for w.skewed.State().Exchanges < exchangesLeast {
		if !clock.Sleep(ctx, skew.EagerPace) {
			return fmt.Errorf("learn the coordinator's time: %w", ctx.Err())
		}
	}
	return w.skewed.Jump()
}

// send sends words until ctx ends.
func (w *workerEnd) send(ctx context.Context, stream grpc.ClientStream) {
	for {
		select {
		case one := <-w.words:
			if stream.SendMsg(one) != nil {
				return // the receiving side says why
			}
		case <-ctx.Done():
			return
		}
	}
}

// tell reports an event of the load.
func (w *workerEnd) tell(ctx context.Context) func(load.Event) {
	return func(e load.Event) {
		if e.Kind != load.Failure {
			return // the coordinator shows the progress of the whole
		}
		e.Sentence = load.BoundText(e.Sentence)
		w.speak(ctx, &word{Event: &e})
	}
}

func (w *workerEnd) speak(ctx context.Context, one *word) {
	select {
	case w.words <- one:
	case <-ctx.Done():
	}
}

// begin does an order beside others, and answers it.
func (w *workerEnd) begin(ctx context.Context, o *order) {
	if o.Do == actionCancel {
		var which uint64
		if decode(o.Body, &which) == nil {
			w.cancel(which)
		}
		return
	}
	within, cancel := context.WithCancel(ctx)
	if o.LimitNs > 0 {
		within, cancel = context.WithTimeout(ctx, time.Duration(o.LimitNs))
	}
	w.mu.Lock()
	w.running[o.Call] = cancel
	w.mu.Unlock()
	w.orders.Go(func() {
		defer w.cancel(o.Call)
		answer, err := w.do(within, ctx, o)
		w.answer(ctx, o.Call, answer, err)
	})
}

func (w *workerEnd) cancel(which uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel := w.running[which]; cancel != nil {
		cancel()
		delete(w.running, which)
	}
}

// answer sends an answer in parts.
func (w *workerEnd) answer(ctx context.Context, to uint64, answer any, err error) {
	last := &word{Call: to, Last: true}
	var raw []byte
	if err == nil && answer != nil {
		raw, err = encoding.Marshal(answer)
	}
	if err != nil {
		last.Error, raw = load.BoundText(err.Error()), nil
	}
	for len(raw) > wireMost {
		w.speak(ctx, &word{Call: to, Part: raw[:wireMost]})
		raw = raw[wireMost:]
	}
	last.Part = raw
	w.speak(ctx, last)
}

// do does an order. within ends with the order, and ctx with the connection.
func (w *workerEnd) do(within, ctx context.Context, o *order) (answer any, err error) {
	if w.hosted != nil {
		return w.hosted.do(within, ctx, o, w.read)
	}
	switch o.Do {
	case actionBegin:
		var a Assignment
		if err := w.read(o.Body, &a); err != nil {
			return nil, err
		}
		if err := w.awaitClock(within); err != nil {
			return nil, err
		}
		return nil, w.share.begin(within, a, w.means(ctx))
	case actionFinish:
		return nil, w.share.finish()
	}
	local, err := w.share.worker()
	if err != nil {
		return nil, err
	}
	answer, err = perform(within, local, o, w.read)
	if sample, is := answer.(load.Sample); is && err == nil {
		return w.timed(sample), nil
	}
	return answer, err
}

// timed adds the state of the clock to a sample.
func (w *workerEnd) timed(s load.Sample) sampled {
	if w.skewed == nil {
		return sampled{Sample: s}
	}
	return sampled{s, &clockState{w.skewed.State(), w.skewed.GreatestBoundNs()}}
}

// means are what a share works with.
func (w *workerEnd) means(ctx context.Context) means {
	return means{systems: w.options.Systems, clock: w.clock, tell: w.tell(ctx), say: w.say}
}

func (*workerEnd) read(raw cbor.RawMessage, into any) error {
	if err := decode(raw, into); err != nil {
		return fmt.Errorf("an order cannot be read: %w", err)
	}
	return nil
}

// perform calls the method of a worker that an order names.
func perform(ctx context.Context, on load.Worker, o *order,
	read func(cbor.RawMessage, any) error,
) (answer any, err error) {
	var ready readyAsk
	var window load.Window
	var histograms bool
	var limit time.Duration
	bodies := map[action]any{actionReady: &ready, actionStart: &window, actionCut: &window,
		actionSample: &histograms, actionClose: &limit}
	if body := bodies[o.Do]; body != nil {
		if err := read(o.Body, body); err != nil {
			return nil, err
		}
	}
	switch o.Do {
	case actionOpen:
		return nil, on.Open(ctx)
	case actionReady:
		return on.Ready(ctx, ready.Again, ready.Wait)
	case actionStart:
		return nil, on.Start(window)
	case actionCut:
		return nil, on.Cut(window)
	case actionSample:
		return on.Sample(histograms)
	case actionAccount:
		return on.Account()
	case actionClose:
		return nil, on.Close(limit)
	}
	return nil, fmt.Errorf("there is no order %q", o.Do)
}
