package result

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Buckets is a saved histogram. A *hdr.PackedHistogram is one.
type Buckets interface {
	TotalCount() int64
	LowestTrackableValue() int64
	// ForEachBucket calls do with the least value and the count of each bucket that holds
	// something, in their order, until do returns false.
	ForEachBucket(do func(value, count int64) bool)
	// MergeInto adds the counts to a histogram, and returns how many do not fit.
	MergeInto(into *hdr.Histogram) (dropped int64)
}

// squeezed is a histogram as the log has it: compressed. Each use inflates it. Inflated, the
// histograms of a run can take a thousand times the bytes of their file.
type squeezed struct {
	raw      []byte // behind the cookie and the length
	count    int64
	least    int64
	inflated int64 // bytes
}

// squeeze reads the payload of a line, and checks all of it.
func squeeze(payload []byte) (*squeezed, error) {
	raw, err := base64.StdEncoding.AppendDecode(nil, payload)
	if err != nil {
		return nil, err
	}
	const head = 8
	if len(raw) < head || binary.BigEndian.Uint32(raw)&^0xf0 != compressedCookie&^0xf0 {
		return nil, errors.New("a histogram of another encoding")
	}
	n := int64(binary.BigEndian.Uint32(raw[4:]))
	if n > int64(len(raw)-head) {
		return nil, errors.New("a part of a histogram")
	}
	q := &squeezed{raw: raw[head : head+n]}
	q.least, q.inflated, err = inflate(q.raw, func(_, count int64) bool {
		q.count += count
		return true
	})
	return q, err
}

func (q *squeezed) TotalCount() int64           { return q.count }
func (q *squeezed) LowestTrackableValue() int64 { return q.least }

func (q *squeezed) ForEachBucket(do func(value, count int64) bool) {
	_, _, _ = inflate(q.raw, do) // it was checked when it was read
}

func (q *squeezed) MergeInto(into *hdr.Histogram) (dropped int64) {
	q.ForEachBucket(func(value, count int64) bool {
		if into.RecordValues(value, count) != nil {
			dropped += count
		}
		return true
	})
	return dropped
}

// inflater inflates one histogram after another.
type inflater struct {
	in    bytes.Reader
	zip   io.ReadCloser
	plain bytes.Buffer
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// payload returns the buckets, and the least value that the histogram tells apart. They are valid
// until the next call.
func (f *inflater) payload(raw []byte) (buckets []byte, least int64, err error) {
	const head = 40
	f.in.Reset(raw)
	if f.zip == nil {
		f.zip, err = zlib.NewReader(&f.in)
	} else {
		err = f.zip.(zlib.Resetter).Reset(&f.in, nil)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("inflate a histogram: %w", err)
	}
	f.plain.Reset()
	// Each bucket has at most 9 bytes.
	switch _, err := io.CopyN(&f.plain, f.zip, head+9*places(HistogramMinNs)+1); {
	case err == nil:
		return nil, 0, errors.New("inflate a histogram: it is longer than a histogram can be")
	case !errors.Is(err, io.EOF):
		return nil, 0, fmt.Errorf("inflate a histogram: %w", err)
	}
	b := f.plain.Bytes()
	if len(b) < head || binary.BigEndian.Uint32(b)&^0xf0 != cookie&^0xf0 ||
		int64(binary.BigEndian.Uint32(b[4:])) != int64(len(b)-head) {
		return nil, 0, errors.New("a histogram of another encoding")
	}
	least = int64(binary.BigEndian.Uint64(b[16:]))
	if least != HistogramMinNs && least != coarseMinNs ||
		binary.BigEndian.Uint64(b[24:]) != HistogramMaxNs ||
		binary.BigEndian.Uint32(b[12:]) != HistogramDigits {
		return nil, 0, errors.New("a histogram of another range")
	}
	return b[head:], least, nil
}

// inflate calls do with each bucket that holds something, until it returns false. It returns the
// least value that the histogram tells apart, and the bytes of its buckets.
func inflate(raw []byte, do func(value, count int64) bool) (least, bytes int64, err error) {
	f := inflaters.Get().(*inflater)
	defer inflaters.Put(f)
	b, least, err := f.payload(raw)
	if err != nil {
		return 0, 0, err
	}
	bytes = int64(len(b))
	of, place, total := places(least), int64(0), int64(0)
	for len(b) > 0 {
		n, size := zigZag(b)
		if b = b[size:]; size == 0 || n == math.MinInt64 || n < 0 && -n > of-place ||
			n >= 0 && (place == of || n > math.MaxInt64-total) {
			return 0, 0, errors.New("a malformed histogram")
		}
		switch {
		case n < 0:
			place -= n
			continue
		case n > 0 && !do(valueAt(place, least), n):
			return least, bytes, nil
		}
		place++
		total += n
	}
	return least, bytes, nil
}

// The geometry of three digits: 2,048 buckets, and 1,024 for each further power of two.
const (
	halfBits = 10
	half     = int64(1) << halfBits
)

// places returns the number of buckets.
func places(least int64) int64 {
	n := 2 * half
	for end := 2 * half << unitBits(least); end <= HistogramMaxNs; end *= 2 {
		n += half
	}
	return n
}

func unitBits(least int64) int { return int(math.Log2(float64(least))) }

// valueAt returns the least value of a bucket.
func valueAt(place, least int64) int64 {
	power := max(0, place>>halfBits-1)
	return (place - power<<halfBits) << (int(power) + unitBits(least))
}

// zigZag reads what appendZigZag wrote, and its size; size 0: it is not whole.
func zigZag(b []byte) (n int64, size int) {
	var u uint64
	for i, c := range b {
		switch {
		case i == 8:
			u |= uint64(c) << 56
		case c >= 0x80:
			u |= uint64(c&0x7f) << (7 * i)
			continue
		default:
			u |= uint64(c) << (7 * i)
		}
		return int64(u>>1) ^ -int64(u&1), i + 1
	}
	return 0, 0
}
