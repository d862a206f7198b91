package table

import (
	"slices"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// terminalPercentiles are the percentiles that a terminal shows.
var terminalPercentiles = []float64{50, 90, 99, 99.9, 99.99}

// Percentiles is every figure of every latency series; a terminal has the most important.
func Percentiles(r *result.Run) document.Table {
	s := r.Summary
	t := document.Table{
		ID: "latency", Title: "Latency",
		Empty: "No message was measured.",
		Note: "Over the measured window, from one histogram of all messages: percentiles are " +
			"never averaged. A percentile is left out (–) when fewer than ten messages lie " +
			"beyond it.",
		Head: percentileHead(),
	}
	if words := fact.ArrivalWords(r.Load); words != "" {
		t.Title += " (" + words + ")"
	}
	odd := slices.ContainsFunc(s.Latency,
		func(l result.Latency) bool { return l.Clamped > 0 || l.Negative > 0 })
	if odd {
		t.Head = append(t.Head, document.Column{Name: "clamped", For: document.OnPage},
			document.Column{Name: "negative", For: document.OnPage})
		t.Note += " Clamped values were above one hour and count as one hour; negative values, " +
			"from clocks that disagree, count as zero."
	} else {
		t.Note += " No value was out of range."
	}
	for _, sentence := range append(latency.Missing(s), fact.Clocks(s)...) {
		t.Note += " " + phrase.Upper(sentence) + "."
	}
	if latency.Marked(s) {
		t.Note += " " + latency.OwnNote + "."
	}
	for _, l := range latency.Rows(s) {
		v := []string{quantity.Count(l.Count), document.None, document.None}
		if l.Count > 0 {
			v[1], v[2] = phrase.Nanoseconds(l.MeanNs), quantity.Duration(l.MinNs)
		}
		for _, p := range result.Percentiles {
			v = append(v, latency.At(l.Latency, p))
		}
		v = append(v, latency.Greatest(l.Latency))
		if odd {
			v = append(v, quantity.Count(l.Clamped), quantity.Count(l.Negative))
		}
		t.Add(l.Title, v...)
	}
	return t
}

func percentileHead() []document.Column {
	out := document.Heads("messages", "mean", "min")
	for i := range out {
		out[i].For = document.OnPage
	}
	for _, p := range result.Percentiles {
		c := document.Column{Name: result.PercentileName(p), For: document.OnPage}
		if slices.Contains(terminalPercentiles, p) {
			c.For, c.Keep = "", map[float64]int{50: 2, 99: 2, 99.9: 1}[p]
		}
		out = append(out, c)
	}
	return append(out, document.Column{Name: "max", Keep: 2})
}

// Counters shows where each scheduled message ended.
func Counters(r *result.Run) document.Table {
	t := document.Table{
		ID: "counters", Title: "Every scheduled message",
		Note: "Each message that was due ends in exactly one of acknowledged, failed (refused by " +
			"the system), unknown (handed over, no answer) and unsent (never handed over).",
		Head: document.Heads("scheduled", "acknowledged", "failed", "unknown", "unsent",
			"received"),
	}
	if c := r.Counters; !r.Counted() {
		row := phrase.Counts(c.Scheduled, c.Acked, c.Failed, 0, 0, c.Received)
		row[3], row[4] = document.None, document.None
		t.Add("measured", row...)
		return t
	}
	for _, c := range []struct {
		name string
		c    result.Counters
	}{{"measured", r.Counters}, {"warm-up", r.Warmup}} {
		t.Add(c.name, phrase.Counts(c.c.Scheduled, c.c.Acked, c.c.Failed, c.c.Unknown, c.c.Unsent,
			c.c.Received)...)
	}
	return t
}

// Ledger is the account of each subscription.
func Ledger(r *result.Run) document.Table {
	l := r.Ledger
	t := document.Table{
		ID: "ledger", Title: "Account of each subscription",
		Note: "Over the whole run, warm-up included. Lost: acknowledged and never received. " +
			"Reordered: came after a later message of the same lane. A message that was received " +
			"without ever being acknowledged is legal.",
		Head: document.Heads("acknowledged", "received", "lost", "duplicate", "reordered",
			"unacknowledged, received", "corrupt", "foreign"),
		Empty: "The run ended before its messages were accounted for.",
	}
	if !l.Accounted {
		return t
	}
	t.Empty = "There was no subscription, so there is nothing to account for."
	for _, s := range l.Subscriptions {
		row := phrase.Counts(s.Acked, s.Received, s.Lost, s.Duplicate, s.Reordered, s.Unacked,
			s.Corrupt, s.Foreign)
		row[2] = fact.Lost(s)
		t.Add(s.Subscription, row...)
	}
	AddRare(&t, l.Subscriptions)
	if l.Total().Unread > 0 {
		t.Note += " Unread: acknowledged and not received, perhaps still to come."
	}
	if l.WatchedNs > 0 {
		t.Note += " Consumers stayed open for " + quantity.Duration(l.WatchedNs) +
			" after the last message: later arrivals were not seen."
	}
	if bound := fact.Bounds(r); bound != "" {
		t.Note += " Bounds: " + bound + "."
	}
	return t
}

// AddRare adds to a table, whose rows are accounts of subscriptions, the counts that are above 0 in
// some row.
func AddRare(t *document.Table, rows []result.SubscriptionLedger) {
	for _, more := range rareCounts {
		if !slices.ContainsFunc(rows,
			func(s result.SubscriptionLedger) bool { return more.of(s) != 0 }) {
			continue
		}
		t.Head = append(t.Head, document.Column{Name: more.name})
		for i, s := range rows {
			t.Rows[i].Values = append(t.Rows[i].Values,
				document.Cell{Words: quantity.Count(more.of(s))})
		}
	}
}

// rareCounts are the columns of an account that are left out where they are 0.
var rareCounts = []struct {
	name string
	of   func(result.SubscriptionLedger) int64
}{
	{"unread", func(s result.SubscriptionLedger) int64 { return s.Unread }},
	{"lost of the warm-up", func(s result.SubscriptionLedger) int64 { return s.LostWarmup }},
	{"overtaken at another consumer",
		func(s result.SubscriptionLedger) int64 { return s.Overtaken }},
	{"came to several workers, order not watched between them",
		func(s result.SubscriptionLedger) int64 { return s.BetweenWorkers }},
	{"reordered, or copies from another worker",
		func(s result.SubscriptionLedger) int64 { return s.ReorderedOrCopies }},
	{"given back", func(s result.SubscriptionLedger) int64 { return s.GivenBack }},
	{"delivered again", func(s result.SubscriptionLedger) int64 { return s.Redelivered }},
	{"misplaced", func(s result.SubscriptionLedger) int64 { return s.Misplaced }},
	{"refused, received", func(s result.SubscriptionLedger) int64 { return s.RefusedReceived }},
	{"transactions in part", func(s result.SubscriptionLedger) int64 {
		return s.PartialTransactions
	}},
}

// Lost has the sequence numbers of the first lost messages.
func Lost(l result.Ledger) document.Table {
	t := document.Table{ID: "lost", Title: "The first lost messages", Words: true,
		Head: document.Heads("topic", "partition", "producer", "sequence numbers")}
	for _, s := range l.Subscriptions {
		for _, r := range s.LostRanges {
			sequences := strconv.FormatInt(r.First, 10)
			if r.Last != r.First {
				sequences += " to " + strconv.FormatInt(r.Last, 10)
			}
			t.Add(s.Subscription, r.Topic, strconv.Itoa(r.Partition), strconv.Itoa(r.Producer),
				sequences)
		}
	}
	return t
}

// Errors has the errors that the system returned, with their numbers.
func Errors(errs []result.Error) document.Table {
	t := document.Table{ID: "errors", Title: "Errors that the system returned",
		Head: document.Heads("message"), Words: true}
	for _, e := range errs {
		t.Add(quantity.Count(e.Count)+" ×", e.Message)
	}
	return t
}

// Classes has what became of each class of messages.
func Classes(r *result.Run) document.Table {
	t := document.Table{ID: "classes", Title: "Classes of messages",
		Note: "Rate and latencies are of the messages that were due in the measured window. " +
			"Acknowledged and lost have the warm-up too; lost is the sum of all subscriptions.",
		Head: document.Heads("size", "rate", "publish p50", "p99",
			"end-to-end p50", "p99", "acknowledged", "lost")}
	if len(r.Load.TopicKinds) > 0 {
		t.Head = append(document.Heads("topics"), t.Head...)
	}
	for i, c := range r.Classes {
		var values []string
		if i < len(r.Load.TopicKinds) {
			values = []string{fact.TopicsOf(r.Load.TopicKinds[i])}
		}
		lost := document.None
		if r.Accounted() {
			lost = fact.Lost(result.SubscriptionLedger{Lost: c.Lost, Unread: c.Unread})
		}
		t.Add(c.Name, append(values, quantity.Bytes(c.MessageBytes), phrase.Rate(c.AckedRate),
			latency.At(c.Publish, 50), latency.At(c.Publish, 99), latency.At(c.EndToEnd, 50),
			latency.At(c.EndToEnd, 99), quantity.Count(c.Acked), lost)...)
	}
	return t
}
