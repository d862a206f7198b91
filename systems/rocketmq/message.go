package rocketmq

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
)

// Properties of a message are name, 1, value, 2.
const (
	propertyValue = "\x01"
	propertyEnd   = "\x02"
	propertyKey   = "plimsoll-key" // in base64, because properties are text
)

// Parts of a stored message, in bytes.
const (
	beforeSysFlag   = 4 + 4 + 4 + 4 + 4 + 8 + 8
	afterSysFlag    = 4 + 8 // and the time of birth
	hostV4, hostV6  = 8, 20
	afterBorn       = 8     // the time of storing
	afterStored     = 4 + 8 // deliveries, and the offset of a transaction
	bornV6          = 1 << 4
	storedV6        = 1 << 5
	longTopics      = -626843477 // the second version, whose topics' lengths have two bytes
	magicAt         = 4
	offsetAt        = 20
	batchedOverhead = 4 + 4 + 4 + 4 + 4 + 2
)

// appendBatched appends a message of a batch. The server leaves unread what is 0 here.
func appendBatched(b, payload, key []byte) []byte {
	properties := ""
	if key != nil {
		properties = propertyKey + propertyValue + base64.RawStdEncoding.EncodeToString(key) +
			propertyEnd
	}
	b = binary.BigEndian.AppendUint32(b, uint32(batchedOverhead+len(payload)+len(properties)))
	b = append(b, make([]byte, 4+4+4)...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, payload...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(properties)))
	return append(b, properties...)
}

// stored is a message as a server stores and sends it.
type stored struct {
	offset  int64
	payload []byte
	key     []byte // nil: none
}

var errMessage = errors.New("no message of RocketMQ's format")

// readStored reads the first of the messages in b, and returns the rest.
func readStored(b []byte) (m stored, rest []byte, err error) {
	if len(b) < beforeSysFlag+4 {
		return m, nil, errMessage
	}
	size := int(binary.BigEndian.Uint32(b))
	if size < beforeSysFlag+4 || size > len(b) {
		return m, nil, errMessage
	}
	b, rest = b[:size], b[size:]
	flags := binary.BigEndian.Uint32(b[beforeSysFlag:])
	born, at := hostV4, hostV4
	if flags&bornV6 != 0 {
		born = hostV6
	}
	if flags&storedV6 != 0 {
		at = hostV6
	}
	m.offset = int64(binary.BigEndian.Uint64(b[offsetAt:]))
	topicBytes := 1
	if int32(binary.BigEndian.Uint32(b[magicAt:])) == longTopics {
		topicBytes = 2
	}
	p := parser{rest: b}
	p.take(beforeSysFlag + afterSysFlag + born + afterBorn + at + afterStored)
	m.payload = p.counted(4)
	p.counted(topicBytes)
	properties := p.counted(2)
	if p.short {
		return m, nil, errMessage
	}
	m.key, err = keyOf(string(properties))
	return m, rest, err
}

// keyOf returns the key among a message's properties; nil: none.
func keyOf(properties string) ([]byte, error) {
	for one := range strings.SplitSeq(properties, propertyEnd) {
		if name, value, _ := strings.Cut(one, propertyValue); name == propertyKey {
			return base64.RawStdEncoding.AppendDecode([]byte{}, []byte(value))
		}
	}
	return nil, nil
}

// parser takes parts of a message.
type parser struct {
	rest  []byte
	short bool // a part was longer than the rest
}

func (p *parser) take(n int) (part []byte) {
	if n > len(p.rest) {
		p.short, n = true, len(p.rest)
	}
	part, p.rest = p.rest[:n], p.rest[n:]
	return part
}

// counted takes a part whose length is in so many bytes before it.
func (p *parser) counted(bytes int) []byte {
	n := 0
	for _, b := range p.take(bytes) {
		n = n<<8 | int(b)
	}
	return p.take(n)
}
