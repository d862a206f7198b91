package result

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Logged is a histogram as the log has it. Its buckets are those of NewHistogram.
type Logged struct {
	Tag            string
	StartMs, EndMs int64 // since 1970
	MaxNs          int64
	// Buckets calls do with each bucket that holds something, in their order: the number of empty
	// ones between it and the one before, and its count. It is called later, on another goroutine.
	Buckets func(do func(gap int, count int64))
}

// LoggedOf returns histograms as the log has them. Their tags, start and end times must be set.
// Empty ones are left out.
func LoggedOf(all []*hdr.Histogram) (logged []Logged) {
	for _, h := range all {
		if h.TotalCount() == 0 {
			continue
		}
		bars := h.Distribution()
		logged = append(logged, Logged{h.Tag(), h.StartTimeMs(), h.EndTimeMs(), h.Max(),
			func(do func(gap int, count int64)) {
				past := -1
				for i, bar := range bars {
					if bar.Count > 0 {
						do(i-past-1, bar.Count)
						past = i
					}
				}
			}})
	}
	return logged
}

// The cookies of encoding V2: of a histogram, and of a compressed one, whose words have up to 8
// bytes.
const (
	cookie           = uint32(hdr.V2EncodingCookieBase) | 0x10
	compressedCookie = uint32(hdr.V2CompressedEncodingCookieBase) | 0x10
)

// logEncoder encodes histograms as lines of a log of HdrHistogram. It writes what the library
// would, byte for byte. The library makes a compressor of more than a megabyte for each histogram,
// and the encoder has one for all.
type logEncoder struct {
	baseMs   int64
	plain    []byte
	squeezed bytes.Buffer
	zip      *zlib.Writer
}

func newLogEncoder(baseMs int64) *logEncoder {
	e := &logEncoder{baseMs: baseMs}
	var err error
	if e.zip, err = zlib.NewWriterLevel(&e.squeezed, zlib.BestCompression); err != nil {
		panic(err) // only for a level that does not exist
	}
	return e
}

// line appends the line of a histogram.
func (e *logEncoder) line(into *bytes.Buffer, l Logged) error {
	e.encode(l)
	e.squeezed.Reset()
	e.squeezed.Write(make([]byte, 8)) // the place of the cookie and of the length
	e.zip.Reset(&e.squeezed)
	if _, err := e.zip.Write(e.plain); err != nil {
		return fmt.Errorf("compress a histogram: %w", err)
	}
	if err := e.zip.Close(); err != nil {
		return fmt.Errorf("compress a histogram: %w", err)
	}
	raw := e.squeezed.Bytes()
	binary.BigEndian.PutUint32(raw, compressedCookie)
	binary.BigEndian.PutUint32(raw[4:], uint32(len(raw)-8))
	if l.Tag != "" {
		fmt.Fprintf(into, "Tag=%s,", l.Tag)
	}
	fmt.Fprintf(into, "%f,%f,%f,", float64(l.StartMs-e.baseMs)/1e3, float64(l.EndMs-l.StartMs)/1e3,
		float64(l.MaxNs)/hdr.MsToNsRatio)
	into.Grow(base64.StdEncoding.EncodedLen(len(raw)) + 1)
	into.Write(base64.StdEncoding.AppendEncode(into.AvailableBuffer(), raw))
	into.WriteByte('\n')
	return nil
}

// encode makes the histogram before it is compressed.
func (e *logEncoder) encode(l Logged) {
	const head = 40
	b := binary.BigEndian.AppendUint32(e.plain[:0], cookie)
	b = append(b, 0, 0, 0, 0) // the place of the length
	b = append(b, 0, 0, 0, 0) // the buckets are not shifted
	b = binary.BigEndian.AppendUint32(b, HistogramDigits)
	b = binary.BigEndian.AppendUint64(b, HistogramMinNs)
	b = binary.BigEndian.AppendUint64(b, HistogramMaxNs)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1)) // of a value to its unit
	l.Buckets(func(gap int, count int64) {
		switch gap {
		case 0:
		case 1:
			b = append(b, 0)
		default:
			b = appendZigZag(b, -int64(gap))
		}
		b = appendZigZag(b, count)
	})
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-head))
	e.plain = b
}

// appendZigZag appends a number in LEB128 of at most 9 bytes; the ninth has 8 bits.
func appendZigZag(b []byte, n int64) []byte {
	u := uint64(n)<<1 ^ uint64(n>>63)
	for range 8 {
		if u < 0x80 {
			return append(b, byte(u))
		}
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}
