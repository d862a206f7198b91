package load

import (
	"math"
	"math/rand/v2"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// keyBytes is the length of a key: enough hexadecimal digits for any count.
const keyBytes = 16

// chooser picks key and partition of each message: a pure function of seed
// and message number. It has one owner.
type chooser struct {
	kind     workload.KeyKind
	count    uint64
	seed     uint64
	zipf     *rand.Zipf
	shares   *workload.KeyTable
	source   *keySource
	stayNs   int64 // least span of due times with one partition, without keys; 0: any
	stayMsgs int64 // least number of messages with it; 0: any
}

// newChooser returns the chooser of a workload's messages. spread is the rule of the system's own
// client for messages without a key; the zero value sends them to the partitions one by one.
func newChooser(w *workload.Workload, spread system.Spread) *chooser {
	k := w.Keys
	c := &chooser{
		kind: k.Kind, count: uint64(max(k.Count, 1)),
		seed: mix(w.Seed ^ 0x6b6579), stayMsgs: 1, shares: k.Table(),
	}
	if w.Spread != workload.SpreadRoundRobin && (spread.Stay > 0 || spread.StayBytes > 0) {
		c.stayNs = int64(spread.Stay)
		c.stayMsgs = int64(math.Ceil(float64(spread.StayBytes) / max(w.Message.Mean(), 1)))
	}
	if k.Kind == workload.KeysZipf {
		c.source = &keySource{}
		c.zipf = rand.NewZipf(rand.New(c.source), k.Exponent, 1, c.count-1)
	}
	return c
}

// choose writes the key of a message into b, which has room for keyBytes, and
// returns it with the message's partition, of so many. number is the message's among all, or among
// those of its class. The partition of a message without a key follows from its producer's index,
// its number at that producer, and its due time since the schedule began.
func (c *chooser) choose(b []byte, number int64, producer int, ordinal, dueNs int64, of uint32) (
	key []byte, partition int32,
) {
	var k uint64
	switch c.kind {
	case workload.KeysRoundRobin:
		k = uint64(number) % c.count
	case workload.KeysRandom:
		k = mix(c.seed^uint64(number)) % c.count
	case workload.KeysZipf:
		c.source.state = c.seed ^ uint64(number)
		k = c.zipf.Uint64()
	case workload.KeysShares:
		first := mix(c.seed ^ uint64(number))
		k = c.shares.At(first, mix(first))
	default:
		// Producers begin at different partitions, so that they do not move in step.
		return nil, int32((int64(producer) + c.turn(ordinal, dueNs)) % int64(of))
	}
	name := mix(k)
	partition = int32(name % uint64(of))
	const digits = "0123456789abcdef"
	for i := range keyBytes {
		b[i] = digits[name>>60]
		name <<= 4
	}
	return b[:keyBytes], partition
}

// turn returns how often the partition has changed before a message without a key. Each change
// needs stayMsgs further messages and stayNs of due times, both counted from the beginning.
func (c *chooser) turn(ordinal, dueNs int64) int64 {
	turns := int64(math.MaxInt64)
	if c.stayNs > 0 {
		turns = max(dueNs, 0) / c.stayNs
	}
	switch {
	case c.stayMsgs == 1: // a division takes 5 ns
		turns = min(turns, ordinal)
	case c.stayMsgs > 1:
		turns = min(turns, ordinal/c.stayMsgs)
	}
	return turns
}

// keyPartition returns the partition to which a key belongs, or -1 if choose made no such key.
func keyPartition(key []byte, partitions uint32) int64 {
	if len(key) != keyBytes {
		return -1
	}
	var name uint64
	for _, digit := range key {
		switch {
		case digit >= '0' && digit <= '9':
			name = name<<4 | uint64(digit-'0')
		case digit >= 'a' && digit <= 'f':
			name = name<<4 | uint64(digit-'a'+10)
		default:
			return -1
		}
	}
	return int64(name % uint64(partitions))
}

// keySource is a random source that can be set to the start of any message's stream.
type keySource struct{ state uint64 }

func (s *keySource) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return mix(s.state)
}
