package load

import (
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// maxStores bounds the histograms of one kind of client. Up to this number each client has its
// own, beyond it clients share.
const maxStores = 16

// stores are the histograms of all clients of one kind.
type stores struct {
	all   []*measure.Store
	spare *measure.Live
}

// newStores returns the stores of a number of clients.
func newStores(clients int, series ...result.Series) stores {
	s := stores{
		all: make([]*measure.Store, min(clients, maxStores)), spare: measure.NewLive(series...),
	}
	for i := range s.all {
		s.all[i] = measure.NewStore(series...)
	}
	return s
}

// recorder returns a recorder for the i-th client.
func (s *stores) recorder(i int) *measure.Recorder { return s.all[i%len(s.all)].Recorder() }

func (s *stores) collect(aside *clock.Aside) []measure.Histogram {
	held := make([][]measure.Histogram, len(s.all))
	for i, one := range s.all {
		held[i], s.spare = one.Collect(s.spare)
		aside.Step()
	}
	return measure.MergeHistograms(held...)
}

// Histograms returns the largest number of histograms of an engine for the workload.
func Histograms(w *workload.Workload) int {
	producers := min(w.Topics*w.Producers, maxStores)
	consumers := min(w.Topics*w.AllSubscriptions()*w.Consumers, maxStores)
	const phases = 2
	ofTwin := len(twinSeries[0]) + len(twinSeries[1])
	return phases * (producers*(len(producerSeries(w))+len(pacerSeries)) +
		consumers*len(consumerSeries(w)) + ofTwin)
}

// Collect returns all latencies recorded since the last Collect. It takes its time.
func (e *Engine) Collect() (all []measure.Histogram) {
	var aside clock.Aside
	for _, p := range e.producers {
		p.Hand()
	}
	for _, p := range e.pacers {
		p.Hand()
	}
	for _, c := range e.consumers {
		c.Hand()
	}
	aside.Step()
	all = append(e.producing.collect(&aside), e.pacings.collect(&aside)...)
	all = append(all, e.consuming.collect(&aside)...)
	if e.twin != nil {
		all = append(all, e.twin.collect(&aside)...)
	}
	return all
}
