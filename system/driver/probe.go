package driver

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
)

// KeyTopics are topics in place of keys, for a system whose consumers choose messages by
// their topic alone. It is used by one goroutine at a time.
type KeyTopics struct {
	Cluster interface {
		CreateTopic(ctx context.Context, t system.Topic) error
		DeleteTopic(ctx context.Context, t system.Topic) error
	}
	Routing system.Routing
	made    []system.Topic
}

// Condition says what takes the place of the kind of routing. Headers have nothing.
func (k *KeyTopics) Condition() string {
	return map[system.RouteKind]string{
		system.RouteDirect: "a topic for each key",
		system.RoutePattern: "a topic for each key, and consumers that subscribe by regular " +
			"expression",
	}[k.Routing.Kind]
}

// Of is the name of the topic that messages of a key go to: a fanout has one for all.
func (k *KeyTopics) Of(key string) string {
	if k.Routing.Kind == system.RouteFanout {
		return k.Routing.Topic.Name
	}
	return k.Routing.Topic.Name + "." + key
}

// Ensure makes the key's topic where it is not there, and returns its name.
func (k *KeyTopics) Ensure(ctx context.Context, key string) (name string, err error) {
	t := system.Topic{Name: k.Of(key), Partitions: 1}
	if slices.Contains(k.made, t) {
		return t.Name, nil
	}
	if err := k.Cluster.CreateTopic(ctx, t); err != nil {
		return "", err
	}
	k.made = append(k.made, t)
	return t.Name, nil
}

// Pattern is a regular expression of the names of the topics that a binding's pattern of
// words means.
func (k *KeyTopics) Pattern(words string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(k.Of(words)), `\*`, `[^.]+`)
}

// Delete deletes the topics that were made.
func (k *KeyTopics) Delete(ctx context.Context) error {
	var errs []error
	for _, t := range k.made {
		errs = append(errs, k.Cluster.DeleteTopic(ctx, t))
	}
	return errors.Join(errs...)
}

// Overfill posts n messages to a place that takes fewer, and counts into p what the
// servers accepted and refused. refusal returns what they said; empty: the error is no
// refusal, and ends the filling.
func Overfill(
	ctx context.Context, to system.Publisher, n int, p *system.BackPressure,
	refusal func(err error) (said string),
) error {
	for range n {
		err := to.Post(ctx, system.Envelope{Payload: []byte("more")})
		if err == nil {
			p.Accepted++
			continue
		}
		said := refusal(err)
		if said == "" {
			return err
		}
		p.Refused, p.Refusal = p.Refused+1, said
	}
	return nil
}
