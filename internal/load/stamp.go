package load

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// magic opens every payload. It distinguishes a damaged message of plimsoll's from a foreign one.
const magic = 0x314d4c50 // "PLM1"

// proofMagic opens the messages that prove a partition before the load begins, which are in no
// count. The lane of such a message is the partition's number among the partitions of all topics.
const proofMagic = 0x524d4c50 // "PLMR"

// stamp is the first workload.StampBytes of a payload, little endian: magic, run, lane
// and check of 4 bytes each, sequence of 5, transaction of 3, due time of 8.
type stamp struct {
	run   uint32 // identifies the run of a message
	lane  uint32 // topic, producer and partition
	seq   int64  // within the lane, from 0
	dueNs int64  // on the machine's monotonic clock
	// transaction is the producer's number of the transaction that the message is part
	// of, modulo 2^24; 0: of none.
	transaction uint32
}

// seqBits is the number of bits of the sequence number. A million messages a second in one lane
// fill it in twelve days.
const (
	seqBits         = 40
	seqMask         = 1<<seqBits - 1
	transactionMask = 1<<(64-seqBits) - 1
)

// numbers returns the sequence number and the transaction in one word.
func (s stamp) numbers() uint64 {
	return uint64(s.seq)&seqMask | uint64(s.transaction)<<seqBits
}

// check returns the checksum of the rest of the stamp.
func (s stamp) check() uint32 {
	return uint32(mix(uint64(s.run)<<32|uint64(s.lane)) ^ mix(s.numbers()) ^ uint64(
		s.dueNs)*0x9e3779b97f4a7c15>>32)
}

func (s stamp) put(b []byte) {
	_ = b[workload.StampBytes-1]
	binary.LittleEndian.PutUint32(b[0:], magic)
	binary.LittleEndian.PutUint32(b[4:], s.run)
	binary.LittleEndian.PutUint32(b[8:], s.lane)
	binary.LittleEndian.PutUint32(b[12:], s.check())
	binary.LittleEndian.PutUint64(b[16:], s.numbers())
	binary.LittleEndian.PutUint64(b[24:], uint64(s.dueNs))
}

// The ways a payload can be read.
const (
	stampGood = iota
	stampForeign
	stampCorrupt
	stampProof
)

// readStamp reads a payload's stamp. Foreign is a payload of another origin; corrupt is a payload
// with a damaged stamp.
func readStamp(b []byte, run uint32) (stamp, int) {
	if len(b) < workload.StampBytes {
		return stamp{}, stampForeign
	}
	opens := binary.LittleEndian.Uint32(b)
	if opens != magic && opens != proofMagic {
		return stamp{}, stampForeign
	}
	numbers := binary.LittleEndian.Uint64(b[16:])
	s := stamp{
		run:         binary.LittleEndian.Uint32(b[4:]),
		lane:        binary.LittleEndian.Uint32(b[8:]),
		seq:         int64(numbers & seqMask),
		dueNs:       int64(binary.LittleEndian.Uint64(b[24:])),
		transaction: uint32(numbers >> seqBits),
	}
	if s.check() != binary.LittleEndian.Uint32(b[12:]) {
		return s, stampCorrupt
	}
	if s.run != run {
		return s, stampForeign
	}
	if opens == proofMagic {
		return s, stampProof
	}
	return s, stampGood
}

// payload makes and checks the bytes after the stamp: random bytes, then zeros. The bytes and
// their number are a function of seed, lane and sequence.
type payload struct {
	seed   uint64
	most   int                 // bytes of the largest message
	sizes  *workload.SizeTable // nil: all messages have most bytes
	random float64             // share of the bytes after the stamp that no codec can shrink
}

func newPayload(m workload.Message, seed uint64) payload {
	return payload{seed: seed, most: int(m.Largest()), sizes: m.Table(), random: m.Incompressible}
}

// newPayloads returns the payloads of a workload's messages, or of each of its classes.
func newPayloads(w *workload.Workload) []payload {
	if len(w.Classes) == 0 {
		return []payload{newPayload(w.Message, w.Seed)}
	}
	var all []payload
	for class := range w.Classes {
		all = append(all, newPayload(w.MessageOf(class), w.Seed))
	}
	return all
}

