package driver

import (
	"context"
	"errors"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Lacks has the reason for each capability that a system lacks whatever its settings: the
// protocol's substitute, or the library that lacks it. A cluster embeds it and has methods of its
// own for all other capabilities, and so is a system.Prober.
type Lacks struct {
	Replay, Sharing, Rejection, Bounds, Transactions, Deduplication string
	Features                                                        map[system.Feature]string
	Routes                                                          map[system.RouteKind]string
}

// lacks returns the error of a capability that the system lacks. Without a reason it is not the
// evidence that a probe needs.
func lacks(reason string) error {
	if reason == "" {
		return errors.New("the driver neither tries this capability nor says what is instead of it")
	}
	return system.Lacks(reason)
}

// OpenReplay refuses.
func (l Lacks) OpenReplay(context.Context, system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	return nil, "", lacks(l.Replay)
}

// OpenShared refuses.
func (l Lacks) OpenShared(context.Context, system.ConsumerOptions) (
	system.Consumer, string, error,
) {
	return nil, "", lacks(l.Sharing)
}

// OpenMailbox refuses each feature.
func (l Lacks) OpenMailbox(_ context.Context, _ system.Topic, f system.Feature) (
	system.Mailbox, string, error,
) {
	return nil, "", lacks(l.Features[f])
}

// OpenRejecting refuses.
func (l Lacks) OpenRejecting(context.Context, system.Topic, func([]byte), func([]byte)) (
	system.Publisher, string, error,
) {
	return nil, "", lacks(l.Rejection)
}

// PublishBeyond refuses.
func (l Lacks) PublishBeyond(context.Context, system.Topic, int) (
	system.BackPressure, string, error,
) {
	return system.BackPressure{}, "", lacks(l.Bounds)
}

// Transact refuses.
func (l Lacks) Transact(context.Context, system.Topic, [][]byte, bool) (string, error) {
	return "", lacks(l.Transactions)
}

// PublishTwice refuses.
func (l Lacks) PublishTwice(context.Context, system.Topic, []byte) (
	answer, condition string, err error,
) {
	return "", "", lacks(l.Deduplication)
}
