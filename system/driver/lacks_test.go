package driver

import (
	"errors"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

// A reason is evidence that the system lacks a capability; without one the driver is not complete.
func TestLacks(t *testing.T) {
	l := Lacks{Rejection: "who rejects it publishes it to a topic of their own",
		Features: map[system.Feature]string{system.FeatureTTL: "it has no time to live"}}
	var evidence *system.NotSupported
	_, _, err := l.OpenRejecting(t.Context(), system.Topic{}, nil, nil)
	if !errors.As(err, &evidence) || evidence.Reason != l.Rejection {
		t.Errorf("rejection: %v", err)
	}
	_, _, err = l.OpenMailbox(t.Context(), system.Topic{}, system.FeatureTTL)
	if !errors.As(err, &evidence) || evidence.Reason != "it has no time to live" {
		t.Errorf("TTL: %v", err)
	}
	_, _, err = l.OpenMailbox(t.Context(), system.Topic{}, system.FeatureDelay)
	if err == nil || errors.As(err, &evidence) {
		t.Errorf("a delay without a reason: %v", err)
	}
}
