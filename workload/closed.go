package workload

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// String returns the batch as a file has it: 10, or 1..10.
func (b Batch) String() string {
	if b.Least == b.Most {
		return strconv.Itoa(b.Least)
	}
	return fmt.Sprintf("%d..%d", b.Least, b.Most)
}

// UnmarshalText reads a number of messages, 10, or a range of them, 1..10.
func (b *Batch) UnmarshalText(text []byte) error {
	from, to, isRange := strings.Cut(string(text), "..")
	if !isRange {
		to = from
	}
	least, err := quantity.ParseCount(from)
	if err != nil {
		return fmt.Errorf("%q is not a number of messages: write 10, or 1..10",
			strict.Shorten(string(text)))
	}
	most, err := quantity.ParseCount(to)
	if err != nil {
		return fmt.Errorf("%q is not a number of messages: write 10, or 1..10",
			strict.Shorten(string(text)))
	}
	*b = Batch{int(least), int(most)}
	return nil
}

// messages returns the number of messages that a producer may have in flight. checkClosed
// rejects wrong bounds.
func (c *Closed) messages() int {
	return max(c.InFlight, 0) * max(c.Batch.Most, 0)
}

// besideClosed are the keys that have no meaning in a closed loop, and the reasons.
var besideClosed = []struct{ path, why string }{
	{"load.rate",
		"cannot be combined with closed: in a closed loop the system's answers set the rate, " +
			"keep one of the two"},
	{"load.steps",
		"cannot be combined with closed: in a closed loop the system's answers set the rate, " +
			"keep one of the two"},
	{"load.ramp",
		"cannot be combined with closed: in a closed loop the system's answers set the rate, " +
			"keep one of the two"},
	{"load.arrivals",
		"cannot be combined with closed: a closed loop has no schedule of arrivals, remove it"},
	{"load.burst",
		"cannot be combined with closed: batch is the number of messages of a send, remove it"},
	{"max_in_flight",
		"cannot be combined with load.closed: it is in_flight times the largest batch, remove it"},
}

// checkClosedSpelling checks which keys go together in a file that asks for a
// closed loop.
func (f *file) checkClosedSpelling(doc *strict.Document) {
	for _, other := range besideClosed {
		if doc.Has(other.path) {
			doc.Reject(other.path, other.why)
		}
	}
}

// checkClosed checks the rules of a closed loop.
func (w *Workload) checkClosed(doc *strict.Document) {
	if len(w.Load.Segments) > 0 {
		doc.Reject(besideClosed[0].path, besideClosed[0].why)
	}
	if w.Load.Arrivals != "" {
		doc.Reject("load.arrivals", besideClosed[3].why)
	}
	c := w.Load.Closed
	between(doc, "load.closed.in_flight", c.InFlight, 1, MaxSends)
	switch b := c.Batch; {
	case b.Least < 1 || b.Most > MaxBatch:
		doc.Reject("load.closed.batch",
			fmt.Sprintf("must be from 1 to %s messages, not %s", quantity.Count(MaxBatch), b))
	case b.Least > b.Most:
		doc.Reject("load.closed.batch",
			fmt.Sprintf("goes from %d down to %d: write %d..%d", b.Least, b.Most, b.Most, b.Least))
	}
}

// checkClosedInFlight checks the messages that a closed loop has in flight.
func (w *Workload) checkClosedInFlight(doc *strict.Document) {
	c := w.Load.Closed
	if doc.Failed("load.closed") {
		return
	}
	if most := c.messages(); most > MaxInFlightLimit {
		doc.Reject("load.closed.in_flight", fmt.Sprintf(
			"is %s: with the largest batch that is %s messages of each producer under way, keep "+
				"it to %s or less",
			quantity.Count(int64(c.InFlight)), quantity.Count(int64(most)), quantity.Count(
				MaxInFlightLimit)))
	} else if w.MaxInFlight != most {
		doc.Reject("max_in_flight", fmt.Sprintf(
			"is %s and the closed loop has %s messages under way: make them equal", quantity.Count(
				int64(w.MaxInFlight)), quantity.Count(int64(most))))
	}
	if bytes := w.BytesInFlight(); w.tooManyInFlight() {
		doc.Reject("load.closed", fmt.Sprintf(
			"has %s under way at once, all producers together: keep in_flight x batch x "+
				"message.size x producers to %s or less",
			quantity.Bytes(int64(min(bytes, 1<<62))), quantity.Bytes(MaxInFlightBytes)))
	}
}
