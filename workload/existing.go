package workload

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

const existingKey = "existing_topics"

// maxTopicName is the longest name of a topic that a system allows: 255 bytes in AMQP.
const maxTopicName = 255

func (f *file) createsTopics() bool { return f.Existing == nil }

// checkExistingSpelling refuses the keys that existing topics decide.
func (f *file) checkExistingSpelling(doc *strict.Document) {
	if !doc.Has(existingKey) {
		return
	}
	if len(f.Existing) == 0 {
		doc.Reject(existingKey, "names no topic: name one, or remove the key")
	}
	for _, key := range []string{"topics", "partitions"} {
		if doc.Has(key) {
			doc.Reject(key, "follows from the topics that "+existingKey+" names: remove it")
		}
	}
}

// checkExisting checks the names of existing topics, and refuses keys that do not work with them.
func (w *Workload) checkExisting(doc *strict.Document) {
	if w.Existing == nil {
		return
	}
	if n := len(w.Existing); n > MaxExisting {
		doc.Reject(existingKey, fmt.Sprintf("must be at most %s, not %s",
			quantity.Count(MaxExisting), quantity.Count(int64(n))))
		return
	}
	for i, name := range w.Existing {
		path := fmt.Sprintf("%s[%d]", existingKey, i)
		switch {
		case name == "":
			doc.Reject(path, "is empty: name a topic, or remove it")
		case len(name) > maxTopicName || !strict.IsText(name):
			doc.Reject(path, fmt.Sprintf("must be printable text of at most %d bytes",
				maxTopicName))
		case slices.Index(w.Existing, name) < i:
			doc.Reject(path, fmt.Sprintf("names %q again: name each topic once",
				strict.Shorten(name)))
		}
	}
	if w.Backlog != nil {
		doc.Reject("backlog", "cannot be combined with "+existingKey+
			", whose backlog belongs to others: leave one of them out")
	}
	if w.Audit {
		doc.Reject("audit", "cannot be combined with "+existingKey+
			", which keep messages by rules of others: leave one of them out")
	}
}