// size returns the size of a message, and how many bytes after its stamp are random.
func (p *payload) size(lane uint32, seq int64) (all, random int) {
	all = p.most
	if p.sizes != nil {
		first := mix(p.seed ^ 0x73697a65 ^ mix(uint64(lane)<<40^uint64(seq)))
		all = int(p.sizes.At(first, mix(first)))
	}
	return all, int(float64(all-workload.StampBytes) * p.random)
}

// stream is the generator of one payload's bytes: one 64 x 64 multiplication for 16 bytes, after
// wyrand (Wang Yi 2019), which makes 8 of them.
type stream uint64

func (p *payload) stream(lane uint32, seq int64) stream {
	return stream(mix(p.seed ^ mix(uint64(lane)<<40^uint64(seq))))
}

func (s *stream) next() (first, second uint64) {
	*s += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(uint64(*s), uint64(*s)^0xe7037ed1a0b428db)
	return hi ^ lo, hi + bits.RotateLeft64(lo, 32)
}

// fill writes the bytes after a message's stamp into its buffer, and returns the message. used is
// the number of bytes after the stamp that the buffer's last message filled; all others are zeros.
func (p *payload) fill(buffer []byte, lane uint32, seq int64, used int) (message []byte, now int) {
	size, random := p.size(lane, seq)
	b := buffer[workload.StampBytes:]
	if random < used {
		clear(b[random:used])
	}
	p.stream(lane, seq).fill(b[:random])
	return buffer[:size], random
}

func (s stream) fill(b []byte) {
	// Four words at a time cost less than two: the loop has fewer steps and checks of bounds.
	for len(b) >= 32 {
		four := b[:32]
		w0, w1 := s.next()
		w2, w3 := s.next()
		binary.LittleEndian.PutUint64(four, w0)
		binary.LittleEndian.PutUint64(four[8:], w1)
		binary.LittleEndian.PutUint64(four[16:], w2)
		binary.LittleEndian.PutUint64(four[24:], w3)
		b = b[32:]
	}
	for len(b) >= 8 {
		w, _ := s.next()
		binary.LittleEndian.PutUint64(b, w)
		b = b[8:]
	}
	for last, _ := s.next(); len(b) > 0; b, last = b[1:], last>>8 {
		b[0] = byte(last)
	}
}

// intact reports whether a payload equals what fill wrote, to the last byte.
func (p *payload) intact(b []byte, lane uint32, seq int64) bool {
	size, filled := p.size(lane, seq)
	if len(b) != size {
		return false
	}
	s := p.stream(lane, seq)
	b = b[workload.StampBytes:]
	random, zeros := b[:filled], b[filled:]
	var wrong uint64
	for len(random) >= 32 {
		four := random[:32]
		w0, w1 := s.next()
		w2, w3 := s.next()
		wrong |= binary.LittleEndian.Uint64(four) ^ w0
		wrong |= binary.LittleEndian.Uint64(four[8:]) ^ w1
		wrong |= binary.LittleEndian.Uint64(four[16:]) ^ w2
		wrong |= binary.LittleEndian.Uint64(four[24:]) ^ w3
		random = random[32:]
	}
	for len(random) >= 8 {
		w, _ := s.next()
		wrong |= binary.LittleEndian.Uint64(random) ^ w
		random = random[8:]
	}
	for last, _ := s.next(); len(random) > 0; random, last = random[1:], last>>8 {
		wrong |= uint64(random[0] ^ byte(last))
	}
	return wrong == 0 && allZeros(zeros)
}

// someZeros is compared with what must be zero, because bytes.Equal compares many bytes at a time.
var someZeros [4 << 10]byte

func allZeros(b []byte) bool {
	for len(b) > len(someZeros) {
		if !bytes.Equal(b[:len(someZeros)], someZeros[:]) {
			return false
		}
		b = b[len(someZeros):]
	}
	return bytes.Equal(b, someZeros[:len(b)])
}
