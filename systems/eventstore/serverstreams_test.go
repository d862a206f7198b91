package eventstore

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/shared"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxAppend is the servers' max-append-size.
const maxAppend = 1 << 20

// stream is a stream of the servers.
type stream struct {
	name    string
	events  []recorded
	deleted bool // for good
}

// recorded is an event of a stream.
type recorded struct {
	id         uuid.UUID
	data, meta []byte
	metadata   map[string]string
}

// stream returns a stream, and creates it if necessary. The caller holds the lock.
func (s *servers) stream(name string) *stream {
	if s.streams[name] == nil {
		s.streams[name] = &stream{name: name}
	}
	return s.streams[name]
}

// repeated reports whether the stream ends with these events: the append is then a copy.
func (s *stream) repeated(events []recorded) bool {
	for i := len(s.events) - len(events); i >= 0; i-- {
		same := slices.EqualFunc(s.events[i:i+len(events)], events,
			func(a, b recorded) bool { return a.id == b.id })
		if same {
			return true
		}
	}
	return false
}

type streamServer struct {
	streams.UnimplementedStreamsServer
	*server
}

// Append handles an append call.
func (s streamServer) Append(
	call grpc.ClientStreamingServer[streams.AppendReq, streams.AppendResp],
) error {
	first, err := call.Recv()
	if err != nil {
		return err
	}
	o := first.GetOptions()
	name := string(o.GetStreamIdentifier().GetStreamName())
	events, err := receiveAll(call)
	if err != nil {
		return err
	}
	s.of.mu.Lock()
	holding := s.of.holding
	s.of.mu.Unlock()
	if holding != nil {
		if err := holding(name); err != nil {
			return err
		}
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	trailer, err := s.leads()
	if err != nil {
		call.SetTrailer(trailer)
		return err
	}
	to := s.of.stream(name)
	if to.deleted {
		call.SetTrailer(metadata.Pairs("exception", "stream-deleted", "stream-name", name))
		return status.Error(codes.FailedPrecondition, "Event stream is deleted.")
	}
	if otherRevision(o, len(to.events)) {
		return call.SendAndClose(wrongVersion(to))
	}
	if !to.repeated(events) {
		to.events = append(to.events, events...)
		for key, g := range s.of.groups {
			if key.stream == name {
				g.dispatch()
			}
		}
	}
	revision := uint64(len(to.events) - 1)
	return call.SendAndClose(&streams.AppendResp{Result: &streams.AppendResp_Success_{
		Success: &streams.AppendResp_Success{
			CurrentRevisionOption: &streams.AppendResp_Success_CurrentRevision{
				CurrentRevision: revision},
			PositionOption: &streams.AppendResp_Success_NoPosition{
				NoPosition: &shared.Empty{}},
		}}})
}

// otherRevision reports whether an append expects another length of the stream.
func otherRevision(o *streams.AppendReq_Options, events int) bool {
	switch o.GetExpectedStreamRevision().(type) {
	case *streams.AppendReq_Options_NoStream:
		return events > 0
	case *streams.AppendReq_Options_StreamExists:
		return events == 0
	case *streams.AppendReq_Options_Revision:
		return events != int(o.GetRevision())+1
	}
	return false
}

// receiveAll receives the events of an append.
func receiveAll(call grpc.ClientStreamingServer[streams.AppendReq, streams.AppendResp]) (
	events []recorded, err error,
) {
	size := 0
	for {
		next, err := call.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		m := next.GetProposedMessage()
		id := m.GetId().GetStructured()
		made, err := kurrentdb.ParseUUIDFromInt64(id.GetMostSignificantBits(),
			id.GetLeastSignificantBits())
		if err != nil {
			return nil, err
		}
		size += len(m.GetData()) + len(m.GetCustomMetadata())
		about := m.GetMetadata()
		about["created"] = strconv.Itoa(0)
		events = append(events, recorded{made, m.GetData(), m.GetCustomMetadata(), about})
	}
	if size > maxAppend {
		return nil, status.Errorf(codes.InvalidArgument, "Maximum Append Size of %d Exceeded.",
			maxAppend)
	}
	return events, nil
}

func wrongVersion(of *stream) *streams.AppendResp {
	wrong := &streams.AppendResp_WrongExpectedVersion{
		CurrentRevisionOption: &streams.AppendResp_WrongExpectedVersion_CurrentNoStream{
			CurrentNoStream: &shared.Empty{}},
		ExpectedRevisionOption: &streams.AppendResp_WrongExpectedVersion_ExpectedNoStream{
			ExpectedNoStream: &shared.Empty{}},
	}
	if n := len(of.events); n > 0 {
		wrong.CurrentRevisionOption = &streams.AppendResp_WrongExpectedVersion_CurrentRevision{
			CurrentRevision: uint64(n - 1)}
	}
	return &streams.AppendResp{
		Result: &streams.AppendResp_WrongExpectedVersion_{WrongExpectedVersion: wrong}}
}

// Read reads the last event of a stream.
func (s streamServer) Read(request *streams.ReadReq,
	to grpc.ServerStreamingServer[streams.ReadResp],
) error {
	name := string(request.GetOptions().GetStream().GetStreamIdentifier().GetStreamName())
	if o := request.GetOptions(); o.GetReadDirection() != streams.ReadReq_Options_Backwards ||
		o.GetCount() != 1 {
		return status.Error(codes.Unimplemented, "only the last event")
	}
	s.of.mu.Lock()
	var from stream
	if s.of.streams[name] != nil {
		from = *s.of.streams[name]
	}
	s.of.mu.Unlock()
	if len(from.events) == 0 {
		return to.Send(&streams.ReadResp{Content: &streams.ReadResp_StreamNotFound_{
			StreamNotFound: &streams.ReadResp_StreamNotFound{
				StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(name)}}}})
	}
	if from.deleted {
		to.SetTrailer(metadata.Pairs("exception", "stream-deleted", "stream-name", name))
		return status.Error(codes.FailedPrecondition, "Event stream is deleted.")
	}
	last := len(from.events) - 1
	e := from.events[last]
	return to.Send(&streams.ReadResp{Content: &streams.ReadResp_Event{
		Event: &streams.ReadResp_ReadEvent{Event: &streams.ReadResp_ReadEvent_RecordedEvent{
			Id: protoID(e.id), StreamRevision: uint64(last), Metadata: e.metadata, Data: e.data,
			CustomMetadata:   e.meta,
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(name)},
		}}}})
}

func protoID(id uuid.UUID) *shared.UUID {
	most, least := kurrentdb.UUIDAsInt64(id)
	return &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
		MostSignificantBits: most, LeastSignificantBits: least}}}
}

// Tombstone deletes a stream for good, with its metadata.
func (s streamServer) Tombstone(ctx context.Context, r *streams.TombstoneReq) (
	*streams.TombstoneResp, error,
) {
	name := string(r.GetOptions().GetStreamIdentifier().GetStreamName())
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if trailer, err := s.leads(); err != nil {
		return nil, errors.Join(grpc.SetTrailer(ctx, trailer), err)
	}
	for _, one := range []string{name, "$$" + name} {
		s.of.stream(one).deleted = true
	}
	if s.of.noPositions {
		return &streams.TombstoneResp{}, nil
	}
	return &streams.TombstoneResp{PositionOption: &streams.TombstoneResp_Position_{
		Position: &streams.TombstoneResp_Position{}}}, nil
}
