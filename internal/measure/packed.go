package measure

import (
	"encoding/binary"
	"math/bits"
)

// This file packs the buckets of a histogram into bytes. A histogram stays packed from the
// interval's end until its counts are added to others, also on its way to another process, so that
// a coordinator adds up the buckets of a hundred workers without making a histogram of each.
//
// Each bucket that holds something has a number, in the order of the places: twice its count, and 1
// more if empty buckets lie between it and the one before. In that case their number follows.
// Numbers are varints (encoding/binary), so a bucket beside the last with a count below 64 takes a
// byte.

// packed are the buckets of a histogram, packed. The zero value has none.
type packed []byte

// with returns the buckets and another one, which gap empty buckets separate from the last.
func (p packed) with(gap int, count int64) packed {
	if gap == 0 {
		return binary.AppendUvarint(p, uint64(count)<<1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(p, uint64(count)<<1|1), uint64(gap))
}

// next returns the count of the first bucket, the number of empty ones before it, and the rest. A
// count of 0 means that they are malformed.
func (p packed) next() (gap int, count int64, rest packed) {
	if len(p) > 1 && p[0]|p[1] < 0x80 && p[0]&1 != 0 && p[1] != 0 {
		return int(p[1]), int64(p[0] >> 1), p[2:] // so is nearly every bucket behind a gap
	}
	n, size := binary.Uvarint(p)
	if size <= 0 || n&1 == 0 {
		return 0, int64(n >> 1), p[max(0, size):]
	}
	empty, more := binary.Uvarint(p[size:])
	if more <= 0 || empty == 0 || empty > bucketPlaces {
		return 0, 0, nil
	}
	return int(empty), int64(n >> 1), p[size+more:]
}

// Most buckets take a byte and lie beside the one before, so that loops over buckets take up to
// eight of them at once, as a number. nearBits are 0 in each byte of such buckets.
const (
	eight    = 8
	nearBits = 0x8181_8181_8181_8181
)

// near returns the first eight bytes, and how many of them are such buckets before any other.
func (p packed) near() (bytes uint64, n int) {
	if len(p) >= eight {
		bytes = binary.LittleEndian.Uint64(p)
		return bytes, bits.TrailingZeros64(bytes&nearBits) / eight
	}
	bytes = uint64(p[0])
	return bytes, 1 - min(1, int(bytes&nearBits))
}

// anyEmpty reports whether one of the first n of eight bytes is 0.
func anyEmpty(bytes uint64, n int) bool {
	const ones = 0x0101_0101_0101_0101
	bytes |= ^uint64(0) << (n * eight)
	return (bytes-ones)&^bytes&(ones<<7) != 0
}

// check reports whether the buckets are well formed, and each has a place. What another process
// packed is checked when it is read; nothing else looks again.
func (p packed) check() bool {
	place := -1
	for len(p) > 0 {
		if bytes, n := p.near(); n > 0 {
			if anyEmpty(bytes, n) {
				return false
			}
			place, p = place+n, p[n:]
			continue
		}
		gap, count, rest := p.next()
		if place += gap + 1; count <= 0 || count > bucketMost || place > lastPlace {
			return false
		}
		p = rest
	}
	return place <= lastPlace
}

// buckets calls a function with every bucket: the number of empty ones before it, and its count.
func (p packed) buckets(do func(gap int, count int64)) {
	for len(p) > 0 {
		gap, count, rest := p.next()
		do(gap, count)
		p = rest
	}
}

// each calls a function with every bucket: the least value in it, and its count.
func (p packed) each(do func(ns, count int64)) {
	place := -1
	p.buckets(func(gap int, count int64) {
		place += gap + 1
		do(leastAt(place), count)
	})
}

// most returns the greatest value of the last bucket.
func (p packed) most() int64 {
	place := -1
	p.buckets(func(gap int, _ int64) { place += gap + 1 })
	return leastAt(place+1) - 1
}

// add adds packed buckets.
func (b *buckets) add(p packed) {
	if len(p) == 0 {
		return
	}
	first, _, _ := p.next()
	if b.from == b.to {
		b.begin(first)
	}
	place := 0
	for len(p) > 0 {
		if bytes, n := p.near(); n > 0 {
			into := b.counts[place : place+n]
			for i := range into {
				into[i] += int64(bytes & 0xff >> 1)
				bytes >>= 8
			}
			place, p = place+n, p[n:]
			continue
		}
		gap, count, rest := p.next()
		b.counts[place+gap] += count
		place, p = place+gap+1, rest
	}
	b.from, b.to = min(b.from, first), max(b.to, place)
}

// pack returns the buckets packed, and empties them.
func (b *buckets) pack() (p packed) {
	used := 0
	for _, n := range b.counts[b.from:b.to] {
		if n != 0 {
			used++
		}
	}
	p = make(packed, 0, used+used/2)
	past := 0
	for i := b.from; i < b.to; i++ {
		if n := b.counts[i]; n != 0 {
			p = p.with(i-past, n)
			past, b.counts[i] = i+1, 0
		}
	}
	return p
}
