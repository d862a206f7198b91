package probe

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/system"
)

// open begins to receive from a mailbox.
func (t *attempt) open(b system.Mailbox) (*inbox, error) {
	got := newInbox()
	if err := b.Open(t.ctx, got.add); err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	return got, nil
}

// mailbox opens a mailbox that is closed at the end of the attempt.
func (t *attempt) mailbox(
	p system.Prober, f system.Feature,
) (b system.Mailbox, condition string, err error) {
	b, condition, err = p.OpenMailbox(t.ctx, system.Topic{Name: t.name(), Partitions: 1}, f)
	if err == nil {
		t.later(b.Close)
	}
	return b, condition, err
}

func (t *attempt) post(p system.Publisher, envelopes ...system.Envelope) error {
	for _, l := range envelopes {
		if err := p.Post(t.ctx, l); err != nil {
			return fmt.Errorf("publish %s: %w", l.Payload, err)
		}
	}
	return nil
}

func (t *attempt) expiry(p system.Prober) (Finding, error) {
	const ttl = 2 * time.Second
	box, condition, err := t.mailbox(p, system.FeatureTTL)
	if err != nil {
		return Finding{}, err
	}
	if err := t.post(box, system.Envelope{Payload: []byte("mortal"), TTL: ttl}); err != nil {
		return Finding{}, err
	}
	if !clock.Sleep(t.ctx, 2*ttl) {
		return Finding{}, t.ctx.Err()
	}
	if err := t.post(box, system.Envelope{Payload: []byte("kept")}); err != nil {
		return Finding{}, err
	}
	got, err := t.open(box)
	if err != nil {
		return Finding{}, err
	}
	if err := got.awaitAll(t.ctx, arrival/3, []string{"kept"}); err != nil {
		return Finding{}, err
	}
	all := got.contents()
	evidence := fmt.Sprintf(
		"a message with a time to live of %s was published, and one without %s later; a consumer "+
			"that was opened then received: %s", ttl, 2*ttl, listed(all))
	switch {
	case len(missing(all, []string{"kept"})) > 0:
		return unknown("the message without a time to live did not arrive: %s", evidence), nil
	case slices.Contains(all, "mortal"):
		return notEven(condition, evidence), nil
	}
	return when(condition, evidence), nil
}

func (t *attempt) priorities(p system.Prober) (Finding, error) {
	box, condition, err := t.mailbox(p, system.FeaturePriority)
	if err != nil {
		return Finding{}, err
	}
	var envelopes []system.Envelope
	for i := range 6 {
		envelopes = append(envelopes,
			system.Envelope{Payload: fmt.Appendf(nil, "p%d", i), Priority: i})
	}
	if err := t.post(box, envelopes...); err != nil {
		return Finding{}, err
	}
	got, err := t.open(box)
	if err != nil {
		return Finding{}, err
	}
	wanted := []string{"p5", "p4", "p3", "p2", "p1", "p0"}
	if err := got.awaitAll(t.ctx, arrival/3, wanted); err != nil {
		return Finding{}, err
	}
	all := got.contents()
	evidence := fmt.Sprintf("six messages of priority 0 to 5 waited; they arrived as %s",
		listed(all))
	return judged(all, wanted, condition, evidence), nil
}

// judged returns the finding of a feature whose effect is that exactly the wanted messages arrive,
// in order.
func judged(arrived, wanted []string, condition, evidence string) Finding {
	switch {
	case len(missing(arrived, wanted)) > 0:
		return unknown("%s", evidence)
	case !slices.Equal(arrived, wanted):
		return notEven(condition, evidence)
	}
	return when(condition, evidence)
}

func (t *attempt) delay(p system.Prober) (Finding, error) {
	const later = 3 * time.Second
	box, condition, err := t.mailbox(p, system.FeatureDelay)
	if err != nil {
		return Finding{}, err
	}
	got, err := t.open(box)
	if err != nil {
		return Finding{}, err
	}
	began := time.Now()
	if err := t.post(box, system.Envelope{Payload: []byte("later"), Delay: later},
		system.Envelope{Payload: []byte("now")}); err != nil {
		return Finding{}, err
	}
	if err := got.awaitAll(t.ctx, arrival, []string{"now", "later"}); err != nil {
		return Finding{}, err
	}
	now, came := got.arrived("now")
	if !came {
		return unknown("the message without a delay did not arrive"), nil
	}
	delayed, came := got.arrived("later")
	if !came {
		return notEven(condition, fmt.Sprintf(
			"a message with a delay of %s did not arrive within %s", later, arrival)), nil
	}
	evidence := fmt.Sprintf(
		"a message with a delay of %s arrived after %s, one without, published after it, after %s",
		later, rounded(delayed.Sub(began)), rounded(now.Sub(began)))
	return seenWhen(condition, delayed.Sub(began) >= later && !delayed.Before(now), evidence), nil
}

func (t *attempt) deadLetters(p system.Prober) (Finding, error) {
	rejected, dead := newInbox(), newInbox()
	poster, condition, err := p.OpenRejecting(t.ctx, system.Topic{Name: t.name(), Partitions: 1},
		rejected.add, dead.add)
	if err != nil {
		return Finding{}, err
	}
	t.later(poster.Close)
	sent := numbers(0, 3)
	for _, one := range sent {
		if err := t.post(poster, system.Envelope{Payload: []byte(one)}); err != nil {
			return Finding{}, err
		}
	}
	if err := dead.awaitAll(t.ctx, arrival/2, sent); err != nil {
		return Finding{}, err
	}
	evidence := fmt.Sprintf(
		"%d messages; a consumer rejected %d deliveries; put aside and read there: %s", len(
			sent), len(rejected.contents()), listed(dead.contents()))
	switch {
	case len(missing(rejected.contents(), sent)) > 0:
		return unknown("not every message was delivered: %s", evidence), nil
	case len(missing(dead.contents(), sent)) > 0:
		return notEven(condition, evidence), nil
	}
	return when(condition, evidence), nil
}

func (t *attempt) flowControl(prober system.Prober) (Finding, error) {
	const held = time.Second // a shorter time may be chance
	p, condition, err := prober.PublishBeyond(t.ctx, system.Topic{Name: t.name(), Partitions: 1},
		100)
	if err != nil {
		return Finding{}, err
	}
	evidence := fmt.Sprintf("messages against a bound (%s): %d accepted, %d refused", p.Limit,
		p.Accepted, p.Refused)
	if p.Refused > 0 {
		evidence += ": " + p.Refusal
	}
	if p.Held > 0 {
		evidence += fmt.Sprintf("; the publisher was held for %s", rounded(p.Held))
	}
	if p.Accepted == 0 {
		return unknown("nothing was accepted: %s", evidence), nil
	}
	return seenWhen(condition, p.Refused > 0 || p.Held >= held, evidence), nil
}
