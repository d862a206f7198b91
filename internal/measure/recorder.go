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
	Histogram *hdr.Histogram
	Clamped   int64
	Negative  int64
}

func (c *Cell) add(ns int64) {
	if ns < 0 {
		c.Negative++
		ns = 0
	}
	if ns > result.HistogramMaxNs {
		c.Clamped++
		ns = result.HistogramMaxNs
	}
	// In range by now, so there is no error to look at.
	_ = c.Histogram.RecordValue(ns)
}

// merge adds the other cell to this one.
func (c *Cell) merge(other *Cell) {
	if other.Histogram.TotalCount() == 0 {
		return
	}
	c.Histogram.Merge(other.Histogram)
	c.Clamped += other.Clamped
	c.Negative += other.Negative
}

func (c *Cell) reset() {
	if c.Histogram.TotalCount() > 0 {
		c.Histogram.Reset()
	}
	c.Clamped, c.Negative = 0, 0
}

// Cells holds the cells of some series in both phases.
type Cells struct {
	series []result.Series
	cells  [][phases]Cell
}

// NewCells returns empty cells for the series.
func NewCells(series ...result.Series) *Cells {
	c := &Cells{series: series, cells: make([][phases]Cell, len(series))}
	for i := range c.cells {
		for p := range c.cells[i] {
			c.cells[i][p].Histogram = result.NewHistogram()
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

// Merge adds what the other cells hold to the cells of the same series.
func (c *Cells) Merge(other *Cells) {
	for i, name := range other.series {
		for p := range other.cells[i] {
			if into := c.Of(name, Phase(p)); into != nil {
				into.merge(&other.cells[i][p])
			}
		}
	}
}

// Reset empties the cells.
func (c *Cells) Reset() {
	for i := range c.cells {
		for p := range c.cells[i] {
			c.cells[i][p].reset()
		}
	}
}

// recorderRoom is how many latencies a recorder keeps before it hands them to
// its store: few enough that ten thousand recorders are small, and so many that
// the store's lock is seldom taken.
const recorderRoom = 32

// Recorder records latencies of some series. Its owner locks it around what it
// records. It keeps the last few itself; the rest are in its store, which other
// recorders may share.
type Recorder struct {
	sync.Mutex
	store *Store
	kept  int
	last  [recorderRoom]latency
}

// latency is one that is not in its histogram yet.
type latency struct {
	ns     int64
	series uint8
	phase  Phase
}

// Store is the histograms of one recorder or of several. The collector swaps its
// cells for empty ones.
type Store struct {
	mu   sync.Mutex
	live *Cells
}

// NewStore returns a store of the series. Recorders name them by their place in
// this list.
func NewStore(series ...result.Series) *Store { return &Store{live: NewCells(series...)} }

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
		r.store.live.cells[l.series][l.phase].add(l.ns)
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

// Collect moves what was recorded since the last Collect into cells, as
// Store.Collect does.
func (r *Recorder) Collect(into, spare *Cells) *Cells {
	r.Hand()
	return r.store.Collect(into, spare)
}

// Collect moves what the store holds into cells, using spare, which must be
// empty and of the same series, as the store's next cells. It returns the cells
// to use as the next spare.
func (s *Store) Collect(into, spare *Cells) *Cells {
	s.mu.Lock()
	full := s.live
	s.live = spare
	s.mu.Unlock()
	into.Merge(full)
	full.Reset()
	return full
}
