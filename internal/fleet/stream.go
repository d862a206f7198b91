package fleet

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// droppedBefore reports whether a connection ended before the coordinator knew whose it was.
func droppedBefore(err error) bool {
	return status.Code(err) == codes.Unavailable &&
		!strings.Contains(err.Error(), errStranger.Error())
}

// openStream opens the stream of orders. A busy machine may drop a connection that takes long to
// authenticate, so it tries again for a time.
func openStream(ctx context.Context, conn *grpc.ClientConn) (grpc.ClientStream, error) {
	for ended := time.Now().Add(callLimit); ; {
		stream, err := conn.NewStream(ctx, &workStream, methodWork)
		if err == nil || !droppedBefore(err) || time.Now().After(ended) ||
			!clock.Sleep(ctx, joinPause) {
			return stream, err
		}
		conn.ResetConnectBackoff()
	}
}
