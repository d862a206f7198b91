package amqp

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// Descriptors of AMQP 1.0 that the peer knows.
const (
	codeOpen, codeBegin, codeAttach, codeFlow = 0x10, 0x11, 0x12, 0x13
	codeTransfer, codeDisposition             = 0x14, 0x15
	codeEnd, codeClose                        = 0x17, 0x18
	codeAccepted, codeRejected, codeReleased  = 0x24, 0x25, 0x26
	codeMechanisms, codeInit, codeOutcome     = 0x40, 0x41, 0x44
)

// peer is a minimal server that gives any answer when the test chooses. The tests of the drivers
// use real servers.
type peer struct {
	listener net.Listener
	credit   uint32
	refuses  bool // every login
	// answer returns the descriptor of the outcome of message number n; 0: none.
	answer func(n int) byte
	// deliver holds the messages for the client's receivers.
	deliver []string

	mu       sync.Mutex
	conns    []net.Conn
	sent     [][]byte // messages that came, undecoded
	accepted int
}

func startPeer(t *testing.T, p *peer) string {
	t.Helper()
	var err error
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, c)
			p.mu.Unlock()
			serving.Go(func() { (&peerConn{peer: p, Conn: c}).serve() })
		}
	})
	t.Cleanup(func() { p.listener.Close(); p.cut(); serving.Wait() })
	return p.listener.Addr().String()
}

// cut closes all connections.
func (p *peer) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
}

type peerConn struct {
	*peer
	net.Conn
	id      uint32 // of the next delivery
	settles []byte // whether deliveries are settled as they are sent
}

func (c *peerConn) serve() {
	defer c.Close()
	header := make([]byte, 8)
	for {
		if _, err := io.ReadFull(c, header); err != nil {
			return
		}
		if string(header[:4]) == "AMQP" {
			c.Write(header)
			if header[4] == 3 {
				c.frame(1, 0, list(codeMechanisms, mechanisms))
			}
			continue
		}
		body := make([]byte, binary.BigEndian.Uint32(header)-8)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		if len(body) == 0 {
			continue // a heartbeat
		}
		code, fields, rest := performative(body)
		if !c.handle(binary.BigEndian.Uint16(header[6:]), code, fields, rest) {
			return
		}
	}
}

func (c *peerConn) handle(channel uint16, code byte, f [][]byte, payload []byte) bool {
	send := func(code byte, fields ...[]byte) { c.frame(0, channel, list(code, fields...)) }
	switch code {
	case codeInit:
		outcome := byte(0)
		if c.refuses {
			outcome = 1
		}
		c.frame(1, 0, list(codeOutcome, []byte{0x50, outcome}))
	case codeOpen:
		send(codeOpen, f[0])
	case codeBegin:
		send(codeBegin, []byte{0x60, 0, byte(channel)}, number(0), number(5000), number(5000))
	case codeAttach:
		clientSends := f[2][0] == 0x42
		role := []byte{0x42}
		if clientSends {
			role = []byte{0x41}
		}
		c.settles = []byte{0x42}
		if bytes.Equal(f[3], []byte{0x50, 1}) { // the sender's mode: settled
			c.settles = []byte{0x41}
		}
		send(codeAttach, f[0], f[1], role, f[3], null, f[5], f[6], null, null, number(0))
		if clientSends {
			send(codeFlow, number(0), number(5000), number(0), number(5000), f[1], number(0),
				number(c.credit))
		}
	case codeFlow:
		if f[4][0] == null[0] || c.id > 0 {
			break // no link's, or not the first
		}
		for _, one := range c.deliver {
			c.frame(0, channel, append(list(codeTransfer, f[4], number(c.id),
				[]byte{0xa0, 1, byte(c.id)}, number(0), c.settles), one...))
			c.id++
		}
	case codeTransfer:
		c.mu.Lock()
		c.sent = append(c.sent, payload)
		n := len(c.sent)
		c.mu.Unlock()
		if outcome := c.answer(n - 1); outcome != 0 {
			send(codeDisposition, []byte{0x41}, f[1], null, []byte{0x41}, list(outcome))
		}
	case codeDisposition:
		c.mu.Lock()
		c.accepted++
		c.mu.Unlock()
	case codeEnd:
		send(codeEnd)
	case codeClose:
		send(codeClose)
		return false
	}
	return true
}

func (c *peerConn) frame(kind byte, channel uint16, body []byte) {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	out = binary.BigEndian.AppendUint16(append(out, 2, kind), channel)
	c.Write(append(out, body...))
}

var (
	null       = []byte{0x40}
	mechanisms = []byte("\xe0\x12\x02\xa3\x09ANONYMOUS\x05PLAIN") // an array of symbols
)

func number(n uint32) []byte     { return binary.BigEndian.AppendUint32([]byte{0x70}, n) }
func section(text string) string { return "\x00\x53\x75\xa0" + string(rune(len(text))) + text }

// list encodes a described list.
func list(code byte, fields ...[]byte) []byte {
	var body []byte
	for _, f := range fields {
		body = append(body, f...)
	}
	out := binary.BigEndian.AppendUint32([]byte{0, 0x53, code, 0xd0}, uint32(len(body)+4))
	return append(binary.BigEndian.AppendUint32(out, uint32(len(fields))), body...)
}

// performative returns the descriptor and the encoded fields of a described list, and the bytes
// after it. It adds nulls for omitted trailing fields.
func performative(b []byte) (code byte, fields [][]byte, rest []byte) {
	code, b = b[2], b[3:]
	n, size := 0, 1
	switch b[0] {
	case 0xc0:
		n, size, b = int(b[2]), int(b[1])-1, b[3:]
	case 0xd0:
		n, size = int(binary.BigEndian.Uint32(b[5:])), int(binary.BigEndian.Uint32(b[1:]))-4
		b = b[9:]
	}
	rest = b[size:]
	for range n {
		width := width(b)
		fields, b = append(fields, b[:width]), b[width:]
	}
	for len(fields) < 10 {
		fields = append(fields, null)
	}
	return code, fields, rest
}

// width returns the encoded length of the first value.
func width(b []byte) int {
	switch b[0] >> 4 {
	case 0:
		descriptor := 1 + width(b[1:])
		return descriptor + width(b[descriptor:])
	case 4:
		return 1
	case 0xa, 0xc, 0xe:
		return 2 + int(b[1])
	case 0xb, 0xd, 0xf:
		return 5 + int(binary.BigEndian.Uint32(b[1:]))
	}
	return 1 + 1<<(b[0]>>4-5)
}
