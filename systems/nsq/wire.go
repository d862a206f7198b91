package nsq

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Kinds of frames that servers send.
const (
	frameResponse = 0
	frameError    = 1
	frameMessage  = 2
)

// Responses.
const (
	responseOK        = "OK"
	responseHeartbeat = "_heartbeat_"
	responseClosing   = "CLOSE_WAIT"
)

const (
	// frameMost bounds the bytes of a frame: a message with its header, or a list of words.
	frameMost = 64 << 20
	idSize    = 16
	// headerSize is the length of a message's time, attempts and id.
	headerSize = 8 + 2 + idSize
)

// refusal is a server's error, in its words.
type refusal string

func (r refusal) Error() string { return string(r) }

// identity is what a client tells of itself.
type identity struct {
	UserAgent             string `json:"user_agent"`
	Negotiation           bool   `json:"feature_negotiation"`
	HeartbeatMs           int64  `json:"heartbeat_interval"`              // -1: none
	OutputBufferSize      int64  `json:"output_buffer_size,omitempty"`    // -1: none
	MessageTimeoutMs      int64  `json:"msg_timeout,omitempty"`           // 0: the server's own
	OutputBufferTimeoutMs int64  `json:"output_buffer_timeout,omitempty"` // -1: none
	TLS                   bool   `json:"tls_v1"`
}

// features are the used parts of a server's answer.
type features struct {
	Version  string `json:"version"`
	MaxReady int64  `json:"max_rdy_count"`
	TLS      bool   `json:"tls_v1"`
	Auth     bool   `json:"auth_required"`
}

// conn is a connection to a server, in the second version of NSQ's protocol. One goroutine reads
// and one writes, or one does both.
type conn struct {
	raw      net.Conn // encrypted, or socket
	socket   net.Conn
	in       *bufio.Reader
	out      *bufio.Writer
	features features

	frame  []byte // the latest, reused
	amid   bool   // frame is not complete, and has this kind and will have this length
	kind   uint32
	length int
}

// errNoTLS is the error of a server without TLS.
var errNoTLS = errors.New("nsqd offers no TLS there: remove tls from the target, or start nsqd " +
	"with -tls-cert and -tls-key")

// errAuth is the error of a server that asks for a secret.
var errAuth = errors.New("nsqd asks for an authorisation there, which plimsoll's driver cannot " +
	"give")

// dial connects and identifies the client. Within ctx it also waits for the answer.
func dial(ctx context.Context, address string, config *tls.Config, who identity) (*conn, error) {
	raw, err := driver.Dial(ctx, "tcp", address, nil)
	if err != nil {
		return nil, err
	}
	c := &conn{socket: raw}
	c.wrap(raw)
	stop := context.AfterFunc(ctx, c.cut)
	defer stop()
	if until, bounded := ctx.Deadline(); bounded {
		_ = raw.SetDeadline(until) // it fails only on a closed connection
	}
	who.UserAgent, who.Negotiation, who.TLS = "plimsoll", true, config != nil
	if err = c.identify(ctx, address, config, who); err != nil {
		c.cut()
		return nil, err
	}
	_ = raw.SetDeadline(time.Time{})
	return c, nil
}

func (c *conn) wrap(raw net.Conn) {
	c.raw, c.in, c.out = raw, bufio.NewReaderSize(raw, 64<<10), bufio.NewWriterSize(raw, 64<<10)
}

func (c *conn) identify(ctx context.Context, address string, config *tls.Config,
	who identity) error {
	if _, err := c.out.WriteString("  V2"); err != nil {
		return err
	}
	body, err := json.Marshal(who)
	if err != nil {
		return err
	}
	if err := c.command("IDENTIFY", body); err != nil {
		return err
	}
	answer, err := c.answer()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, &c.features); err != nil {
		return fmt.Errorf("read who the server is: %w", err)
	}
	switch {
	case c.features.Auth:
		return errAuth
	case config == nil:
		return nil
	case !c.features.TLS:
		return errNoTLS
	}
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address) // it was dialled
	}
	encrypted := tls.Client(c.raw, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return err
	}
	c.wrap(encrypted)
	_, err = c.answer() // over TLS the server begins anew, with OK
	return err
}

// command writes a command with a body, which may be nil, and sends what was written.
func (c *conn) command(line string, body []byte) error {
	c.write(line, body)
	return c.out.Flush()
}

// write writes a command. Flush reports its errors.
func (c *conn) write(line string, body []byte) {
	_, _ = c.out.WriteString(line)
	_ = c.out.WriteByte('\n')
	if body == nil {
		return
	}
	c.size(len(body))
	_, _ = c.out.Write(body)
}

func (c *conn) size(n int) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	_, _ = c.out.Write(b[:])
}

// next reads a frame. Its bytes are valid until the next call. After an error of a deadline a later
// call goes on where this one ended.
func (c *conn) next() (kind uint32, body []byte, err error) {
	if !c.amid {
		head, err := c.in.Peek(8)
		if err != nil {
			return 0, nil, err
		}
		size, kind := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
		if size < 4 || size > frameMost || kind > frameMessage {
			return 0, nil, fmt.Errorf("no frame of NSQ's protocol: %d bytes of kind %d", size, kind)
		}
		_, _ = c.in.Discard(len(head)) // they are there
		c.amid, c.kind, c.length, c.frame = true, kind, int(size)-4, c.frame[:0]
	}
	for have := len(c.frame); have < c.length; have = len(c.frame) {
		// A peer that only promises many bytes gets no memory for them.
		c.frame = slices.Grow(c.frame, min(c.length-have, 1<<20))
		n, err := c.in.Read(c.frame[have:min(c.length, cap(c.frame))])
		c.frame = c.frame[:have+n]
		if err != nil {
			return 0, nil, err
		}
	}
	c.amid = false
	return c.kind, c.frame, nil
}

// answer reads the answer to the oldest command without one. The error is a refusal if the server
// sent one.
func (c *conn) answer() ([]byte, error) {
	for {
		kind, body, err := c.next()
		switch {
		case err != nil:
			return nil, err
		case kind == frameError:
			return nil, refusal(body)
		case kind == frameMessage:
			return nil, errors.New("the server sends a message to a client that asked for none")
		case string(body) == responseHeartbeat:
			if err := c.command("NOP", nil); err != nil {
				return nil, err
			}
			continue
		}
		return body, nil
	}
}

// message is a message as a server sends it.
type message struct {
	id   [idSize]byte
	body []byte // valid until the next frame
}

// readMessage reads the body of a frame with a message.
func readMessage(frame []byte) (m message, err error) {
	if len(frame) < headerSize {
		return m, fmt.Errorf("no message of NSQ's protocol: %d bytes", len(frame))
	}
	copy(m.id[:], frame[headerSize-idSize:])
	m.body = frame[headerSize:]
	return m, nil
}

// finish and requeue end a message. Flush reports errors.
func (c *conn) finish(id [idSize]byte) {
	_, _ = c.out.WriteString("FIN ")
	_, _ = c.out.Write(id[:])
	_ = c.out.WriteByte('\n')
}

func (c *conn) requeue(id [idSize]byte) {
	_, _ = c.out.WriteString("REQ ")
	_, _ = c.out.Write(id[:])
	_, _ = c.out.WriteString(" 0\n")
}

// cut ends the connection at once.
func (c *conn) cut() { _ = c.socket.Close() } // TLS would say goodbye first
