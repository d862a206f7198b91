package measure

import "encoding/binary"

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

// near reports whether the first bucket takes a byte and lies beside the one before. Most do, and
// loops over buckets take a shortcut for them.
func (p packed) near() bool { return p[0] < 0x80 && p[0]&1 == 0 }

// next returns the count of the first bucket, the number of empty ones before it, and the rest. A
// count of 0 means that they are malformed.
func (p packed) next() (gap int, count int64, rest packed) {
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

// check reports whether the buckets are well formed, and each has a place. What another process
// packed is checked when it is read; nothing else looks again.
func (p packed) check() bool {
	place := -1
	for len(p) > 0 {
		if p.near() && p[0] != 0 {
			place, p = place+1, p[1:]
			continue
		}
		gap, count, rest := p.next()
		if place += gap + 1; count <= 0 || count > anyCount || place > lastPlace {
			return false
		}
		p = rest
	}
	return place <= lastPlace
}

// each calls a function with every bucket: the least value in it, and its count.
func (p packed) each(do func(ns, count int64)) {
	for place := 0; len(p) > 0; place++ {
		gap, count, rest := p.next()
		place, p = place+gap, rest
		do(leastAt(place), count)
	}
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
	place := -1
	for len(p) > 0 {
		if p.near() {
			place++
			b.counts[place] += int64(p[0] >> 1)
			p = p[1:]
			continue
		}
		gap, count, rest := p.next()
		place, p = place+gap+1, rest
		b.counts[place] += count
	}
	b.from, b.to = min(b.from, first), max(b.to, place+1)
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
