package mqtt

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	bufferSize = 64 << 10 // bytes
	// subscribeID is the packet identifier of SUBSCRIBE. A connection sends one at a time, and
	// none while it publishes.
	subscribeID = 1
)

// session says how a client introduces itself.
type session struct {
	id         string
	anew       bool // discard a session of that id (Clean Start)
	expiry     time.Duration
	receiveMax uint16 // most messages that the server may send ahead of their acknowledgements
	keepAlive  time.Duration
	user       string
	password   string
}

// conn is a connection to a server. One goroutine reads. Any may append to out and flush.
type conn struct {
	raw    net.Conn // encrypted, or socket
	socket net.Conn
	in     *bufio.Reader
	told   *packets.Connack // the server's answer
	quiet  time.Duration    // how long the server may send nothing
	ping   *time.Timer

	heard   time.Time // when the reader last moved its deadline
	stopped atomic.Bool
	frame   []byte   // the latest packet's body, reused
	early   []packet // that came while the reader waited for another one
	pongs   uint64   // answers to pings that the reader has read

	flushing sync.Mutex // held while spare is written
	spare    []byte
	mu       sync.Mutex // guards out and pings
	out      []byte
	pings    uint64 // sent, or waiting in out
}

// dial connects, and waits within ctx for the server's answer.
func dial(ctx context.Context, address string, config *tls.Config, s session) (*conn, error) {
	raw, err := driver.Dial(ctx, "tcp", address, config)
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, socket: raw, in: bufio.NewReaderSize(raw, bufferSize),
		quiet: s.keepAlive}
	if encrypted, is := raw.(*tls.Conn); is {
		c.socket = encrypted.NetConn()
	}
	stop := context.AfterFunc(ctx, func() { _ = c.socket.Close() })
	defer stop()
	c.ping = time.AfterFunc(time.Hour, c.beat)
	if err := c.introduce(ctx, s); err != nil {
		c.cut()
		return nil, cmp.Or(ctx.Err(), err)
	}
	c.ping.Reset(c.quiet / 2)
	return c, nil
}

func (c *conn) introduce(ctx context.Context, s session) error {
	if until, bounded := ctx.Deadline(); bounded {
		_ = c.raw.SetDeadline(until) // it fails only on a closed connection
		defer func() { _ = c.raw.SetDeadline(time.Time{}) }()
		c.heard = until // next leaves the deadline as it is
	}
	expiry := uint32(s.expiry / time.Second)
	properties := &packets.Properties{SessionExpiryInterval: &expiry}
	if s.receiveMax > 0 {
		properties.ReceiveMaximum = &s.receiveMax
	}
	hello := packets.Connect{ProtocolName: "MQTT", ProtocolVersion: 5, ClientID: s.id,
		CleanStart: s.anew, KeepAlive: uint16(s.keepAlive / time.Second), Properties: properties,
		Username: s.user, UsernameFlag: s.user != "",
		Password: []byte(s.password), PasswordFlag: s.password != ""}
	if _, err := hello.WriteTo(c.raw); err != nil {
		return err
	}
	p, err := c.next()
	if err != nil {
		return err
	}
	if p.kind != packets.CONNACK {
		return p.reason()
	}
	c.told = &packets.Connack{Properties: &packets.Properties{}}
	if err := c.told.Unpack(bytes.NewBuffer(p.body)); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	if c.told.ReasonCode != packets.ConnackSuccess {
		return &refusal{c.told.ReasonCode, "the server refuses the connection: " +
			c.told.Reason()}
	}
	if own := c.told.Properties.ServerKeepAlive; own != nil && *own > 0 {
		c.quiet = min(c.quiet, time.Duration(*own)*time.Second)
	}
	c.heard = time.Time{}
	return nil
}

