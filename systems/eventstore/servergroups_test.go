package eventstore

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/persistent"
	"github.com/kurrent-io/KurrentDB-Client-Go/protos/kurrentdb/protocols/v1/shared"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type groupKey struct{ stream, name string }

// serverGroup is a persistent subscription to a stream, guarded by the servers' lock.
type serverGroup struct {
	from        *stream
	timeout     time.Duration
	retries     int
	next        int        // revision in the stream
	again       []delivery // to be delivered before the event at next
	inFlight    []delivery // in the order of delivery
	subscribers []*subscriber
	turn        int
	parked      int
}

// delivery is one delivery of an event to a subscriber.
type delivery struct {
	revision, retried int
	to                *subscriber
	due               time.Time
}

// subscriber is a connection to a group.
type subscriber struct {
	room  int // messages that it accepts beyond those in flight
	queue chan *persistent.ReadResp
	gone  chan struct{}
}

// dispatch delivers pending events to subscribers with room, in turn.
func (g *serverGroup) dispatch() {
	for {
		d := delivery{revision: g.next}
		if len(g.again) > 0 {
			d = g.again[0]
		} else if g.next >= len(g.from.events) {
			return
		}
		to := g.withRoom()
		if to == nil {
			return
		}
		if len(g.again) > 0 {
			g.again = g.again[1:]
		} else {
			g.next++
		}
		d.to, d.due = to, time.Now().Add(g.timeout)
		to.room--
		g.inFlight = append(g.inFlight, d)
		to.queue <- g.message(d) // it has room for all in flight
	}
}

func (g *serverGroup) withRoom() *subscriber {
	for range g.subscribers {
		g.turn++
		s := g.subscribers[g.turn%len(g.subscribers)]
		if s.room > 0 && len(s.queue) < cap(s.queue) {
			return s
		}
	}
	return nil
}

func (g *serverGroup) message(d delivery) *persistent.ReadResp {
	e := g.from.events[d.revision]
	return &persistent.ReadResp{Content: &persistent.ReadResp_Event{
		Event: &persistent.ReadResp_ReadEvent{
			Event: &persistent.ReadResp_ReadEvent_RecordedEvent{
				Id: protoID(e.id), StreamRevision: uint64(d.revision), Metadata: e.metadata,
				Data: e.data, CustomMetadata: e.meta,
				StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(g.from.name)},
			},
			Count: &persistent.ReadResp_ReadEvent_RetryCount{RetryCount: int32(d.retried)},
		}}}
}

// take removes deliveries from those in flight.
func (g *serverGroup) take(which func(d delivery) bool) (taken []delivery) {
	g.inFlight = slices.DeleteFunc(g.inFlight, func(d delivery) bool {
		if which(d) {
			d.to.room++
			taken = append(taken, d)
			return true
		}
		return false
	})
	return taken
}

// retry redelivers events, or parks them.
func (g *serverGroup) retry(all []delivery) {
	for _, d := range all {
		if d.retried++; d.retried > g.retries {
			g.parked++
			continue
		}
		g.again = append(g.again, d)
	}
	g.dispatch()
}

func (g *serverGroup) expire(now time.Time) {
	if over := g.take(func(d delivery) bool { return now.After(d.due) }); len(over) > 0 {
		g.retry(over)
	}
}

func (g *serverGroup) disconnect(s *subscriber) {
	if i := slices.Index(g.subscribers, s); i >= 0 {
		g.subscribers = slices.Delete(g.subscribers, i, i+1)
		close(s.gone)
		had := g.take(func(d delivery) bool { return d.to == s })
		g.again = append(had, g.again...) // at once, and in order
		g.dispatch()
	}
}

func (g *serverGroup) disconnectAll() {
	for len(g.subscribers) > 0 {
		g.disconnect(g.subscribers[len(g.subscribers)-1])
	}
}

type groupServer struct {
	persistent.UnimplementedPersistentSubscriptionsServer
	*server
}

// Create makes a group at the start of a stream.
func (s groupServer) Create(ctx context.Context, r *persistent.CreateReq) (
	*persistent.CreateResp, error,
) {
	o := r.GetOptions()
	key := groupKey{string(o.GetStream().GetStreamIdentifier().GetStreamName()), o.GetGroupName()}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if trailer, err := s.leads(); err != nil {
		_ = grpc.SetTrailer(ctx, trailer)
		return nil, err
	}
	if o.GetStream().GetStart() == nil {
		return nil, status.Error(codes.Unimplemented, "only from the start")
	}
	if s.of.groups[key] != nil {
		return nil, status.Error(codes.AlreadyExists, "Subscription group exists")
	}
	s.of.groups[key] = &serverGroup{from: s.of.stream(key.stream),
		timeout: time.Duration(o.GetSettings().GetMessageTimeoutMs()) * time.Millisecond,
		retries: int(o.GetSettings().GetMaxRetryCount())}
	return &persistent.CreateResp{}, nil
}

