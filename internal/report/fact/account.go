package fact

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// boundConfidence is the confidence of the bounds of loss and of duplicates.
const boundConfidence = 0.95

// OneIn prints a small probability so that it is never less than the true one.
func OneIn(p float64) string {
	if p > 0.1 {
		return fmt.Sprintf("%.0f in 100", math.Ceil(p*100))
	}
	n := math.Floor(1 / p)
	if digits := math.Floor(math.Log10(n)); digits > 2 {
		unit := math.Pow(10, digits-2)
		n = math.Floor(n/unit) * unit
	}
	return "1 in " + quantity.Count(int64(n))
}

// LostAtMost and TwiceAtMost are upper bounds of the probabilities of loss and of duplicates,
// if messages are independent of one another; ok is false where no message was counted, or
// the count is incomplete: messages were not read, or copies may still come.
func LostAtMost(r *result.Run) (p float64, ok bool) {
	t := r.Ledger.Total()
	p = stats.UpperBound(t.Lost, t.Acked, boundConfidence)
	return p, r.Accounted() && t.Acked > 0 && t.Unread == 0 && r.State == result.Complete
}

// TwiceAtMost is the bound of duplicates, like LostAtMost.
func TwiceAtMost(r *result.Run) (p float64, ok bool) {
	t := r.Ledger.Total()
	p = stats.UpperBound(t.Duplicate, t.Received, boundConfidence)
	whole, _ := verdict.Watched(r)
	return p, r.Accounted() && t.Received > 0 && whole
}

// Bounds gives the bounds of loss and of duplicates; empty where no message was counted.
func Bounds(r *result.Run) string {
	var parts []string
	t := r.Ledger.Total()
	if p, ok := LostAtMost(r); ok {
		parts = append(parts, fmt.Sprintf("%s of %s lost: at most %s", quantity.Count(t.Lost),
			quantity.Count(t.Acked), OneIn(p)))
	}
	if p, ok := TwiceAtMost(r); ok {
		parts = append(parts, fmt.Sprintf("%s of %s duplicate: at most %s",
			quantity.Count(t.Duplicate), quantity.Count(t.Received), OneIn(p)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + " (95%, if messages fail independently)"
}

// Unaccounted says why it is not known which messages arrived; empty: it is known.
func Unaccounted(r *result.Run) string {
	switch {
	case Imported(r):
		return "not accounted: " + r.Imported.Tool + " keeps no account of messages"
	case !r.Ledger.Accounted:
		return "not accounted: the run ended before its messages were counted"
	case r.Unread():
		return "not accounted: nothing read the messages"
	}
	return ""
}

// accountSentence counts lost, duplicate and reordered messages.
func accountSentence(l result.Ledger) string {
	t := l.Total()
	out := fmt.Sprintf("lost %s, duplicate %s, reordered %s",
		Lost(t), quantity.Count(t.Duplicate), quantity.Count(t.Reordered))
	for _, more := range []struct {
		n    int64
		name string
	}{
		{t.ReorderedOrCopies, "reordered or copies"},
		{t.BetweenWorkers, "order between workers not watched of"},
		{t.LostWarmup, "lost of the warm-up"}, {t.Unread, "unread"}, {t.Corrupt, "corrupt"},
		{t.Misplaced, "misplaced"},
		{t.RefusedReceived, "refused and received"},
		{t.PartialTransactions, "transactions received in part"}, {t.Foreign, "foreign"},
		{t.Unacked, "received without acknowledgement"},
	} {
		if more.n > 0 {
			out += fmt.Sprintf(", %s %s", more.name, quantity.Count(more.n))
		}
	}
	out += fmt.Sprintf(" (of %s acknowledged", quantity.Count(t.Acked))
	if n := len(l.Subscriptions); n > 1 {
		out += fmt.Sprintf(", over %d subscriptions", n)
	}
	return out + ")"
}

// Counters is the sum of the counters in which each scheduled message ends.
func Counters(r *result.Run) string {
	c, equals := r.Counters, "="
	n := phrase.Counts(c.Scheduled, c.Acked, c.Failed, c.Unknown, c.Unsent)
	if !r.Counted() {
		return fmt.Sprintf("%s scheduled, %s acked, %s failed; the run ended before the others "+
			"were counted", n[0], n[1], n[2])
	}
	if c.Scheduled != c.Acked+c.Failed+c.Unknown+c.Unsent {
		equals = "≠"
	}
	return fmt.Sprintf("%s scheduled %s %s acked + %s failed + %s unknown + %s unsent", n[0],
		equals, n[1], n[2], n[3], n[4])
}

// Lost is the number of lost messages. It is unknown if messages are unread and none is known to
// be lost.
func Lost(l result.SubscriptionLedger) string {
	if l.Lost == 0 && l.Unread > 0 {
		return result.Unknown
	}
	return quantity.Count(l.Lost)
}

// Account counts lost, duplicate and reordered messages, where the tool accounts for them.
func Account(r *result.Run) string {
	return cmp.Or(Unaccounted(r), accountSentence(r.Ledger))
}
