package artemis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/amqp"
)

// PublishAcked publishes settled and unsettled. The servers' replication decides when a message is
// accepted.
func (c *cluster) PublishAcked(
	ctx context.Context, t system.Topic, kind system.AckKind, payload []byte,
) (string, error) {
	switch {
	case kind == system.AckOne && c.level.Majority():
		return "", system.Lacks(
			"the servers' replication decides what accepted waits for, and here it " +
				"is the second server")
	case kind == system.AckReplicas && !c.level.Majority():
		return "", system.Lacks(
			"a mirror with sync=false is not waited for; a pair and a mirror with " +
				"sync=true are")
	}
	to, options := address(t, 0), &goamqp.SenderOptions{}
	if kind == system.AckNone {
		options.SettlementMode = goamqp.SenderSettleModeSettled.Ptr()
	}
	if kind == system.AckRefusal {
		to += ".nowhere"
	}
	x, err := c.newBox(ctx)
	if err != nil {
		return "", err
	}
	defer x.conn.Close(ctx)
	sender, err := x.conn.NewSender(ctx, to, options)
	var refusal *goamqp.Error
	switch {
	case kind == system.AckRefusal && errors.As(err, &refusal):
		return "the server refuses a link to an address that is not there: " + refusal.Error(), nil
	case kind == system.AckRefusal && err == nil:
		return "", errors.New("a link to an address that is not there was accepted")
	case err != nil:
		return "", c.dialer.Explain(err)
	}
	answer := "the outcome accepted"
	if kind == system.AckNone {
		answer = "sent as settled, so the server answers nothing"
	}
	return answer, sender.Send(ctx, goamqp.NewMessage(payload), nil)
}

// box holds what a probe makes, on a connection of its own.
type box struct {
	of        *cluster
	conn      *amqp.Conn
	life      context.Context
	cancel    context.CancelFunc
	reading   sync.WaitGroup
	addresses []string
	settings  []string // address patterns with added settings
	senders   map[string]*goamqp.Sender
	to        func(system.Envelope) string // returns the address of an envelope
}

func (c *cluster) newBox(ctx context.Context) (*box, error) {
	conn, err := c.dialer.Dial(ctx, 0)
	if err != nil {
		return nil, err
	}
	x := &box{of: c, conn: conn, senders: map[string]*goamqp.Sender{}}
	x.life, x.cancel = context.WithCancel(context.Background())
	return x, nil
}

// place creates an address, unless it exists, and a queue on it, unless the name is empty.
func (x *box) place(ctx context.Context, at, queue, filter string) error {
	if !slices.Contains(x.addresses, at) {
		if _, err := x.of.admin.call(ctx, broker, "createAddress", at, multicast); err != nil {
			return err
		}
		x.addresses = append(x.addresses, at)
	}
	if queue == "" {
		return nil
	}
	_, err := x.of.admin.call(ctx, broker, "createQueue", fmt.Sprintf(`{"name":%q,"address":%q,`+
		`"routing-type":%q,"durable":true,"filter-string":%q}`, queue, at, multicast, filter), true)
	return err
}

// set adds address settings for one address.
func (x *box) set(ctx context.Context, at, settings string) error {
	x.settings = append(x.settings, at)
	_, err := x.of.admin.call(ctx, broker, "addAddressSettings", at, settings)
	return err
}

// read receives from a queue until the box closes.
func (x *box) read(ctx context.Context, at, queue string, credit int32,
	handle func(r *goamqp.Receiver, m *goamqp.Message)) error {
	r, err := x.conn.NewReceiver(ctx, at+"::"+queue, &goamqp.ReceiverOptions{Credit: credit})
	if err != nil {
		return fmt.Errorf("receive queue %s: %w", queue, err)
	}
	x.reading.Go(func() {
		for {
			m, err := r.Receive(x.life, nil)
			if err != nil {
				return
			}
			handle(r, m)
		}
	})
	return nil
}

// accept returns a handler that hands a message over and then accepts it.
func accept(handle func(payload []byte)) func(*goamqp.Receiver, *goamqp.Message) {
	return func(r *goamqp.Receiver, m *goamqp.Message) {
		handle(amqp.Payload(m))
		_ = r.AcceptMessage(context.Background(), m) // if this is lost, the message is redelivered
	}
}

// Post publishes and waits for the outcome.
func (x *box) Post(ctx context.Context, e system.Envelope) error {
	to := x.to(e)
	if x.senders[to] == nil {
		if err := x.place(ctx, to, "", ""); err != nil && !refused(err, "AMQ229204") {
			return err
		}
		s, err := x.conn.NewSender(ctx, to, nil)
		if err != nil {
			return err
		}
		x.senders[to] = s
	}
	m := goamqp.NewMessage(e.Payload)
	m.Header = &goamqp.MessageHeader{Durable: true, Priority: uint8(e.Priority), TTL: e.TTL}
	if e.Delay > 0 {
		m.Annotations = goamqp.Annotations{"x-opt-delivery-delay": e.Delay.Milliseconds()}
	}
	m.ApplicationProperties = map[string]any{}
	for name, value := range e.Headers {
		m.ApplicationProperties[name] = value
	}
	return x.senders[to].Send(ctx, m, nil)
}

