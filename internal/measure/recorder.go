package measure

import (
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Phase tells messages due before the measured window from those due in it.
type Phase uint8

// The phases of a message.
const (
	Warmup   Phase = 0
	Measured Phase = 1
	phases         = 2
)

// Cell is one series in one phase.
type Cell struct {
	Histogram *hdr.Histogram // only to be read: an empty one is of all empty cells
	Clamped   int64
	Negative  int64
}

// Cells holds the cells of some series in both phases. Histograms that were handed over are added
// up in them, and read from them.
type Cells struct {
	series []result.Series
	cells  [][phases]Cell
}

// empty is the histogram of every cell that has never held a latency.
var empty = result.NewHistogram()

// NewCells returns empty cells for the series. A cell takes memory when it holds something.
func NewCells(series ...result.Series) *Cells {
	c := &Cells{series: series, cells: make([][phases]Cell, len(series))}
	for i := range c.cells {
		for p := range c.cells[i] {
			c.cells[i][p].Histogram = empty
		}
	}
	return c
}

// Of returns the cell of a series in a phase, nil when it holds no such one.
func (c *Cells) Of(s result.Series, p Phase) *Cell {
	for i, name := range c.series {
		if name == s {
			return &c.cells[i][p]
		}
	}
	return nil
}

// Add adds histograms to the cells of the same series and phase.
func (c *Cells) Add(all []Histogram) {
	for _, h := range all {
		into := c.Of(h.Series, h.Phase)
		if into == nil {
			continue
		}
		if into.Histogram == empty {
			into.Histogram = result.NewHistogram()
		}
		h.Packed.each(func(ns, count int64) {
			// A bucket of result.NewHistogram, so there is no error to look at.
			_ = into.Histogram.RecordValues(ns, count)
		})
		into.Clamped += h.Clamped
		into.Negative += h.Negative
	}
}

// Reset empties the cells.
func (c *Cells) Reset() {
	for i := range c.cells {
		for p := range c.cells[i] {
			cell := &c.cells[i][p]
			if cell.Histogram.TotalCount() > 0 {
				cell.Histogram.Reset()
			}
			cell.Clamped, cell.Negative = 0, 0
		}
	}
}

// recorderRoom is how many latencies a recorder keeps before it hands them to
// its store: few enough that ten thousand recorders are small, and so many that
// the store's lock is seldom taken.
const recorderRoom = 32

// Recorder records latencies of some series. Its owner must hold its lock while recording. It keeps
// the last few itself; the rest are in its store, which other recorders may share.
type Recorder struct {
	sync.Mutex
	store *Store
	kept  int
	last  [recorderRoom]latency
}

// latency is a latency that is not in its histogram yet.
type latency struct {
	ns     int64
	series uint8
	phase  Phase
}

// Store is the latencies of one recorder or of several. The collector takes its histograms and puts
// empty ones in their place.
type Store struct {
	mu   sync.Mutex
	live *Live
}

// Live is the latencies of some series in both phases, while they are recorded.
type Live struct {
	series []result.Series
	cells  [][phases]buckets
}

// NewLive returns what holds latencies of the series, and none yet.
func NewLive(series ...result.Series) *Live {
	l := &Live{series: series, cells: make([][phases]buckets, len(series))}
	for i := range l.cells {
		// The measured window is not to wait for memory.
		l.cells[i][Measured].counts = make([]int64, bucketPlaces)
	}
	return l
}

// NewStore returns a store of the series. Recorders name them by their place in
// this list.
func NewStore(series ...result.Series) *Store { return &Store{live: NewLive(series...)} }

// Recorder returns a recorder whose latencies go to the store.
func (s *Store) Recorder() *Recorder { return &Recorder{store: s} }

// NewRecorder returns a recorder with a store of its own.
func NewRecorder(series ...result.Series) *Recorder { return NewStore(series...).Recorder() }

// Add records one latency of the series at that place. The caller holds the
// lock.
func (r *Recorder) Add(series int, p Phase, ns int64) {
	if r.kept == recorderRoom {
		r.hand()
	}
	r.last[r.kept] = latency{ns: ns, series: uint8(series), phase: p}
	r.kept++
}

// hand moves what is kept to the store. The caller holds the lock.
func (r *Recorder) hand() {
	r.store.mu.Lock()
	for _, l := range r.last[:r.kept] {
		r.store.live.cells[l.series][l.phase].count(l.ns)
	}
	r.store.mu.Unlock()
	r.kept = 0
}

// Hand moves what the recorder keeps to its store.
func (r *Recorder) Hand() {
	r.Lock()
	defer r.Unlock()
	if r.kept > 0 {
		r.hand()
	}
}

// Collect returns what was recorded since the last Collect, as Store.Collect does.
func (r *Recorder) Collect(spare *Live) ([]Histogram, *Live) {
	r.Hand()
	return r.store.Collect(spare)
}

// Collect returns what the store holds, series without a latency left out, and empties
// it. It uses spare, which must be empty and of the same series, in the place of what the
// store had, and returns the latter as the next spare.
func (s *Store) Collect(spare *Live) ([]Histogram, *Live) {
	s.mu.Lock()
	full := s.live
	s.live = spare
	s.mu.Unlock()
	var all []Histogram
	for i, name := range full.series {
		for p := range full.cells[i] {
			if b := &full.cells[i][p]; b.from < b.to {
				h := Histogram{Series: name, Phase: Phase(p)}
				b.take(&h)
				all = append(all, h)
			}
		}
	}
	return all, full
}
