package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

// YAML prints a valid workload with every default spelled out, so that Parse
// reads back the same value.
func (w *Workload) YAML() string {
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	count := func(key string, n int) { line(key, strconv.Itoa(n)) }

	line("name", strict.Quote(w.Name))
	line("description", strict.Quote(w.Description))
	count("topics", w.Topics)
	count("partitions", w.Partitions)
	count("producers", w.Producers)
	count("subscriptions", w.Subscriptions)
	count("consumers", w.Consumers)
	line("message", fmt.Sprintf("{size: %s, incompressible: %s}",
		quantity.ExactBytes(w.Message.Size), quantity.ExactShare(w.Message.Incompressible)))
	line("keys", w.Keys.yaml())
	if w.Keys.Kind == KeysNone {
		line("spread", string(w.Spread))
	}
	b.WriteString(w.Load.yaml())
	line("warmup", w.warmup())
	if w.Backlog == nil {
		line("duration", quantity.ExactDuration(w.Duration))
	}
	line("drain", quantity.ExactDuration(w.Drain))
	line("delivery", string(w.Delivery))
	count("durability", int(w.Durability))
	if w.Load.Closed == nil {
		count("max_in_flight", w.MaxInFlight)
	}
	line("seed", strconv.FormatUint(w.Seed, 10))
	line("isolate", fmt.Sprintf("{drop_page_cache: %t}", w.Isolate.DropPageCache))
	if w.Audit {
		line("audit", "true")
	}
	if w.Backlog != nil {
		line("backlog", w.Backlog.String())
	}
	b.WriteString(faultsYAML(w.Faults))
	return b.String()
}

func (w *Workload) warmup() string {
	switch {
	case !w.Settle:
		return quantity.ExactDuration(w.Warmup)
	case w.Warmup == DefaultSettle:
		return "auto"
	}
	return "auto " + quantity.ExactDuration(w.Warmup)
}

func (k Keys) yaml() string {
	switch k.Kind {
	case KeysNone:
		return string(k.Kind)
	case KeysZipf:
		return fmt.Sprintf("{kind: %s, count: %d, exponent: %s}", k.Kind, k.Count, strconv.FormatFloat(k.Exponent, 'g', -1, 64))
	}
	return fmt.Sprintf("{kind: %s, count: %d}", k.Kind, k.Count)
}

// yaml prints a closed loop, or the curve in the simplest of its three forms.
func (l Load) yaml() string {
	if l.Closed != nil {
		return fmt.Sprintf("load:\n  closed: {in_flight: %d, batch: %s}\n", l.Closed.InFlight, l.Closed.Batch)
	}
	head := "load:\n  arrivals: " + string(l.Arrivals) + "\n"
	if len(l.Segments) == 1 {
		only := l.Segments[0]
		if only.From == only.To {
			return head + "  rate: " + quantity.ExactRate(only.From) + "\n"
		}
		return head + fmt.Sprintf("  ramp: {from: %s, to: %s}\n", quantity.ExactRate(only.From), quantity.ExactRate(only.To))
	}
	var b strings.Builder
	b.WriteString(head + "  steps:\n")
	for _, s := range l.Segments {
		rate := "rate: " + quantity.ExactRate(s.From)
		if s.From != s.To {
			rate = fmt.Sprintf("from: %s, to: %s", quantity.ExactRate(s.From), quantity.ExactRate(s.To))
		}
		fmt.Fprintf(&b, "    - {%s, for: %s}\n", rate, quantity.ExactDuration(s.For))
	}
	return b.String()
}

// SetRate replaces the rate curve by one constant rate, in messages per second
// over all producers together, for the whole measured window. A closed loop
// cannot have one: the workload is not valid then.
func (w *Workload) SetRate(perSecond float64) {
	w.Load.Segments = []Segment{{From: perSecond, To: perSecond, For: w.Duration}}
	if w.Backlog != nil {
		w.fitBacklog()
	}
}

// SetDuration changes the measured window. A constant rate or a ramp fills the
// new window, and so does a closed loop. Steps have lengths of their own: the error says to change those
// instead, and the workload stays as it was.
func (w *Workload) SetDuration(d time.Duration) error {
	if w.Backlog != nil {
		return fmt.Errorf("the window of workload %q lasts until its backlog has been read: change backlog in its file, or take it out", w.Name)
	}
	if w.Load.Closed != nil && len(w.Load.Segments) == 0 {
		w.Duration = d
		return nil
	}
	if len(w.Load.Segments) != 1 {
		return fmt.Errorf("the duration of workload %q is the sum of its %d steps: change load.steps in its file, or give one constant rate",
			w.Name, len(w.Load.Segments))
	}
	w.Duration = d
	w.Load.Segments = slices.Clone(w.Load.Segments)
	w.Load.Segments[0].For = d
	return nil
}