// Close ends the consumers, and deletes the addresses with their queues.
func (x *box) Close(ctx context.Context) error {
	x.cancel()
	x.reading.Wait()
	x.conn.Close(ctx)
	var errs []error
	for _, at := range x.addresses {
		_, err := x.of.admin.call(ctx, broker, "deleteAddress", at, true)
		errs = append(errs, err)
	}
	for _, at := range x.settings {
		_, err := x.of.admin.call(ctx, broker, "removeAddressSettings", at)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// OpenRoutes uses an address for each key, wildcards for patterns, and queue filters for headers.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (
	system.Publisher, string, error,
) {
	x, err := c.newBox(ctx)
	if err != nil {
		return nil, "", err
	}
	base, filters := r.Topic.Name, r.Kind == system.RouteHeaders
	keyed := r.Kind == system.RouteDirect || r.Kind == system.RoutePattern
	x.to = func(e system.Envelope) string {
		if keyed {
			return base + "." + e.Key
		}
		return base
	}
	for i, b := range r.Bindings {
		at, filter := x.to(system.Envelope{Key: b.Key}), ""
		if filters {
			var all []string
			for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
				all = append(all, fmt.Sprintf("%s = '%s'", name, b.Headers[name]))
			}
			filter = strings.Join(all, " AND ")
		}
		queue := fmt.Sprintf("%s.queue-%d", base, i)
		err := x.place(ctx, at, queue, filter)
		if err == nil {
			err = x.read(ctx, at, queue, 100, accept(b.Receive))
		}
		if err != nil {
			return nil, "", errors.Join(err, x.Close(ctx))
		}
	}
	return x, map[system.RouteKind]string{
		system.RouteDirect:  "an address for each key",
		system.RoutePattern: "an address for each key, and queues on addresses with wildcards",
	}[r.Kind], nil
}

// mailbox is a box with one queue.
type mailbox struct {
	*box
	at, queue string
}

// OpenMailbox makes an address with a queue: all features are properties of messages.
func (c *cluster) OpenMailbox(ctx context.Context, t system.Topic, _ system.Feature) (
	system.Mailbox, string, error,
) {
	x, err := c.openMailbox(ctx, t, "")
	return x, "", err
}

func (c *cluster) openMailbox(ctx context.Context, t system.Topic, settings string) (
	*mailbox, error,
) {
	x, err := c.newBox(ctx)
	if err != nil {
		return nil, err
	}
	x.to = func(system.Envelope) string { return t.Name }
	if settings != "" {
		err = x.set(ctx, t.Name, settings)
	}
	b := &mailbox{x, t.Name, t.Name + ".queue"}
	if err == nil {
		err = x.place(ctx, b.at, b.queue, "")
	}
	if err != nil {
		return nil, errors.Join(err, x.Close(ctx))
	}
	return b, nil
}

// Open begins to receive, one message at a time, so that priorities take effect.
func (b *mailbox) Open(ctx context.Context, receive func(payload []byte)) error {
	return b.read(ctx, b.at, b.queue, 1, accept(receive))
}

// OpenRejecting rejects messages, which go to the dead-letter address at once.
func (c *cluster) OpenRejecting(ctx context.Context, t system.Topic,
	rejected, dead func([]byte)) (system.Publisher, string, error) {
	letters := t.Name + "-dead"
	x, err := c.openMailbox(ctx, t,
		fmt.Sprintf(`{"deadLetterAddress":%q,"maxDeliveryAttempts":1}`, letters))
	if err != nil {
		return nil, "", err
	}
	err = x.place(ctx, letters, letters+".queue", "")
	if err == nil {
		err = x.read(ctx, letters, letters+".queue", 10, accept(dead))
	}
	if err == nil {
		err = x.read(ctx, x.at, x.queue, 10, func(r *goamqp.Receiver, m *goamqp.Message) {
			rejected(amqp.Payload(m))
			_ = r.RejectMessage(context.Background(), m, nil) // if lost: redelivered
		})
	}
	if err != nil {
		return nil, "", errors.Join(err, x.Close(ctx))
	}
	return x, "dead-letter-address in the address settings", nil
}

// PublishBeyond fills an address whose policy is to refuse.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (
	p system.BackPressure, condition string, err error,
) {
	limit := n / 2
	x, err := c.openMailbox(ctx, t, fmt.Sprintf(`{"addressFullMessagePolicy":"FAIL",`+
		`"maxSizeMessages":%d}`, limit))
	if err != nil {
		return p, "", err
	}
	p.Limit = fmt.Sprintf("max-size-messages %d, address-full-policy FAIL", limit)
	began := time.Now()
	err = driver.Overfill(ctx, x, n, &p, func(err error) string {
		var refusal *goamqp.Error
		if errors.As(err, &refusal) {
			return refusal.Error()
		}
		return ""
	})
	p.Held = time.Since(began)
	return p, "address-full-policy FAIL; with BLOCK the server gives producers no credit, and " +
			"with PAGE, the default, it writes to the disk what exceeds the memory",
		errors.Join(err, x.Close(ctx))
}

// PublishTwice sends a message twice with one duplicate-detection id.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (
	answer, condition string, err error,
) {
	x, err := c.newBox(ctx)
	if err != nil {
		return "", "", err
	}
	defer x.conn.Close(ctx)
	s, err := x.conn.NewSender(ctx, address(t, 0), nil)
	if err != nil {
		return "", "", c.dialer.Explain(err)
	}
	m := goamqp.NewMessage(payload)
	m.ApplicationProperties = map[string]any{"_AMQ_DUPL_ID": "1"}
	if err := s.Send(ctx, m, nil); err != nil {
		return "", "", err
	}
	answer = "accepted both times"
	if err := s.Send(ctx, m, nil); err != nil {
		answer = "the second time: " + err.Error()
	}
	return answer, "the application property _AMQ_DUPL_ID, within the server's memory of " +
		"id-cache-size ids", nil
}

// lacks holds the reasons for missing capabilities and their substitutes.
var lacks = driver.Lacks{
	Sharing: driver.SharedAsTheyAre,
	Replay: "a queue deletes what was accepted; the journal's retention brings messages back by " +
		"an operator's command and for a whole server",
	Transactions: "the server has transactions (AMQP's coordinator), and go-amqp, the client " +
		"library, has not",
}
