package measure

import "math/bits"

// PageBits is how many sequence numbers one page covers: small, so that ten
// thousand lanes with a page each stay cheap.
const PageBits = 4096

// pageBytes is the memory of a page; pagePointerBytes that of a page's place.
const (
	pageBytes        = PageBits/8 + 8
	pagePointerBytes = 8
)

type page struct {
	words [PageBits / 64]uint64
	count int
}

// fullPage stands for every page whose sequence numbers are all present, so
// that a stream without gaps costs a pointer per page.
var fullPage = &page{count: PageBits}

// pagePool gives pages out and takes full ones back. It has one owner.
type pagePool struct {
	free    []*page
	created int64
}

func (p *pagePool) get() *page {
	if n := len(p.free); n > 0 {
		last := p.free[n-1]
		p.free = p.free[:n-1]
		*last = page{}
		return last
	}
	p.created++
	return new(page)
}

// bitmap is a set of sequence numbers from 0.
type bitmap struct {
	pages []*page
}

// add adds a sequence number and reports whether it was new.
func (b *bitmap) add(seq int64, pool *pagePool) bool {
	at := int(seq / PageBits)
	for at >= len(b.pages) {
		b.pages = append(b.pages, nil)
	}
	p := b.pages[at]
	if p == fullPage {
		return false
	}
	if p == nil {
		p = pool.get()
		b.pages[at] = p
	}
	word, bit := seq%PageBits/64, uint64(1)<<(seq%64)
	if p.words[word]&bit != 0 {
		return false
	}
	p.words[word] |= bit
	p.count++
	if p.count == PageBits {
		b.pages[at] = fullPage
		pool.free = append(pool.free, p)
	}
	return true
}

// word returns 64 sequence numbers as bits; word i begins at 64*i.
func (b *bitmap) word(i int64) uint64 {
	at := int(i * 64 / PageBits)
	if at >= len(b.pages) || b.pages[at] == nil {
		return 0
	}
	if b.pages[at] == fullPage {
		return ^uint64(0)
	}
	return b.pages[at].words[i%(PageBits/64)]
}

// has reports whether a number, which is not below 0, is in the set.
func (b *bitmap) has(seq int64) bool { return b.word(seq/64)&(1<<(seq%64)) != 0 }

// length is an upper bound of the sequence numbers in the set, a multiple of
// PageBits.
func (b *bitmap) length() int64 { return int64(len(b.pages)) * PageBits }

// count is the number of sequence numbers in the set.
func (b *bitmap) count() int64 {
	var n int64
	for _, p := range b.pages {
		if p != nil {
			n += int64(p.count)
		}
	}
	return n
}

// countFrom is the number of sequence numbers in the set from one on.
func (b *bitmap) countFrom(from int64) int64 {
	if from <= 0 {
		return b.count()
	}
	n := int64(0)
	for i := from / 64; i < b.length()/64; i++ {
		word := b.word(i)
		if i == from/64 {
			word &= ^uint64(0) << (from % 64)
		}
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// highest is the largest sequence number in the set; -1: the set is empty.
func (b *bitmap) highest() int64 {
	for i := b.length()/64 - 1; i >= 0; i-- {
		if word := b.word(i); word != 0 {
			return i*64 + 63 - int64(bits.LeadingZeros64(word))
		}
	}
	return -1
}

// common is the number of sequence numbers that both sets have.
func (b *bitmap) common(other *bitmap) (n int64) {
	for i := int64(0); i < other.length()/64; i++ {
		n += int64(bits.OnesCount64(b.word(i) & other.word(i)))
	}
	return n
}

// bytes is the memory of the set, full pages excepted.
func (b *bitmap) bytes() int64 {
	n := int64(cap(b.pages)) * pagePointerBytes
	for _, p := range b.pages {
		if p != nil && p != fullPage {
			n += pageBytes
		}
	}
	return n
}

// union adds the other set to this one, calls both with each number that was in
// both, and returns how many those were.
func (b *bitmap) union(other *bitmap, pool *pagePool, both func(seq int64)) (n int64) {
	for i := int64(0); i < other.length()/64; i++ {
		theirs := other.word(i)
		for twice := theirs & b.word(i); twice != 0; twice &= twice - 1 {
			both(i*64 + int64(bits.TrailingZeros64(twice)))
			n++
		}
		for rest := theirs &^ b.word(i); rest != 0; rest &= rest - 1 {
			b.add(i*64+int64(bits.TrailingZeros64(rest)), pool)
		}
	}
	return n
}

// minus calls found with each number that is in b and not in other, in
// rising order.
func (b *bitmap) minus(other *bitmap, found func(seq int64)) {
	for i := int64(0); i < b.length()/64; i++ {
		for rest := b.word(i) &^ other.word(i); rest != 0; rest &= rest - 1 {
			found(i*64 + int64(bits.TrailingZeros64(rest)))
		}
	}
}
