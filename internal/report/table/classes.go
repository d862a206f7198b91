package table

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

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
			lost = quantity.Count(c.Lost)
		}
		t.Add(c.Name, append(values, quantity.Bytes(c.MessageBytes), phrase.Rate(c.AckedRate),
			latency.At(c.Publish, 50), latency.At(c.Publish, 99), latency.At(c.EndToEnd, 50),
			latency.At(c.EndToEnd, 99), quantity.Count(c.Acked), lost)...)
	}
	return t
}
