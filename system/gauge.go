package system

import "context"

// GaugeReader is a Cluster whose servers have figures that explain a run, such as the dead rows of
// a table.
type GaugeReader interface {
	// ReadGauges returns the figures of the topics, each time in the same order. It is
	// called about once a second, by one goroutine, with a context that bounds it. It must
	// cost the servers little. A figure that is not known is left out.
	ReadGauges(ctx context.Context, topics []Topic) ([]Gauge, error)
}

// Gauge is a figure of a system's servers.
type Gauge struct {
	Name  string // in the system's words
	Unit  string // bytes, s, or empty for a count
	Value float64
	// Counter says that the figure counts events since a start, so its growth is no leak.
	Counter bool
}
