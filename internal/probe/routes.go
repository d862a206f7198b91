package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
)

// routes has the case of each kind: the receivers, the posted messages, and the messages that
// each receiver must get.
type route struct {
	bindings []system.Binding
	posts    []system.Envelope
	wanted   []string // by binding, the payloads with spaces between
}

func letterTo(payload, key string, headers map[string]string) system.Envelope {
	return system.Envelope{Payload: []byte(payload), Key: key, Headers: headers}
}

func (t *attempt) routeDirect(p system.Prober) (Finding, error) {
	return t.routed(p, system.RouteDirect, route{
		bindings: []system.Binding{{Key: "red"}, {Key: "green"}},
		posts: []system.Envelope{letterTo("a", "red", nil), letterTo("b", "green", nil),
			letterTo("c", "red", nil)},
		wanted: []string{"a c", "b"},
	})
}

func (t *attempt) routePattern(p system.Prober) (Finding, error) {
	return t.routed(p, system.RoutePattern, route{
		bindings: []system.Binding{{Key: "order.*.eu"}, {Key: "order.new.*"}},
		posts: []system.Envelope{letterTo("a", "order.new.eu", nil),
			letterTo("b", "order.old.eu", nil), letterTo("c", "order.new.us", nil), letterTo("d",
				"order.old.us", nil)},
		wanted: []string{"a b", "a c"},
	})
}

func (t *attempt) routeFanout(p system.Prober) (Finding, error) {
	return t.routed(p, system.RouteFanout, route{
		bindings: []system.Binding{{Key: "red"}, {Key: "green"}},
		posts:    []system.Envelope{letterTo("a", "red", nil), letterTo("b", "green", nil)},
		wanted:   []string{"a b", "a b"},
	})
}

func (t *attempt) routeHeaders(p system.Prober) (Finding, error) {
	red, green := map[string]string{"colour": "red"}, map[string]string{"colour": "green"}
	return t.routed(p, system.RouteHeaders, route{
		bindings: []system.Binding{{Headers: red}, {Headers: green}},
		posts: []system.Envelope{letterTo("a", "", red), letterTo("b", "", green),
			letterTo("c", "", red)},
		wanted: []string{"a c", "b"},
	})
}

func (t *attempt) routed(p system.Prober, kind system.RouteKind, r route) (Finding, error) {
	got := make([]*inbox, len(r.bindings))
	for i := range r.bindings {
		got[i] = newInbox()
		r.bindings[i].Receive = got[i].add
	}
	poster, condition, err := p.OpenRoutes(t.ctx, system.Routing{
		Topic: system.Topic{Name: t.name(), Partitions: 1}, Kind: kind, Bindings: r.bindings,
	})
	if err != nil {
		return Finding{}, err
	}
	t.later(poster.Close)
	for _, l := range r.posts {
		if err := poster.Post(t.ctx, l); err != nil {
			return Finding{}, fmt.Errorf("publish with key %q: %w", l.Key, err)
		}
	}
	right := true
	var evidence []string
	for i, b := range got {
		wanted := strings.Fields(r.wanted[i])
		if err := b.awaitAll(t.ctx, arrival/3, wanted); err != nil {
			return Finding{}, err
		}
		all := b.contents()
		slices.Sort(all)
		right = right && slices.Equal(all, wanted)
		evidence = append(evidence, fmt.Sprintf("bound by %s: received %s, wanted %s",
			boundBy(r.bindings[i]), listed(all), r.wanted[i]))
	}
	evidence = append([]string{"published " + posted(r.posts)}, evidence...)
	return seenWhen(condition, right, evidence...), nil
}

func boundBy(b system.Binding) string {
	if b.Headers != nil {
		return "colour: " + b.Headers["colour"]
	}
	return b.Key
}

func posted(all []system.Envelope) string {
	var words []string
	for _, l := range all {
		words = append(words, fmt.Sprintf("%s (%s)", l.Payload,
			boundBy(system.Binding{Key: l.Key, Headers: l.Headers})))
	}
	return strings.Join(words, ", ")
}
