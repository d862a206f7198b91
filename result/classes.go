package result

// Class is what became of one class of messages. Counts are of the whole load, the warm-up too.
type Class struct {
	Name         string `json:"name"`
	Producers    int    `json:"producers_per_topic"`
	MessageBytes int64  `json:"message_size_bytes"` // mean
	// AckedRate is that of messages due in the measured window.
	AckedRate float64 `json:"acked_rate_msgs_per_s"`
	Acked     int64   `json:"acked"`            // messages, however many subscriptions there are
	Lost      int64   `json:"lost"`             // at all subscriptions together, as is Unread
	Unread    int64   `json:"unread,omitempty"` // not arrived, and not shown to be lost
	// Publish and EndToEnd are of the measured window.
	Publish  Latency `json:"publish"`
	EndToEnd Latency `json:"end_to_end"`
}

// TopicKind is the topics of one class of messages.
type TopicKind struct {
	Class      string `json:"class"`
	Topics     int    `json:"topics"`
	Partitions int    `json:"partitions_per_topic"`
}

// AllPartitions returns the number of partitions of all topics together.
func (l *Load) AllPartitions() (n int) {
	for _, k := range l.TopicKinds {
		n += k.Topics * k.Partitions
	}
	if len(l.TopicKinds) == 0 {
		n = l.Topics * l.Partitions
	}
	return n
}

// LeastPartitions returns the number of partitions of the topics that have fewest.
func (l *Load) LeastPartitions() int {
	least := l.Partitions
	for _, k := range l.TopicKinds {
		least = min(least, k.Partitions)
	}
	return least
}

// Class returns what became of a class; its zero value: the run has no such class.
func (r *Run) Class(name string) Class {
	for _, c := range r.Classes {
		if c.Name == name {
			return c
		}
	}
	return Class{}
}

// Latency returns the latencies of a series in the measured window: of all messages, or of a class
// (OfClass).
func (r *Run) Latency(series Series) Latency {
	for _, c := range r.Classes {
		switch series {
		case OfClass(Publish, c.Name):
			return c.Publish
		case OfClass(EndToEnd, c.Name):
			return c.EndToEnd
		}
	}
	return r.Summary.Series(series)
}
