package fleet

import (
	"context"

	"google.golang.org/grpc"
)

// The methods of the coordinator's service.
const (
	serviceName = "plimsoll.Fleet"
	methodJoin  = "/" + serviceName + "/Join"
	methodWork  = "/" + serviceName + "/Work"
	methodTime  = "/" + serviceName + "/Time"
)

// server is what gRPC calls at the coordinator.
type server interface {
	join(ctx context.Context, ask *joinAsk) (*joinAnswer, error)
	// work is the stream of orders to a worker, and of its words.
	work(stream grpc.ServerStream) error
	// time answers a worker's ticks.
	time(stream grpc.ServerStream) error
}

var (
	workStream = grpc.StreamDesc{
		StreamName: "Work", ClientStreams: true, ServerStreams: true,
		Handler: func(s any, stream grpc.ServerStream) error { return s.(server).work(stream) },
	}
	timeStream = grpc.StreamDesc{
		StreamName: "Time", ClientStreams: true, ServerStreams: true,
		Handler: func(s any, stream grpc.ServerStream) error { return s.(server).time(stream) },
	}
)

var service = grpc.ServiceDesc{
	ServiceName: serviceName,
	HandlerType: (*server)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Join", Handler: func(
		s any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
	) (any, error) {
		ask := new(joinAsk)
		if err := decode(ask); err != nil {
			return nil, err
		}
		return s.(server).join(ctx, ask)
	}}},
	Streams: []grpc.StreamDesc{workStream, timeStream},
}