// Delete removes a group.
func (s groupServer) Delete(_ context.Context, r *persistent.DeleteReq) (
	*persistent.DeleteResp, error,
) {
	o := r.GetOptions()
	key := groupKey{string(o.GetStreamIdentifier().GetStreamName()), o.GetGroupName()}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	g := s.of.groups[key]
	if g == nil {
		return nil, status.Error(codes.NotFound, "Subscription group not found")
	}
	g.disconnectAll()
	delete(s.of.groups, key)
	return &persistent.DeleteResp{}, nil
}

// List lists the groups of a stream.
func (s groupServer) List(_ context.Context, r *persistent.ListReq) (*persistent.ListResp, error) {
	name := string(r.GetOptions().GetListForStream().GetStream().GetStreamName())
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	found := &persistent.ListResp{}
	for key := range s.of.groups {
		if key.stream == name {
			found.Subscriptions = append(found.Subscriptions, &persistent.SubscriptionInfo{
				EventSource: name, GroupName: key.name, StartFrom: "0"})
		}
	}
	if len(found.Subscriptions) == 0 {
		return nil, status.Error(codes.NotFound, "no groups")
	}
	return found, nil
}

// Read subscribes to a group.
func (s groupServer) Read(
	call grpc.BidiStreamingServer[persistent.ReadReq, persistent.ReadResp],
) error {
	first, err := call.Recv()
	if err != nil {
		return err
	}
	o := first.GetOptions()
	key := groupKey{string(o.GetStreamIdentifier().GetStreamName()), o.GetGroupName()}
	g, me, trailer, err := s.join(key, int(o.GetBufferSize()))
	if err != nil {
		call.SetTrailer(trailer)
		return err
	}
	defer func() {
		s.of.mu.Lock()
		defer s.of.mu.Unlock()
		g.disconnect(me)
	}()
	confirmation := &persistent.ReadResp_SubscriptionConfirmation_{
		SubscriptionConfirmation: &persistent.ReadResp_SubscriptionConfirmation{
			SubscriptionId: key.stream + "::" + key.name}}
	if err := call.Send(&persistent.ReadResp{Content: confirmation}); err != nil {
		return err
	}
	go s.answers(call, g)
	for {
		select {
		case m := <-me.queue:
			if err := call.Send(m); err != nil {
				return err
			}
		case <-me.gone:
			return status.Error(codes.Canceled, "the subscription was dropped")
		case <-call.Context().Done():
			return call.Context().Err()
		}
	}
}

// join adds a subscriber to a group.
func (s groupServer) join(key groupKey, room int) (
	*serverGroup, *subscriber, metadata.MD, error,
) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if trailer, err := s.leads(); err != nil {
		return nil, nil, trailer, err
	}
	g := s.of.groups[key]
	if g == nil {
		return nil, nil, nil, status.Error(codes.NotFound, "Subscription group not found")
	}
	me := &subscriber{room: room, queue: make(chan *persistent.ReadResp, room),
		gone: make(chan struct{})}
	g.subscribers = append(g.subscribers, me)
	g.dispatch()
	return g, me, nil, nil
}

// answers takes a subscriber's acknowledgements and refusals until it is gone.
func (s groupServer) answers(
	call grpc.BidiStreamingServer[persistent.ReadReq, persistent.ReadResp], g *serverGroup,
) {
	for {
		r, err := call.Recv()
		if err != nil {
			return
		}
		s.of.mu.Lock()
		if ack := r.GetAck(); ack != nil {
			g.takeIDs(ack.GetIds())
			g.dispatch()
		}
		if nack := r.GetNack(); nack != nil {
			taken := g.takeIDs(nack.GetIds())
			if nack.GetAction() == persistent.ReadReq_Nack_Park {
				g.parked += len(taken)
				taken = nil
			}
			g.retry(taken)
		}
		s.of.mu.Unlock()
	}
}

func (g *serverGroup) takeIDs(all []*shared.UUID) []delivery {
	ids := make(map[uuid.UUID]bool, len(all))
	for _, id := range all {
		m := id.GetStructured()
		made, _ := kurrentdb.ParseUUIDFromInt64(m.GetMostSignificantBits(),
			m.GetLeastSignificantBits())
		ids[made] = true
	}
	return g.take(func(d delivery) bool { return ids[g.from.events[d.revision].id] })
}