// next reads a packet.
func (c *conn) next() (packet, error) {
	if c.in.Buffered() == 0 {
		c.extend()
	}
	head, err := c.in.ReadByte()
	if err != nil {
		return packet{}, err
	}
	length, err := binary.ReadUvarint(c.in)
	if err != nil {
		return packet{}, err
	}
	if length > packetMost {
		return packet{}, fmt.Errorf("no packet of MQTT: %d bytes", length)
	}
	c.frame = c.frame[:0]
	for have := 0; have < int(length); have = len(c.frame) {
		// A peer that only promises many bytes gets no memory for them.
		c.frame = slices.Grow(c.frame, min(int(length)-have, 1<<20))
		n, err := io.ReadAtLeast(c.in, c.frame[have:min(int(length), cap(c.frame))], 1)
		if err != nil {
			return packet{}, err
		}
		c.frame = c.frame[:have+n]
	}
	if head>>4 == packets.PINGRESP {
		c.pongs++
	}
	return packet{kind: head >> 4, flags: head & 0xf, body: c.frame}, nil
}

// nextKept is next after the packets that were kept in early.
func (c *conn) nextKept() (packet, error) {
	if len(c.early) == 0 {
		return c.next()
	}
	p := c.early[0]
	c.early = c.early[1:]
	return p, nil
}

// extend moves the deadline of reading, now and then: a server that answers no ping is lost.
func (c *conn) extend() {
	now := time.Now()
	if now.Sub(c.heard) < c.quiet/4 {
		return
	}
	c.heard = now
	_ = c.raw.SetReadDeadline(now.Add(c.quiet)) // it fails only on a closed connection
	if c.stopped.Load() {
		_ = c.raw.SetReadDeadline(now)
	}
}

// interrupt ends the reader's wait.
func (c *conn) interrupt() {
	c.stopped.Store(true)
	_ = c.raw.SetReadDeadline(time.Now())
}

// ask sends a request and waits for the answer, a packet of some kind.
func (c *conn) ask(ctx context.Context, request []byte, kind byte) (packet, error) {
	if err := c.send(request); err != nil {
		return packet{}, err
	}
	return c.await(ctx, func(p packet) bool { return p.kind == kind })
}

// await reads until a packet is wanted. Messages that come before it are kept in early.
func (c *conn) await(ctx context.Context, wanted func(packet) bool) (packet, error) {
	stop := context.AfterFunc(ctx, c.interrupt)
	defer stop()
	for {
		p, err := c.next()
		switch {
		case err != nil || wanted(p):
			return p, err
		case p.kind == packets.PUBLISH:
			p.body = bytes.Clone(p.body)
			c.early = append(c.early, p)
		case p.kind != packets.PINGRESP:
			return p, p.reason()
		}
	}
}

// subscribe subscribes to topic filters.
func (c *conn) subscribe(ctx context.Context, filters []packets.SubOptions) error {
	request := packets.Subscribe{PacketID: subscribeID, Subscriptions: filters,
		Properties: &packets.Properties{}}
	var b bytes.Buffer
	if _, err := request.WriteTo(&b); err != nil {
		return err
	}
	p, err := c.ask(ctx, b.Bytes(), packets.SUBACK)
	if err != nil {
		return err
	}
	return granted(p, filters)
}

// subscribeTwice subscribes for a client that receives. HiveMQ looks for the shared subscriptions
// of a client that has connected, beside its first SUBSCRIBE: if it finds none, it sends the client
// one batch of messages, and no other before the next SUBSCRIBE.
func (c *conn) subscribeTwice(ctx context.Context, filters []packets.SubOptions) error {
	if err := c.subscribe(ctx, filters); err != nil {
		return err
	}
	return c.subscribe(ctx, filters)
}

// granted returns an error unless a SUBACK grants every filter with the QoS that was asked for.
func granted(p packet, filters []packets.SubOptions) error {
	answer := packets.Suback{Properties: &packets.Properties{}}
	if err := answer.Unpack(bytes.NewBuffer(p.body)); err != nil {
		return fmt.Errorf("read the answer to SUBSCRIBE: %w", err)
	}
	if len(answer.Reasons) != len(filters) {
		return fmt.Errorf("the server answers %d of %d filters of a SUBSCRIBE",
			len(answer.Reasons), len(filters))
	}
	for i, code := range answer.Reasons {
		if code >= reasonError || code < filters[i].QoS {
			return &refusal{code, fmt.Sprintf("the server does not grant %s with QoS %d: %s",
				filters[i].Topic, filters[i].QoS, answer.Reason(i))}
		}
	}
	return nil
}

