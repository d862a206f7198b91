package driver

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

// topics is a cluster that records created and deleted topics.
type topics struct{ made, deleted []string }

func (c *topics) CreateTopic(_ context.Context, t system.Topic) error {
	c.made = append(c.made, t.Name)
	return nil
}

func (c *topics) DeleteTopic(_ context.Context, t system.Topic) error {
	c.deleted = append(c.deleted, t.Name)
	return nil
}

func TestKeyTopicsAreMadeOnceAndDeleted(t *testing.T) {
	for kind, want := range map[system.RouteKind][]string{
		system.RouteDirect: {"it.red", "it.green"}, system.RouteFanout: {"it"},
	} {
		var c topics
		k := KeyTopics{Cluster: &c, Routing: system.Routing{Topic: system.Topic{Name: "it"},
			Kind: kind}}
		for _, key := range []string{"red", "green", "red"} {
			if _, err := k.Ensure(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.made, want) || !slices.Equal(c.deleted, want) {
			t.Errorf("%s: made %v, deleted %v, want %v", kind, c.made, c.deleted, want)
		}
	}
}

func TestPatternsMeanWords(t *testing.T) {
	k := KeyTopics{Routing: system.Routing{Topic: system.Topic{Name: "i+t"},
		Kind: system.RoutePattern}}
	pattern := regexp.MustCompile("^" + k.Pattern("order.*.eu") + "$")
	for name, want := range map[string]bool{
		"i+t.order.new.eu": true, "i+t.order.new.us": false, "i+t.order.a.b.eu": false,
		"iit.order.new.eu": false,
	} {
		if pattern.MatchString(name) != want {
			t.Errorf("%s matches %s: %t", pattern, name, !want)
		}
	}
}

// bounded accepts a number of messages, and can be made to fail with another error.
type bounded struct{ room, breaks int }

var errFull, errBroken = errors.New("full"), errors.New("broken")

func (b *bounded) Post(context.Context, system.Envelope) error {
	b.breaks--
	if b.breaks == 0 {
		return errBroken
	}
	if b.room == 0 {
		return errFull
	}
	b.room--
	return nil
}

func (*bounded) Close(context.Context) error { return nil }

func TestOverfillCountsRefusals(t *testing.T) {
	refusal := func(err error) string {
		if errors.Is(err, errFull) {
			return "it is full"
		}
		return ""
	}
	p := system.BackPressure{Limit: "3"}
	if err := Overfill(t.Context(), &bounded{room: 3}, 10, &p, refusal); err != nil {
		t.Fatal(err)
	}
	if want := (system.BackPressure{Limit: "3", Accepted: 3, Refused: 7,
		Refusal: "it is full"}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	if err := Overfill(t.Context(), &bounded{room: 3, breaks: 5}, 10, &p, refusal); !errors.Is(err,
		errBroken) {
		t.Errorf("an error that is no refusal is %v", err)
	}
}

// A reason is evidence that the system lacks a capability. Without a reason the driver is
// incomplete.
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
