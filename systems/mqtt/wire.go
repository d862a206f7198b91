package mqtt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/eclipse/paho.golang/packets"
)

// packetMost bounds the length of a packet, without its type and this length itself, in bytes.
const packetMost = 1<<28 - 1

// retain is the flag of a PUBLISH that the server keeps for later subscribers.
const retain = 1

// Reason codes that have a meaning here.
const (
	reasonError     = 0x80 // and above: the request was refused
	reasonTakenOver = packets.DisconnectSessionTakenOver
)

// packet is a packet as it arrived. Its body is valid until the next one is read.
type packet struct {
	kind, flags byte
	body        []byte
	forgotten   bool // a message that is acknowledged already
}

// reason returns the error of a packet in whose place another one was expected.
func (p packet) reason() error {
	if p.kind != packets.DISCONNECT {
		return fmt.Errorf("the server sends a packet of type %d, which nothing asked for", p.kind)
	}
	told := packets.Disconnect{Properties: &packets.Properties{}}
	if len(p.body) > 0 {
		if err := told.Unpack(bytes.NewBuffer(p.body)); err != nil {
			return fmt.Errorf("read why the server ends the connection: %w", err)
		}
	}
	return &refusal{told.ReasonCode, "the server ends the connection: " + told.Reason()}
}

// refusal is a server's error.
type refusal struct {
	code  byte
	words string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (code 0x%02X)", r.words, r.code) }

// appendPublish appends a PUBLISH without properties. A message of QoS 0 has no id.
func appendPublish(b []byte, topic string, id uint16, qos byte, payload []byte) []byte {
	b = append(b, packets.PUBLISH<<4|qos<<1)
	b = binary.AppendUvarint(b, uint64(2+len(topic)+2+1+len(payload)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(topic)))
	b = append(b, topic...)
	b = binary.BigEndian.AppendUint16(b, id)
	b = append(b, 0) // the length of the properties
	return append(b, payload...)
}

// publishSize is the most that appendPublish adds to a payload.
func publishSize(topic string) int { return 1 + 4 + 2 + len(topic) + 2 + 1 }

// appendAnswer appends a PUBACK, PUBREC, PUBREL or PUBCOMP of success.
func appendAnswer(b []byte, kind byte, id uint16) []byte {
	head := kind << 4
	if kind == packets.PUBREL {
		head |= 2 // the protocol asks for it
	}
	return binary.BigEndian.AppendUint16(append(b, head, 2), id)
}

// readAnswer reads the body of a PUBACK, PUBREC, PUBREL or PUBCOMP.
func readAnswer(body []byte) (id uint16, code byte, err error) {
	if len(body) < 2 {
		return 0, 0, errors.New("an answer without a packet identifier")
	}
	if len(body) > 2 {
		code = body[2]
	}
	return binary.BigEndian.Uint16(body), code, nil
}

// message is a PUBLISH as it arrived. It is valid until the next packet is read.
type message struct {
	topic, payload []byte
	id             uint16
	qos            byte
}

// readMessage reads a PUBLISH and skips its properties.
func readMessage(p packet) (m message, err error) {
	m.qos = p.flags >> 1 & 3
	rest := p.body
	take := func(n int) (part []byte) {
		if n > len(rest) {
			err, n = errors.New("a PUBLISH ends before its payload"), len(rest)
		}
		part, rest = rest[:n], rest[n:]
		return part
	}
	number := func() int {
		b := take(2)
		if err != nil {
			return 0
		}
		return int(binary.BigEndian.Uint16(b))
	}
	m.topic = take(number())
	if m.qos > 0 {
		m.id = uint16(number())
	}
	length, n := binary.Uvarint(rest)
	if n <= 0 || length > packetMost {
		return m, errors.New("a PUBLISH without the length of its properties")
	}
	take(n)
	take(int(length))
	m.payload = rest
	return m, err
}