// publish publishes a message of QoS 1 and waits for its acknowledgement.
func (c *conn) publish(ctx context.Context, message []byte) error {
	p, err := c.ask(ctx, message, packets.PUBACK)
	if err != nil {
		return err
	}
	_, code, err := readAnswer(p.body)
	if err == nil && code >= reasonError {
		err = &refusal{code, "the server refuses a message"}
	}
	return err
}

// send sends bytes after those that wait.
func (c *conn) send(b []byte) error {
	c.mu.Lock()
	c.out = append(c.out, b...)
	c.mu.Unlock()
	return c.flush()
}

// append appends a message to those that wait for flush.
func (c *conn) append(topic string, id uint16, qos byte, payload []byte) {
	c.mu.Lock()
	c.out = appendPublish(c.out, topic, id, qos, payload)
	c.mu.Unlock()
}

// answer appends an answer to those that wait for flush.
func (c *conn) answer(kind byte, id uint16) {
	c.mu.Lock()
	c.out = appendAnswer(c.out, kind, id)
	c.mu.Unlock()
}

// forget acknowledges a message that is not handled yet, and those in early, and waits until the
// server has read that. No server answers an acknowledgement, so a ping follows it: one that is
// still on its way when the connection breaks would be lost, and the messages come again.
func (c *conn) forget(ctx context.Context, p packet) (packet, error) {
	p.body = bytes.Clone(p.body)
	c.early = slices.Insert(c.early, 0, p)
	for i, one := range c.early {
		if m, err := readMessage(one); err == nil && m.qos > 0 && !one.forgotten {
			c.answer(packets.PUBACK, m.id)
			c.early[i].forgotten = true
		}
	}
	last, err := c.sendPing()
	if err == nil {
		_, err = c.await(ctx, func(p packet) bool {
			return p.kind == packets.PINGRESP && c.pongs >= last
		})
	}
	p, c.early = c.early[0], c.early[1:]
	return p, err
}

// flush sends what waits in out.
func (c *conn) flush() error {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	c.mu.Lock()
	c.out, c.spare = c.spare[:0], c.out
	c.mu.Unlock()
	if len(c.spare) == 0 {
		return nil
	}
	_ = c.raw.SetWriteDeadline(time.Now().Add(c.quiet)) // Write reports it
	_, err := c.raw.Write(c.spare)
	return err
}

// sendPing sends a ping after what waits in out, and returns which one it is, counted from 1.
func (c *conn) sendPing() (uint64, error) {
	c.mu.Lock()
	c.out = append(c.out, packets.PINGREQ<<4, 0)
	c.pings++
	last := c.pings
	c.mu.Unlock()
	return last, c.flush()
}

// beat sends a ping, so that both sides hear of each other.
func (c *conn) beat() {
	if _, err := c.sendPing(); err == nil && !c.stopped.Load() {
		c.ping.Reset(c.quiet / 2)
	}
}

// leaveWithin bounds the wait for a goodbye to be sent.
const leaveWithin = time.Second

// leave ends the connection in good order. Without keep its session ends too.
func (c *conn) leave(keep bool) {
	c.stopped.Store(true)
	late := time.AfterFunc(leaveWithin, c.cut)
	defer late.Stop()
	_ = c.send(goodbye(keep)) // the connection ends in any case
	c.cut()
}

// goodbye returns a packet that ends the connection, and without keep its session too.
func goodbye(keep bool) []byte {
	if keep {
		return []byte{packets.DISCONNECT << 4, 0}
	}
	return []byte{packets.DISCONNECT << 4, 7, 0, 5, 0x11, 0, 0, 0, 0} // Session Expiry Interval 0
}

// part leaves and waits until the server has ended the connection too, so that it knows the end of
// this session before the next one of the same name begins. Nobody else may read.
func (c *conn) part(keep bool) {
	c.stopped.Store(true)
	late := time.AfterFunc(leaveWithin, c.cut)
	defer late.Stop()
	_ = c.raw.SetReadDeadline(time.Time{}) // late bounds the wait
	if c.send(goodbye(keep)) == nil {
		_, _ = io.Copy(io.Discard, c.in) // it ends with the connection, in whichever way
	}
	c.cut()
}

// cut ends the connection at once.
func (c *conn) cut() {
	c.stopped.Store(true)
	c.ping.Stop()
	_ = c.socket.Close() // TLS would say goodbye first
}
