package workload

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Handling is what a consumer does with a message between its arrival and its acknowledgement.
type Handling struct {
	Time HandlingTime
	// Fails is the share of the messages that a consumer gives back instead of acknowledging
	// them, so that they are delivered again. A message may fail more than once.
	Fails float64
}

// HandlingTime is how long a consumer handles one message, before it takes the next. The zero
// value takes no time.
type HandlingTime struct {
	Mean  time.Duration // of an exponential distribution; 0: Parts say
	Parts []TimePart
}

// TimePart is a share of the messages that take the same time.
type TimePart struct {
	Share float64
	Time  time.Duration
}

const (
	maxTimeParts = 64
	// MaxHandling bounds the time of one message: a consumer is closed between two.
	MaxHandling = 10 * time.Second
	// mostFails is the greatest share of messages that fail.
	mostFails = 0.5

	timesLike = "90% 1ms + 10% 50ms"
)

// None reports whether consumers acknowledge each message at once.
func (h Handling) None() bool { return h.Time.mean() == 0 && h.Fails == 0 }

// String returns the time as a file has it: 5ms, exponential 5ms or 90% 1ms + 10% 50ms; empty:
// none.
func (t HandlingTime) String() string {
	if t.Mean > 0 {
		return "exponential " + quantity.ExactDuration(t.Mean)
	}
	parts := make([]string, len(t.Parts))
	for i, p := range t.Parts {
		parts[i] = quantity.ExactDuration(p.Time)
		if len(t.Parts) > 1 || p.Share != 1 {
			parts[i] = quantity.ExactShare(p.Share) + " " + parts[i]
		}
	}
	return strings.Join(parts, " + ")
}

// handlingTime is handling.time as a file has it.
type handlingTime struct{ *HandlingTime }

// UnmarshalText reads what String returns.
func (t *handlingTime) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if mean, is := strings.CutPrefix(s, "exponential "); is {
		d, err := quantity.ParseDuration(strings.TrimSpace(mean))
		*t.HandlingTime = HandlingTime{Mean: d}
		return err
	}
	parts, err := readShares(s, timesLike, maxTimeParts)
	if err != nil {
		return err
	}
	*t.HandlingTime = HandlingTime{}
	for _, one := range parts {
		d, err := quantity.ParseDuration(one.of)
		if err != nil {
			return err
		}
		t.Parts = append(t.Parts, TimePart{one.share, d})
	}
	return nil
}

// mean is the mean time of a message.
func (t HandlingTime) mean() time.Duration {
	sum := float64(t.Mean)
	for _, p := range t.Parts {
		sum += p.Share * float64(p.Time)
	}
	return time.Duration(sum)
}

// At returns the time that belongs to a random number. It is at most MaxHandling.
func (t HandlingTime) At(random uint64) time.Duration {
	uniform := (float64(random>>11) + 0.5) / (1 << 53)
	if t.Mean > 0 {
		return min(time.Duration(-float64(t.Mean)*math.Log(uniform)), MaxHandling)
	}
	for _, p := range t.Parts {
		if uniform -= p.Share; uniform < 0 {
			return p.Time
		}
	}
	return 0
}

// checkHandling refuses impossible handling, and a load that the consumers cannot handle: messages
// left for lack of consumers' time would count against the system.
func (w *Workload) checkHandling(doc *strict.Document) {
	h := w.Handling
	if t := h.Time; t.Parts != nil {
		var shares []float64
		for _, p := range t.Parts {
			shares = append(shares, p.Share)
			checkHandlingTime(doc, p.Time)
		}
		checkShares(doc, "handling.time", shares)
		if t.mean() == 0 {
			doc.Reject("handling.time", "takes no time: remove it")
		}
	}
	checkHandlingTime(doc, h.Time.Mean)
	if !(h.Fails >= 0 && h.Fails <= mostFails) {
		doc.Reject("handling.fails", fmt.Sprintf("must be from 0%% to %g%%, not %v",
			mostFails*100, h.Fails))
		return
	}
	if h.Fails > 0 && w.Delivery != AtLeastOnce {
		doc.Reject("handling.fails", "is for delivery: at_least_once, where a consumer "+
			"acknowledges a message after it has handled it: remove it, or write that")
	}
	if mean := h.Time.mean(); mean > 0 && w.Load.Closed == nil {
		w.checkHandlingRate(doc, mean)
	}
	if !h.None() && (w.Load.Closed != nil || w.Backlog != nil) {
		doc.Reject("handling", "is for loads with a rate and without a backlog: remove it, or "+
			"load.closed, or backlog")
	}
}

func checkHandlingTime(doc *strict.Document, d time.Duration) {
	if d < 0 || d > MaxHandling {
		doc.Reject("handling.time", fmt.Sprintf("must be from 0 to %s, not %s",
			quantity.ExactDuration(MaxHandling), quantity.ExactDuration(d)))
	}
}

// checkHandlingRate compares the mean rate of the load with the rate that a subscription's
// consumers handle.
func (w *Workload) checkHandlingRate(doc *strict.Document, mean time.Duration) {
	for k := range w.TopicKinds() {
		able := float64(k.Topics) * float64(w.Consumers) * (1 - w.Handling.Fails) / mean.Seconds()
		offered := float64(w.OfferedMessages()) * k.Share / w.Duration.Seconds()
		if offered <= able {
			continue
		}
		whose := ""
		if k.Class >= 0 {
			whose = " of " + w.Classes[k.Class].Name
		}
		doc.Reject("handling.time", fmt.Sprintf("lets the consumers of a subscription%s handle "+
			"%s, and the load is %s: lower the rate, or add consumers", whose, quantity.Rate(able),
			quantity.Rate(offered)))
	}
}
