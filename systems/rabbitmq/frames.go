package rabbitmq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// This file reads and writes the frames of AMQP 0.9.1 that messages consist of.

// Types of frames, and the byte at the end of each.
const (
	methodFrame = 1
	headerFrame = 2
	bodyFrame   = 3
	frameEnd    = 0xCE

	frameHead = 7             // bytes: type, channel, length of the payload
	frameRest = frameHead + 1 // with the end
)

// Methods: the class in the upper half, as they are sent.
const (
	channelOpen    = 20<<16 | 10
	channelClose   = 20<<16 | 40
	channelCloseOk = 20<<16 | 41
	basicPublish   = 60<<16 | 40
	basicDeliver   = 60<<16 | 60
	basicAck       = 60<<16 | 80
	basicNack      = 60<<16 | 120

	basicClass = 60
)

// Flags of a message's properties.
const (
	withHeaders     = 1 << 13
	withMode        = 1 << 12
	withCorrelation = 1 << 10
)

// Sizes in bytes.
const (
	frameMost  = 128 << 10 // of a frame, which is what the library negotiates at most
	bodyMost   = 512 << 20 // of a message: no server can be configured to take more
	shortMost  = 255       // of a short text
	readBuffer = 16 << 10  // until there is a larger frame
)

// frame is a frame as it arrived, valid until the next one is read.
type frame []byte

func (f frame) kind() byte      { return f[0] }
func (f frame) channel() uint16 { return binary.BigEndian.Uint16(f[1:]) }
func (f frame) payload() []byte { return f[frameHead : len(f)-1] }

// method returns the method of a frame, and its fields; 0: it has none.
func (f frame) method() (id uint32, m fields) {
	if f.kind() != methodFrame {
		return 0, m
	}
	m.rest = f.payload()
	return uint32(m.number(4)), m
}

// frames reads frames.
type frames struct {
	from  io.Reader
	wait  func() // called before each read, which may wait for the server
	buf   []byte
	begin int // of what was not returned yet
	end   int
}

// next returns the next frame, of at most a number of bytes.
func (r *frames) next(most int) (frame, error) {
	for {
		held, need := r.buf[r.begin:r.end], frameRest
		if len(held) >= frameHead {
			length := int64(binary.BigEndian.Uint32(held[3:]))
			if length > int64(most-frameRest) {
				return nil, fmt.Errorf("no frame of AMQP 0.9.1: its payload has %d bytes, and at "+
					"most %d are allowed for all of it (frame_max)", length, most)
			}
			need += int(length)
		}
		if len(held) < need {
			if err := r.fill(need); err != nil {
				return nil, err
			}
			continue
		}
		if held[need-1] != frameEnd {
			return nil, fmt.Errorf("no frame of AMQP 0.9.1: it ends with 0x%02X", held[need-1])
		}
		r.begin += need
		return frame(held[:need]), nil
	}
}

// fill reads more, with room for a frame of a number of bytes.
func (r *frames) fill(need int) error {
	held := r.buf[r.begin:r.end]
	if need > len(r.buf) {
		r.buf = make([]byte, max(need, readBuffer))
	}
	r.begin, r.end = 0, copy(r.buf, held)
	r.wait()
	n, err := r.from.Read(r.buf[r.end:])
	r.end += n
	if n > 0 {
		return nil // an error comes again
	}
	return err
}

// fields reads the fields of a method or a header. A field that is not there is empty, and over is
// true from then on.
type fields struct {
	rest []byte
	over bool
}

// take returns a number of bytes.
func (m *fields) take(n int) []byte {
	if n > len(m.rest) {
		m.over, m.rest = true, nil
		return nil
	}
	taken := m.rest[:n]
	m.rest = m.rest[n:]
	return taken
}

// number reads a number of a size in bytes.
func (m *fields) number(size int) (n uint64) {
	for _, b := range m.take(size) {
		n = n<<8 | uint64(b)
	}
	return n
}

// ended returns an error if a field was not there.
func (m *fields) ended() error {
	if m.over {
		return errors.New("the server sends a frame that ends within a field")
	}
	return nil
}

// skipShort skips a text of up to 255 bytes.
func (m *fields) skipShort() { m.take(int(m.number(1))) }

// appendHead appends the head of a frame. Its payload and frameEnd follow.
func appendHead(b []byte, kind byte, channel uint16, length int) []byte {
	b = binary.BigEndian.AppendUint16(append(b, kind), channel)
	return binary.BigEndian.AppendUint32(b, uint32(length))
}

func appendFrame(b []byte, kind byte, channel uint16, payload []byte) []byte {
	return append(append(appendHead(b, kind, channel, len(payload)), payload...), frameEnd)
}

// appendShort appends a text of up to 255 bytes. Queues and exchanges cannot have longer names.
func appendShort(b []byte, text string) []byte {
	text = text[:min(len(text), shortMost)]
	return append(append(b, byte(len(text))), text...)
}

// settlement returns the payload of basic.ack or basic.nack.
func settlement(id uint32, tag uint64, bits byte) (b [13]byte) {
	binary.BigEndian.PutUint32(b[:], id)
	binary.BigEndian.PutUint64(b[4:], tag)
	b[12] = bits
	return b
}

// template is what the messages of a route have in common: the method that publishes them, and
// their properties but the last, the correlation id.
type template struct{ method, properties []byte }

// newTemplate returns the template of messages to an exchange. They are mandatory: the server
// returns those that no queue takes.
func newTemplate(exchange string, to route, mode uint8) template {
	const mandatory = 1
	method := binary.BigEndian.AppendUint32(nil, basicPublish)
	method = appendShort(append(method, 0, 0), exchange)
	method = append(appendShort(method, to.key), mandatory)

	flags := uint16(withMode | withCorrelation)
	var table []byte
	for name, value := range to.headers {
		flags |= withHeaders
		table = append(appendShort(table, name), 'I')
		table = binary.BigEndian.AppendUint32(table, uint32(value))
	}
	properties := binary.BigEndian.AppendUint16(nil, flags)
	if len(table) > 0 {
		properties = binary.BigEndian.AppendUint32(properties, uint32(len(table)))
		properties = append(properties, table...)
	}
	return template{method, append(properties, mode)}
}

// appendMessage appends the frames of a message, each of at most a number of bytes.
func appendMessage(b []byte, channel uint16, to *template, correlation string, body []byte,
	most int) []byte {
	b = appendFrame(b, methodFrame, channel, to.method)
	b = appendHead(b, headerFrame, channel, 12+len(to.properties)+1+len(correlation))
	b = append(b, 0, basicClass, 0, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
	b = append(appendShort(append(b, to.properties...), correlation), frameEnd)
	for len(body) > 0 {
		part := body[:min(len(body), most-frameRest)]
		b = appendFrame(b, bodyFrame, channel, part)
		body = body[len(part):]
	}
	return b
}
