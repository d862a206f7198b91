package fleet

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"google.golang.org/grpc/mem"
)

// Bounds of what is read from the other end.
const (
	wireMost = 1 << 20 // bytes of a part of an answer
	// windowBytes is how much a stream may have under way. gRPC would try to find a better window
	// with a ping for each exchange of time, which doubles the cost of one.
	windowBytes = 1 << 20
	headRoom    = 1 << 16 // bytes of what surrounds a part
	// Bytes of an answer: of any, of one with histograms or sets, and of an account, which its plan
	// bounds further.
	answerMost  = 1 << 16
	sampleMost  = 1 << 25
	accountMost = 1 << 30
	arrayMost   = 1 << 24 // elements of an array
	mapMost     = 256     // keys of a map: the fields of a struct
	depthMost   = 16
)

// codec encodes the messages of the fleet for gRPC: in CBOR, and the part of a word behind it as it
// is, so that neither end copies it once more.
type codec struct{}

var (
	encoding = must(cbor.CoreDetEncOptions().EncMode())
	decoding = must(cbor.DecOptions{
		MaxNestedLevels: depthMost, MaxArrayElements: arrayMost, MaxMapPairs: mapMost,
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		DupMapKey: cbor.DupMapKeyEnforcedAPF, ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	}.DecMode())
)

func must[T any](mode T, err error) T {
	if err != nil {
		panic(err) // only a mistake in this file can cause it
	}
	return mode
}

func (codec) Name() string { return "cbor" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	b, err := encoding.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	all := mem.BufferSlice{mem.SliceBuffer(b)}
	if w, is := v.(*word); is && len(w.Part) > 0 {
		all = append(all, mem.SliceBuffer(w.Part))
	}
	return all, nil
}

func (codec) Unmarshal(data mem.BufferSlice, into any) error {
	b := data.Materialize()
	w, is := into.(*word)
	if !is {
		return decode(b, into)
	}
	rest, err := decoding.UnmarshalFirst(b, w)
	if err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	w.Part = rest // nobody else has the bytes
	return nil
}

// decode reads a value from CBOR.
func decode(b []byte, into any) error {
	if err := decoding.Unmarshal(b, into); err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return nil
}
